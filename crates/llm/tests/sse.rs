//! The decoder of server-sent events by itself: it is private and knows nothing of the crate, so it is
//! taken in here as it stands.
#![allow(clippy::unwrap_used)]

#[allow(unreachable_pub)]
#[path = "../src/http/sse.rs"]
mod sse;

use proptest::prelude::*;
use sse::{Event, Events, Lines, TooLong};

/// All events of these bytes, fed in these chunks.
fn decode<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limit: usize,
) -> Result<Vec<Event>, TooLong> {
    let mut lines = Lines::new(limit);
    let mut events = Events::new(limit);
    let mut all = Vec::new();
    let mut take = |events: &mut Events, line: &str| {
        all.extend(events.line(line)?);
        Ok(())
    };
    for chunk in chunks {
        lines.feed(chunk, |line| take(&mut events, line))?;
    }

    lines.finish(|line| take(&mut events, line))?;
    all.extend(events.end());
    Ok(all)
}

fn whole(text: &str) -> Vec<Event> {
    decode([text.as_bytes()], 1000).unwrap()
}

fn event(name: &str, data: &str) -> Event {
    Event {
        name: name.to_owned(),
        data: data.to_owned(),
    }
}

#[test]
fn an_event_is_its_lines_of_data() {
    assert_eq!(
        whole("data: a\n\ndata: b\ndata:c\n\n"),
        [event("", "a"), event("", "b\nc")]
    );
    assert_eq!(
        whole("event: e\ndata:  two spaces\n\ndata\n\n"),
        [event("e", " two spaces"), event("", "")]
    );
}

#[test]
fn what_has_no_data_is_no_event() {
    assert_eq!(
        whole(": comment\n\nevent: e\n\nid: 1\nretry: 5\nunknown: x\nnonsense\n\n\n\ndata: a\n\n"),
        [event("", "a")]
    );
}

#[test]
fn lines_end_in_any_of_three_ways_and_may_begin_with_a_mark() {
    for end in ["\n", "\r", "\r\n"] {
        let text = "\u{feff}data: a🤔|data: b||event: e|data: \u{feff}c||".replace('|', end);
        assert_eq!(
            whole(&text),
            [event("", "a🤔\nb"), event("e", "\u{feff}c")],
            "{end:?}"
        );
    }
}

#[test]
fn the_end_of_the_stream_ends_the_last_event() {
    for text in ["data: a\n\n", "data: a\n", "data: a", "data: a\r"] {
        assert_eq!(whole(text), [event("", "a")]);
    }

    assert_eq!(whole(""), []);
    assert_eq!(whole("data: a\n\nevent: e"), [event("", "a")]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(
        decode([b"data: a\xff\xf0\x9f\n\n".as_slice()], 100).unwrap(),
        [event("", "a\u{fffd}\u{fffd}")]
    );
}

#[test]
fn lines_and_events_have_a_limit() {
    let line = |length| format!("data:{}\n\n", "x".repeat(length));
    assert_eq!(decode([line(95).as_bytes()], 100).unwrap().len(), 1);
    assert_eq!(decode([line(96).as_bytes()], 100), Err(TooLong));
    assert_eq!(
        decode(std::iter::repeat_n(b"x".as_slice(), 101), 100),
        Err(TooLong)
    );
    assert_eq!(
        decode(std::iter::repeat_n(b"data:xxxx\n".as_slice(), 30), 100),
        Err(TooLong)
    );
    assert_eq!(
        decode(std::iter::repeat_n(b"data:xxxx\n\n".as_slice(), 300), 100)
            .unwrap()
            .len(),
        300
    );
}

/// Lines of streams, their ends, and pieces that make no sense.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("data: ".to_owned()),
        Just("data:".to_owned()),
        Just("event: e".to_owned()),
        Just(": comment".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-zé🤔:]{0,5}",
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_split_gives_the_same_events(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        let whole = decode([bytes.as_slice()], 10_000).unwrap();
        prop_assert_eq!(&decode(chunks, 10_000).unwrap(), &whole);
        prop_assert_eq!(&decode(bytes.chunks(1), 10_000).unwrap(), &whole);
    }

    #[test]
    fn any_split_of_a_recorded_stream_gives_the_same_events(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30)) {
        let bytes = include_bytes!("it/http/fixtures/anthropic.sse").as_slice();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        let events = decode(chunks, 10_000).unwrap();
        prop_assert_eq!(events.len(), 13);
        prop_assert_eq!(events, decode([bytes], 10_000).unwrap());
    }

    #[test]
    fn data_comes_back_as_it_was_sent(data in "[^\r\n]{0,50}", name in "[a-z_]{0,10}") {
        prop_assert_eq!(whole(&format!("event: {name}\ndata: {data}\n\n")), [event(&name, &data)]);
    }
}
