//! Valid answers, damaged in various ways.

use cogwork_typed::AnswerProblem;
use proptest::prelude::*;
use proptest::sample::Index;
use serde::Serialize;

/// Texts, among them those that other types are written as.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z ]{0,12}",
        "[a-z\"'{}\\[\\],:\\n\\\\`#-]{0,12}",
        "\\PC{0,8}",
        prop::sample::select(vec![
            "null", "None", "yes", "3", "1,234", "", "N/A", "true", "```", "…"
        ])
        .prop_map(str::to_owned),
    ]
}

/// What happens to a reply.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    Fence(&'static str),
    Prose,
    Thinking,
    Wrapper,
    Yaml,
    /// A structural character is removed.
    Removed(Index),
    /// A structural character is written twice.
    Doubled(Index),
    TrailingComma(Index),
    SingleQuotes,
    KeyCase(Index, Case),
    QuotedNumber(Index),
    Truncated(Index),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Case {
    Camel,
    Title,
    Kebab,
    Upper,
}

pub(crate) fn harmless() -> impl Strategy<Value = Damage> {
    let case = prop::sample::select(vec![Case::Camel, Case::Title, Case::Kebab, Case::Upper]);
    prop_oneof![
        prop::sample::select(vec!["json", "", "text"]).prop_map(Damage::Fence),
        Just(Damage::Prose),
        Just(Damage::Thinking),
        any::<Index>().prop_map(Damage::TrailingComma),
        (any::<Index>(), case).prop_map(|(index, case)| Damage::KeyCase(index, case)),
        any::<Index>().prop_map(Damage::QuotedNumber),
    ]
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => harmless(),
        1 => Just(Damage::Wrapper),
        1 => Just(Damage::SingleQuotes),
        1 => Just(Damage::Yaml),
        4 => any::<Index>().prop_map(Damage::Removed),
        2 => any::<Index>().prop_map(Damage::Doubled),
        4 => any::<Index>().prop_map(Damage::Truncated),
    ]
}

/// A token of JSON: its place, and whether it is a text.
struct Token {
    at: usize,
    end: usize,
    is_text: bool,
}

fn tokens(json: &str) -> Vec<Token> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begin = at;
        let is_text = bytes[at] == b'"';
        at += 1;
        if is_text {
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if !b"{}[],: \n".contains(&bytes[begin]) {
            while at < bytes.len() && !b"{}[],: \n\"".contains(&bytes[at]) {
                at += 1;
            }
        }
        found.push(Token {
            at: begin,
            end: at,
            is_text,
        });
    }
    found
}

/// The places of brackets, commas, colons and quotes.
pub(crate) fn structural(json: &str) -> Vec<usize> {
    tokens(json)
        .iter()
        .flat_map(|token| match (token.is_text, &json[token.at..token.end]) {
            (true, _) => vec![token.at, token.end - 1],
            (false, "{" | "}" | "[" | "]" | "," | ":") => vec![token.at],
            _ => Vec::new(),
        })
        .collect()
}

pub(crate) fn replaced(json: &str, range: std::ops::Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &json[..range.start], &json[range.end..])
}

fn in_case(key: &str, case: Case) -> String {
    let words = key.split('_');
    let title = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    match case {
        Case::Camel => {
            let joined: String = words.map(title).collect();
            let (first, rest) = joined.split_at(1);
            first.to_lowercase() + rest
        }
        Case::Title => words.map(title).collect::<Vec<_>>().join(" "),
        Case::Kebab => words.collect::<Vec<_>>().join("-"),
        Case::Upper => key.to_uppercase(),
    }
}

/// The ends of lines of YAML 1.1, with which the writer breaks lines. For the reader, as in YAML 1.2,
/// they are parts of a text.
const OLD_LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Returns the reply. Of the keys of objects, only `keys` are written in another case.
pub(crate) fn damaged<T: Serialize>(
    value: &T,
    json: &str,
    damage: &Damage,
    keys: &[&str],
) -> String {
    let pick =
        |places: &[usize], index: &Index| places.get(index.index(places.len().max(1))).copied();
    match damage {
        Damage::Fence(label) => format!("```{label}\n{json}\n```"),
        Damage::Prose => format!("Sure, here it is:\n\n{json}\n\nI hope this helps!"),
        Damage::Thinking => format!("<think>\nLet me see: {{\"a\": 1}}\n</think>\n\n{json}"),
        Damage::Wrapper => format!("{{\"result\": {json}}}"),
        Damage::Yaml if json.contains(OLD_LINE_ENDS) => json.to_owned(),
        Damage::Yaml => serde_yaml::to_string(value).unwrap(),
        Damage::Removed(index) => match pick(&structural(json), index) {
            Some(at) => replaced(json, at..at + 1, ""),
            None => json.to_owned(),
        },
        Damage::Doubled(index) => match pick(&structural(json), index) {
            Some(at) => replaced(json, at..at, &json[at..=at]),
            None => json.to_owned(),
        },
        Damage::TrailingComma(index) => {
            let closing: Vec<usize> = tokens(json)
                .windows(2)
                .filter(|pair| matches!(&json[pair[1].at..pair[1].end], "}" | "]"))
                .filter(|pair| !matches!(&json[pair[0].at..pair[0].end], "{" | "["))
                .map(|pair| pair[1].at)
                .collect();
            match pick(&closing, index) {
                Some(at) => replaced(json, at..at, ","),
                None => json.to_owned(),
            }
        }
        Damage::SingleQuotes => tokens(json)
            .iter()
            .map(|token| match &json[token.at..token.end] {
                text if token.is_text => {
                    format!("'{}'", text[1..text.len() - 1].replace('\'', "\\'"))
                }
                other => other.to_owned(),
            })
            .collect(),
        Damage::KeyCase(index, case) => {
            let places: Vec<usize> = keys
                .iter()
                .flat_map(|key| {
                    json.match_indices(&format!("\"{key}\":"))
                        .map(|(at, _)| at)
                        .collect::<Vec<_>>()
                })
                .filter(|at| tokens(json).iter().any(|token| token.at == *at))
                .collect();
            let Some(at) = pick(&places, index) else {
                return json.to_owned();
            };
            let end = at + 1 + json[at + 1..].find('"').unwrap();
            replaced(json, at + 1..end, &in_case(&json[at + 1..end], *case))
        }
        Damage::QuotedNumber(index) => {
            let numbers: Vec<usize> = tokens(json)
                .iter()
                .filter(|token| json[token.at..token.end].parse::<f64>().is_ok())
                .map(|token| token.at)
                .collect();
            let Some(at) = pick(&numbers, index) else {
                return json.to_owned();
            };
            let end = at + json[at..].find([',', '}', ']', ' ', '\n']).unwrap();
            replaced(json, at..end, &format!("\"{}\"", &json[at..end]))
        }
        Damage::Truncated(index) => {
            let ends: Vec<usize> = json.char_indices().map(|(at, _)| at).collect();
            json[..pick(&ends, index).unwrap_or(0)].to_owned()
        }
    }
}

/// Checks that a problem has a place and a reason.
pub(crate) fn check_problem(problem: &AnswerProblem) {
    assert!(problem.line() >= 1);
    assert!(!problem.message().is_empty());
}
