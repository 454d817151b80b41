//! Every target over texts made of what it could stumble over. `PROPTEST_CASES` sets how many.

use cogwork_fuzz::readers::tokens;
use proptest::prelude::*;

/// The pieces that the dictionaries give to the fuzzer.
fn pieces(dictionary: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<Vec<u8>> = tokens(dictionary)
        .into_iter()
        .map(String::into_bytes)
        .collect();

    assert!(
        pieces.len() > 20,
        "the dictionary has {} pieces",
        pieces.len()
    );

    let piece = prop_oneof![8 => prop::sample::select(pieces), 1 => "[ -~]{0,6}".prop_map(String::into_bytes), 1 => any::<Vec<u8>>()];
    (any::<[u8; 2]>(), prop::collection::vec(piece, 0..40)).prop_map(|(first, pieces)| {
        let mut data = first.to_vec();
        data.extend(pieces.concat());
        data
    })
}

const REPLY: &str = include_str!("../dictionaries/reply.dict");
const TABLE: &str = include_str!("../dictionaries/table.dict");
const TYPED: &str = include_str!("../dictionaries/typed.dict");
const FLOW: &str = include_str!("../dictionaries/flow.dict");

proptest! {
    #[test]
    fn replies(data in pieces(REPLY)) {
        cogwork_fuzz::reply(&data);
        cogwork_fuzz::damaged_reply(&data);
        cogwork_fuzz::plan(&data);
    }

    #[test]
    fn stages(data in pieces(TABLE)) {
        cogwork_fuzz::stage_replies(&data);
    }

    #[test]
    fn typed_answers(data in pieces(TYPED)) {
        cogwork_fuzz::typed_answer(&data);
    }

    #[test]
    fn tables_and_sessions(data in pieces(TABLE)) {
        cogwork_fuzz::strategy_table(&data);
        cogwork_fuzz::session_snapshot(&data);
    }

    #[test]
    fn flow_files(data in pieces(FLOW)) {
        cogwork_fuzz::flow_file(&data);
    }
}
