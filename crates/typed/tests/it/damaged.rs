//! Valid answers that are damaged: what is read equals what was meant, or it is refused with a
//! place.

use std::collections::BTreeMap;
use std::fmt::Debug;

use cogwork_typed::{AnswerProblem, AnswerReader, ReadAnswer};
use proptest::prelude::*;
use proptest::sample::Index;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flat {
    first_name: String,
    age: i32,
    weight: f64,
    is_member: bool,
    nick_name: Option<String>,
    rank: Option<u8>,
    tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Mood {
    VeryGood,
    Bad,
    Other(String),
    Mixed { share: f64, because: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Nested {
    title: String,
    people: Vec<Flat>,
    mood: Mood,
    counts: BTreeMap<String, u32>,
    pair: (i32, String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Branch {
    name: String,
    children: Vec<Branch>,
    next: Option<Box<Branch>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Event {
    LogIn { user: String, at: u32 },
    LogOut,
    Moved { from: Vec<f64>, to: Vec<f64> },
}

fn text() -> impl Strategy<Value = String> {
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

fn number() -> impl Strategy<Value = f64> {
    (-1_000_000..1_000_000_i32).prop_map(|number| f64::from(number) / 100.0)
}

fn flat() -> impl Strategy<Value = Flat> {
    let optional = (prop::option::of(text()), prop::option::of(any::<u8>()));
    let tags = prop::collection::vec(text(), 0..4);
    (
        text(),
        any::<i32>(),
        number(),
        any::<bool>(),
        optional,
        tags,
    )
        .prop_map(
            |(first_name, age, weight, is_member, (nick_name, rank), tags)| Flat {
                first_name,
                age,
                weight,
                is_member,
                nick_name,
                rank,
                tags,
            },
        )
}

fn mood() -> impl Strategy<Value = Mood> {
    prop_oneof![
        Just(Mood::VeryGood),
        Just(Mood::Bad),
        text().prop_map(Mood::Other),
        (number(), prop::collection::vec(text(), 0..3))
            .prop_map(|(share, because)| Mood::Mixed { share, because }),
    ]
}

fn nested() -> impl Strategy<Value = Nested> {
    let counts = prop::collection::btree_map("[a-zA-Z_ ]{1,6}", any::<u32>(), 0..4);
    let people = prop::collection::vec(flat(), 0..3);
    (text(), people, mood(), counts, (any::<i32>(), text())).prop_map(
        |(title, people, mood, counts, pair)| Nested {
            title,
            people,
            mood,
            counts,
            pair,
        },
    )
}

fn branch() -> impl Strategy<Value = Branch> {
    let leaf = text().prop_map(|name| Branch {
        name,
        children: Vec::new(),
        next: None,
    });
    leaf.prop_recursive(3, 8, 3, |inner| {
        let children = prop::collection::vec(inner.clone(), 0..3);
        let next = prop::option::of(inner.prop_map(Box::new));
        (text(), children, next).prop_map(|(name, children, next)| Branch {
            name,
            children,
            next,
        })
    })
}

fn event() -> impl Strategy<Value = Event> {
    let numbers = || prop::collection::vec(number(), 0..3);
    prop_oneof![
        (text(), any::<u32>()).prop_map(|(user, at)| Event::LogIn { user, at }),
        Just(Event::LogOut),
        (numbers(), numbers()).prop_map(|(from, to)| Event::Moved { from, to }),
    ]
}

/// What happens to a reply.
#[derive(Debug, Clone)]
enum Damage {
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
enum Case {
    Camel,
    Title,
    Kebab,
    Upper,
}

fn harmless() -> impl Strategy<Value = Damage> {
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

fn damage() -> impl Strategy<Value = Damage> {
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
fn structural(json: &str) -> Vec<usize> {
    tokens(json)
        .iter()
        .flat_map(|token| match (token.is_text, &json[token.at..token.end]) {
            (true, _) => vec![token.at, token.end - 1],
            (false, "{" | "}" | "[" | "]" | "," | ":") => vec![token.at],
            _ => Vec::new(),
        })
        .collect()
}

fn replaced(json: &str, range: std::ops::Range<usize>, by: &str) -> String {
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

/// The keys of the types above, which may be written in another case. Those of maps may not.
const KEYS: [&str; 16] = [
    "first_name",
    "age",
    "weight",
    "is_member",
    "nick_name",
    "rank",
    "tags",
    "title",
    "people",
    "mood",
    "name",
    "children",
    "next",
    "user",
    "from",
    "VeryGood",
];

fn damaged<T: Serialize>(value: &T, json: &str, damage: &Damage) -> String {
    let pick =
        |places: &[usize], index: &Index| places.get(index.index(places.len().max(1))).copied();
    match damage {
        Damage::Fence(label) => format!("```{label}\n{json}\n```"),
        Damage::Prose => format!("Sure, here it is:\n\n{json}\n\nI hope this helps!"),
        Damage::Thinking => format!("<think>\nLet me see: {{\"a\": 1}}\n</think>\n\n{json}"),
        Damage::Wrapper => format!("{{\"result\": {json}}}"),
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
            let keys: Vec<usize> = KEYS
                .iter()
                .flat_map(|key| {
                    json.match_indices(&format!("\"{key}\":"))
                        .map(|(at, _)| at)
                        .collect::<Vec<_>>()
                })
                .filter(|at| tokens(json).iter().any(|token| token.at == *at))
                .collect();
            let Some(at) = pick(&keys, index) else {
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

fn check_problem(problem: &AnswerProblem) {
    assert!(problem.line() >= 1);
    assert!(!problem.message().is_empty());
}

/// Reads a damaged answer.
fn read_damaged<T>(
    value: &T,
    damage: &Damage,
    is_pretty: bool,
) -> (String, Result<ReadAnswer<T>, AnswerProblem>)
where
    T: Serialize + DeserializeOwned + JsonSchema,
{
    let json = if is_pretty {
        serde_json::to_string_pretty(value).unwrap()
    } else {
        serde_json::to_string(value).unwrap()
    };
    let reply = damaged(value, &json, damage);
    let read = AnswerReader::<T>::new().read(&reply);
    (reply, read)
}

fn check_any<T>(value: &T, damage: &Damage, is_pretty: bool)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema,
{
    let (reply, read) = read_damaged(value, damage, is_pretty);
    match read {
        Ok(read) => assert_eq!(read.value, *value, "{reply}"),
        Err(problem) => check_problem(&problem),
    }
}

fn check_harmless<T>(value: &T, damage: &Damage, is_pretty: bool)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema,
{
    let (reply, read) = read_damaged(value, damage, is_pretty);
    match read {
        Ok(read) => assert_eq!(read.value, *value, "{reply}"),
        Err(problem) => panic!("{problem}: {reply}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn flat_answers(value in flat(), damage in damage(), is_pretty: bool) {
        check_any(&value, &damage, is_pretty);
    }

    #[test]
    fn nested_answers(value in nested(), damage in damage(), is_pretty: bool) {
        check_any(&value, &damage, is_pretty);
    }

    #[test]
    fn answers_that_contain_themselves(value in branch(), damage in damage(), is_pretty: bool) {
        check_any(&value, &damage, is_pretty);
    }

    #[test]
    fn enums(value in event(), damage in damage(), is_pretty: bool) {
        check_any(&value, &damage, is_pretty);
    }

    #[test]
    fn enums_in_lists(value in prop::collection::vec(mood(), 0..4), damage in damage(), is_pretty: bool) {
        check_any(&value, &damage, is_pretty);
    }

    #[test]
    fn harmless_damage_is_repaired(
        flat in flat(),
        branch in branch(),
        event in event(),
        damage in harmless(),
        is_pretty: bool,
    ) {
        check_harmless(&flat, &damage, is_pretty);
        check_harmless(&branch, &damage, is_pretty);
        check_harmless(&event, &damage, is_pretty);
    }
}
