//! Valid answers that are damaged: what is read equals what was meant, or it is refused with a
//! place.

use std::collections::BTreeMap;
use std::fmt::Debug;

use cogwork_typed::{AnswerProblem, AnswerReader, ReadAnswer};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::damage::{Damage, check_problem, damage, damaged, harmless, replaced, structural, text};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Flat {
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

fn number() -> impl Strategy<Value = f64> {
    (-1_000_000..1_000_000_i32).prop_map(|number| f64::from(number) / 100.0)
}

pub(crate) fn flat() -> impl Strategy<Value = Flat> {
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
    let reply = damaged(value, &json, damage, &KEYS);
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

/// Texts with characters that also occur in JSON.
const TEXTS: [&str; 12] = [
    "", "a", "\"", "a\"", "\"a", "a\"b", "x: y", "a,b", "[", "}", "a\\", "//",
];

/// Lists in which a text is at the beginning, in the middle or at the end.
fn lists_with(text: &str) -> Vec<Vec<Mood>> {
    let other = || Mood::Other(text.to_owned());
    let mixed = |texts: &[&str]| Mood::Mixed {
        share: 0.0,
        because: texts.iter().map(|text| (*text).to_owned()).collect(),
    };

    vec![
        vec![other()],
        vec![other(), Mood::Bad],
        vec![Mood::Bad, other(), mixed(&[])],
        vec![Mood::VeryGood, mixed(&[text])],
        vec![mixed(&[text]), Mood::VeryGood],
        vec![mixed(&[text, "b"]), other()],
    ]
}

#[test]
fn each_structural_character_of_a_list_is_removed_and_doubled() {
    for list in TEXTS.into_iter().flat_map(lists_with) {
        let json = serde_json::to_string(&list).unwrap();

        for at in structural(&json) {
            let character = &json[at..=at];
            let removed = replaced(&json, at..at + 1, "");
            let doubled = replaced(&json, at..at, character);

            for reply in [removed, doubled] {
                match AnswerReader::<Vec<Mood>>::new().read(&reply) {
                    Ok(read) => assert_eq!(read.value, list, "{reply}"),
                    Err(problem) => check_problem(&problem),
                }
            }
        }
    }
}
