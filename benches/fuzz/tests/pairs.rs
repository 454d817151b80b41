//! Texts of two tokens of a grammar, repeated: ten times the length takes about ten times as long to read.
//!
//! Only one pair in 199 is tried, and one in 7 with `COGWORK_LONG_TESTS`. All of them take 20 minutes.

#[path = "../../../crates/text/tests/support/growth.rs"]
mod growth;

use cogwork_fuzz::readers::{READERS, Reader};
use growth::assert_grows_linearly;

/// How often a pair is repeated in the short text.
const REPEATED: usize = 100;

/// One pair in so many is tried. The number is prime, so that all tokens have a turn.
const STEP: usize = 199;

#[test]
fn ten_times_a_pair_takes_about_ten_times_as_long_to_read() {
    let step = match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 7,
        None => STEP,
    };

    for reader in &READERS {
        // What is made once, such as a schema, is not of a text.
        (reader.read)("");

        for pair in pairs(reader).step_by(step) {
            let text = |n: usize| format!("{}{}", pair.beginning, pair.tokens.repeat(n));
            let what = format!("{}: {:?}", reader.name, text(1));

            let [short, long] = [text(REPEATED), text(10 * REPEATED)];
            assert_grows_linearly(&what, &short, &long, reader.read);
        }
    }
}

struct Pair<'t> {
    beginning: &'t str,
    tokens: String,
}

fn pairs(reader: &Reader) -> impl Iterator<Item = Pair<'_>> {
    let tokens = reader.tokens();
    let pairs: Vec<String> = tokens
        .iter()
        .flat_map(|one| tokens.iter().map(move |other| format!("{one}{other}")))
        .collect();

    reader.beginnings.iter().flat_map(move |beginning| {
        let pair = |tokens| Pair { beginning, tokens };
        pairs.clone().into_iter().map(pair)
    })
}
