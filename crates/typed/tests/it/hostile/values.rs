//! Numbers, names and keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{read, refusal, schema};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Numbers {
    #[serde(default)]
    integer: Option<i64>,
    #[serde(default)]
    unsigned: Option<u64>,
    #[serde(default)]
    float: Option<f64>,
    #[serde(default)]
    any: Value,
    #[serde(default)]
    wide: Option<i128>,
    #[serde(default)]
    wide_unsigned: Option<u128>,
}

/// No number becomes another one, or null.
#[test]
fn numbers_are_read_exactly_or_refused() {
    for part in [
        r#""float": 1e400"#,
        r#""float": "1e400""#,
        r#""float": NaN"#,
        r#""float": "NaN""#,
        r#""float": -Infinity"#,
        r#""float": "1,234""#,
        r#""float": "12 kg""#,
        r#""float": "50%""#,
        r#""float": "3/4""#,
        r#""float": "$-$5""#,
        r#""any": 1e400"#,
        r#""any": [{"a": -1e999}]"#,
        r#""integer": 1e400"#,
        r#""integer": 9223372036854775808"#,
        r#""integer": 3.0000000000000000001"#,
        r#""integer": 2.9999999999999999999"#,
        r#""integer": "0x1F""#,
        r#""unsigned": -1"#,
        r#""unsigned": 18446744073709551616"#,
        r#""unsigned": 0.99999999999999999999"#,
        r#""wide": 170141183460469231731687303715884105727"#,
    ] {
        let key = part.split('"').nth(1).unwrap();
        let refusal = refusal::<Numbers>(&format!("{{{part}}}"));
        assert!(refusal.contains(&format!("`/{key}")), "{part}: {refusal}");
    }

    let numbers = read::<Numbers>(
        r#"{"integer": 9223372036854775807.0, "unsigned": "18,446,744,073,709,551,615", "float": "-$1,234.50", "wide": -5}"#,
    );
    let (numbers, repairs) = numbers.unwrap();
    assert_eq!(numbers.integer, Some(i64::MAX));
    assert_eq!(numbers.unsigned, Some(u64::MAX));
    assert_eq!(numbers.float, Some(-1234.5));
    assert_eq!(numbers.wide, Some(-5));
    assert_eq!(repairs.len(), 3);

    assert_eq!(
        refusal::<Numbers>(r#"{"unsigned": 18446744073709551616}"#),
        "line 1, `/unsigned`: found the number 18446744073709551616; expected an integer of 64 bits, \
         from -9223372036854775808 to 18446744073709551615"
    );
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
enum Vote {
    #[serde(rename = "-1")]
    Against,
    #[serde(rename = "0")]
    Neither,
    #[serde(rename = "<5")]
    Few,
    #[serde(rename = "10-20")]
    Some,
    #[serde(rename = "C++")]
    Language,
    #[serde(rename = "so-so")]
    Fair,
}

/// Signs and other symbols distinguish names. What separates words doesn't.
#[test]
fn names_that_differ_in_symbols_are_different() {
    for other in ["1", "+1", "5", ">5", "5<", "1020", "10.20", "C", "c#", ""] {
        let reply = json!({ "answer": other }).to_string();
        assert!(
            refusal::<Vote>(&reply).contains("expected one of"),
            "{other}"
        );
    }

    for (said, meant) in [
        ("-1", Vote::Against),
        ("<5", Vote::Few),
        ("10-20", Vote::Some),
        ("c++", Vote::Language),
        ("So so.", Vote::Fair),
        ("**so_so**", Vote::Fair),
        ("SoSo", Vote::Fair),
    ] {
        let reply = json!({ "answer": said }).to_string();
        assert_eq!(read::<Vote>(&reply).unwrap().0, meant, "{said}");
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Extra {
    id: u8,
    #[serde(flatten)]
    counts: BTreeMap<String, u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Keyed {
    by_number: BTreeMap<u32, String>,
}

#[test]
fn maps_are_described_and_read_by_their_values() {
    let extra = read::<Extra>(r#"{"id": 1, "a": "2", "B": 3.0}"#);
    let (extra, repairs) = extra.unwrap();
    assert_eq!(
        extra.counts,
        [("B".to_owned(), 3), ("a".to_owned(), 2)].into()
    );
    assert_eq!(repairs.len(), 2);
    assert_eq!(
        schema::<Extra>()["additionalProperties"],
        json!({"type": "integer", "minimum": 0})
    );
    assert!(refusal::<Extra>(r#"{"id": 1, "a": "x"}"#).contains("`/a`"));

    let numbers: BTreeMap<u32, String> = [(7, "x".to_owned())].into();
    assert_eq!(
        read::<Keyed>(r#"{"by_number": {"7": "x"}}"#),
        Ok((
            Keyed {
                by_number: numbers.clone()
            },
            Vec::new()
        ))
    );
    for reply in [r#"{"7": "x"}"#, r#"{"answer": {"7": "x"}}"#] {
        assert_eq!(read(reply), Ok((numbers.clone(), Vec::new())), "{reply}");
    }
    assert_eq!(
        schema::<BTreeMap<u32, String>>(),
        json!({"type": "object", "additionalProperties": {"type": "string"}})
    );
    assert!(read::<Keyed>(r#"{"by_number": {"seven": "x"}}"#).is_err());
    // One entry of several that are missing, or a map in a list.
    assert!(read::<Keyed>(r#"{"by_number": [{"7": "x"}]}"#).is_err());
}

/// Of two values for a key, the last one counts, no matter where the key is.
#[test]
fn of_two_values_for_a_key_the_last_one_counts() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Holder {
        any: Value,
        map: BTreeMap<String, u8>,
        rest: Extra,
        list: Vec<u8>,
    }

    let reply = |object: &str, list: &str| {
        format!(r#"{{"any": {object}, "map": {object}, "rest": {object}, {list}}}"#)
    };
    let list = r#""list": [2]"#;
    let (meant, repairs) = read::<Holder>(&reply(r#"{"id": 1, "x": 2}"#, list)).unwrap();
    assert!(repairs.is_empty());

    let twice = reply(r#"{"id": 1, "x": 1, "x": 2}"#, list);
    let (holder, repairs) = read::<Holder>(&twice).unwrap();
    assert_eq!(holder, meant);
    assert_eq!(
        repairs,
        ["any", "map", "rest"].map(|key| format!("line 1: `/{key}`: left out an earlier `x`"))
    );

    let twice = reply(r#"{"id": 1, "x": 2}"#, r#""list": [1], "list": [2]"#);
    let (holder, repairs) = read::<Holder>(&twice).unwrap();
    assert_eq!(holder, meant);
    assert_eq!(repairs, ["line 1: left out an earlier `list`"]);
}
