//! Answers of many types that are damaged as models damage them. What is read was meant, or is what a
//! strict parser reads, or is reported, or is refused with a place.
//!
//! `COGWORK_LONG_TESTS=1` tests twenty times as many replies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::damage::{DAMAGES, FRAMES, Random, damaged, framed};

macro_rules! types {
    ($($item:item)*) => {
        $(#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)] $item)*
    };
}

types! {
    pub(crate) struct Flat {
        first_name: String,
        age: i32,
        weight: f64,
        is_member: bool,
        nick_name: Option<String>,
        rank: Option<u8>,
        tags: Vec<String>,
    }

    enum Mood {
        VeryGood,
        Bad,
        Other(String),
        Mixed { share: f64, because: Vec<String> },
    }

    struct Nested {
        title: String,
        people: Vec<Flat>,
        mood: Mood,
        counts: BTreeMap<String, u32>,
        pair: (i32, String),
    }

    struct Branch {
        name: String,
        children: Vec<Branch>,
        next: Option<Box<Branch>>,
    }

    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Event {
        LogIn { user: String, at: u32 },
        LogOut,
        Moved { from: Vec<f64>, to: Vec<f64> },
    }

    #[serde(untagged)]
    enum Amount {
        Count(u32),
        Named { name: String, amount: f64 },
        Text(String),
    }

    #[serde(rename_all = "snake_case")]
    #[derive(Default)]
    enum Status {
        #[default]
        Pending,
        InProgress,
        Done,
    }

    struct Step {
        description: String,
        #[serde(default)]
        status: Status,
        result: Option<String>,
        sub_steps: Option<Vec<Step>>,
    }

    struct Thought {
        current_thinking: String,
        planning: Vec<Step>,
        next_thought_needed: bool,
    }

    struct Extra {
        id: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, f64>,
    }

    #[serde(deny_unknown_fields)]
    struct Closed {
        #[serde(default)]
        note: String,
        scores: Vec<Vec<f64>>,
        any: Value,
    }
}

pub(crate) fn flat(random: &mut Random) -> Flat {
    Flat {
        first_name: random.text(),
        age: random.integer(),
        weight: random.number(),
        is_member: random.chance(2),
        nick_name: random.chance(2).then(|| random.text()),
        rank: random.chance(2).then(|| random.below(256) as u8),
        tags: random.list(Random::text),
    }
}

fn mood(random: &mut Random) -> Mood {
    match random.below(4) {
        0 => Mood::VeryGood,
        1 => Mood::Bad,
        2 => Mood::Other(random.text()),
        _ => Mood::Mixed {
            share: random.number(),
            because: random.list(Random::text),
        },
    }
}

fn nested(random: &mut Random) -> Nested {
    Nested {
        title: random.text(),
        people: random.list(flat),
        mood: mood(random),
        counts: random
            .list(|random| (random.word(), random.below(1_000) as u32))
            .into_iter()
            .collect(),
        pair: (random.integer(), random.text()),
    }
}

fn branch(random: &mut Random) -> Branch {
    Branch {
        name: random.text(),
        children: if random.chance(3) {
            random.list(branch)
        } else {
            Vec::new()
        },
        next: random.chance(4).then(|| Box::new(branch(random))),
    }
}

fn event(random: &mut Random) -> Event {
    match random.below(3) {
        0 => Event::LogIn {
            user: random.text(),
            at: random.below(100) as u32,
        },
        1 => Event::LogOut,
        _ => Event::Moved {
            from: random.list(Random::number),
            to: random.list(Random::number),
        },
    }
}

fn amount(random: &mut Random) -> Amount {
    match random.below(3) {
        0 => Amount::Count(random.below(100) as u32),
        1 => Amount::Named {
            name: random.text(),
            amount: random.number(),
        },
        _ => Amount::Text(random.text()),
    }
}

fn status(random: &mut Random) -> Status {
    match random.below(3) {
        0 => Status::Pending,
        1 => Status::InProgress,
        _ => Status::Done,
    }
}

fn step(random: &mut Random) -> Step {
    Step {
        description: random.text(),
        status: status(random),
        result: random.chance(2).then(|| random.text()),
        sub_steps: random.chance(4).then(|| random.list(step)),
    }
}

fn thought(random: &mut Random) -> Thought {
    Thought {
        current_thinking: random.text(),
        planning: random.list(step),
        next_thought_needed: random.chance(2),
    }
}

fn any(random: &mut Random) -> Value {
    match random.below(7) {
        0 => Value::Null,
        1 => random.chance(2).into(),
        2 => random.number().into(),
        3 => random.list(any).into(),
        4 => json!({"a": any(random), "b": random.text()}),
        _ => random.text().into(),
    }
}

/// How the replies were read.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<&'static str, usize>,
    silent: Vec<String>,
}

#[derive(Deserialize)]
struct Wrapped<T> {
    answer: T,
}

/// Returns whether a strict parser reads a value.
fn is_strict<T: DeserializeOwned + PartialEq>(block: &str, is_wrapped: bool, value: &T) -> bool {
    [block.to_owned(), format!("{block}\n")]
        .iter()
        .any(|block| {
            let json: Option<Value> = serde_json::from_str(block).ok();
            let tree = json.or_else(|| serde_yaml::from_str(block).ok());
            let tree = tree.map(|mut tree| match tree.get_mut("answer") {
                Some(answer) if is_wrapped => answer.take(),
                _ => tree,
            });

            // YAML writes variants in another way, and texts like numbers.
            let typed = match is_wrapped {
                true => serde_yaml::from_str(block)
                    .ok()
                    .map(|Wrapped { answer }| answer),
                false => serde_yaml::from_str(block).ok(),
            };
            let by_tree = tree.and_then(|tree| serde_json::from_value(tree).ok());
            [typed, by_tree]
                .iter()
                .flatten()
                .any(|read: &T| read == value)
        })
}

fn check<T>(value: &T, is_wrapped: bool, random: &mut Random, tally: &mut Tally)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema,
{
    let value_written = serde_json::to_value(value).unwrap();
    let written = match is_wrapped {
        true => json!({ "answer": value_written }),
        false => value_written,
    };
    let block = match random.below(3) {
        0 => written.to_string(),
        1 => serde_json::to_string_pretty(&written).unwrap(),
        _ => serde_yaml::to_string(&written).unwrap(),
    };

    let damage = random.below(DAMAGES);
    let block = damaged(&block, damage, random);
    let frame = random.below(FRAMES);
    let reply = framed(&block, frame);
    let read = match AnswerReader::<T>::new().read(&reply) {
        Ok(read) => read,
        Err(problem) => {
            assert!(problem.line() >= 1 && !problem.message().is_empty());
            assert!(
                damage > 0 || frame > 6 || !block.starts_with('{'),
                "{problem}: {reply}"
            );
            *tally.counts.entry("refused").or_default() += 1;
            return;
        }
    };

    let is_reported = !read.repairs.is_empty();
    let how = if read.value == *value {
        "meant"
    } else if is_reported {
        "reported"
    } else if is_strict(&block, is_wrapped, &read.value) {
        "strict"
    } else {
        tally
            .silent
            .push(format!("{reply}\n=> {:?}\nnot {value:?}", read.value));
        "silent"
    };
    *tally.counts.entry(how).or_default() += 1;
}

fn check_type(of: usize, random: &mut Random, tally: &mut Tally) {
    match of {
        0 => check(&flat(random), false, random, tally),
        1 => check(&mood(random), true, random, tally),
        2 => check(&nested(random), false, random, tally),
        3 => check(&branch(random), false, random, tally),
        4 => check(&event(random), true, random, tally),
        5 => check(&amount(random), true, random, tally),
        6 => check(&thought(random), false, random, tally),
        7 => check(&random.list(mood), true, random, tally),
        8 => check(&random.list(flat), true, random, tally),
        9 => check(&random.list(Random::text), true, random, tally),
        10 => check(&random.list(Random::integer), true, random, tally),
        11 => check(
            &random
                .list(|random| (random.word(), random.text()))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
            true,
            random,
            tally,
        ),
        12 => check(&status(random), true, random, tally),
        13 => check(
            &random.chance(2).then(|| random.text()),
            true,
            random,
            tally,
        ),
        14 => {
            let rest = random.list(|random| (random.word(), random.number()));
            let rest: BTreeMap<_, _> = rest.into_iter().filter(|(key, _)| key != "id").collect();
            check(&Extra { id: 7, rest }, false, random, tally);
        }
        15 => {
            let closed = Closed {
                note: random.text(),
                scores: random.list(|random| random.list(Random::number)),
                any: any(random),
            };
            check(&closed, false, random, tally);
        }
        _ => check(
            &(random.text(), random.number(), random.chance(2)),
            true,
            random,
            tally,
        ),
    }
}

#[test]
fn damaged_answers_are_meant_or_reported_or_refused() {
    let is_long = std::env::var_os("COGWORK_LONG_TESTS").is_some();
    let cases = if is_long { 200_000 } else { 10_000 };
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut random = Random::new(seed.unwrap_or(1));
    let mut tally = Tally::default();

    for case in 0..cases {
        check_type(case % 17, &mut random, &mut tally);
    }

    println!("{:?}", tally.counts);
    let shown: BTreeSet<&String> = tally.silent.iter().take(20).collect();
    for silent in &shown {
        println!("---\n{silent}");
    }
    assert!(
        tally.silent.len() * 20_000 <= cases,
        "{}",
        tally.silent.len()
    );
    assert!(tally.counts["meant"] * 2 > cases);
}
