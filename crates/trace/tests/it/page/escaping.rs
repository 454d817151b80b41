//! No text of a record becomes markup.

use cogwork_text::is_unsafe;
use proptest::prelude::*;
use serde_json::Value;

use super::{data, events, header, html, note, page, record};

/// Texts that would end the element, begin a comment, or be read differently by a parser of HTML.
const HOSTILE: [&str; 10] = [
    "</script><script>alert(1)</script>",
    "</SCRIPT\u{c}>",
    "<!--<script>",
    "]]><svg/onload=alert(1)>",
    "&lt;/script&gt;",
    "\u{2028}\u{2029}\0\u{202e}",
    "</title><img src=x onerror=alert(1)>",
    "\"}]}</script>",
    "{{script}}{{style}}",
    "\u{feff}<\u{0}/script>",
];

fn any_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(HOSTILE.as_slice()).prop_map(str::to_owned),
        any::<String>(),
        "[<>&\"'/!a-z-]{0,20}",
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn count_markup(html: &str) -> usize {
    html.matches('<').count()
}

proptest! {
    // Each case writes a whole page.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn of_any_texts(run in any_text(), flow in any_text(), texts in prop::collection::vec(any_text(), 0..5)) {
        let empty = html(&page(&record(&header(), [])));
        let mut header = header();
        header["run"] = run.clone().into();
        header["flow"] = flow.clone().into();
        let html = html(&page(&record(&header, texts.iter().map(note))));

        prop_assert_eq!(count_markup(&html), count_markup(&empty));
        let is_harmful = |character| matches!(character, '<' | '>' | '&') || is_unsafe(character);
        let is_harmless = !data(&html).replace('\n', "").contains(is_harmful);
        prop_assert!(is_harmless);

        let read: Value = serde_json::from_str(data(&html)).unwrap();
        prop_assert_eq!(&read["header"]["run"], &Value::from(run));
        prop_assert_eq!(&read["header"]["flow"], &Value::from(flow));

        let shown: Vec<_> = events(&html).iter().map(|event| event["text"].clone()).collect();
        let expected: Vec<_> = texts.into_iter().map(Value::from).collect();
        prop_assert_eq!(shown, expected);
    }
}

#[test]
fn of_large_records_is_in_base64() {
    let texts = HOSTILE.iter().cycle().take(20_000);
    let html = html(&page(&record(&header(), texts.map(|text| note(*text)))));

    let read: Value = serde_json::from_str(data(&html)).unwrap();
    let packed = read["packed"].as_str().unwrap();
    assert!(
        packed
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "+/=".contains(character))
    );
}
