//! The work that reading replies and snapshots takes, counted: it grows with the length of the text, whatever
//! it says. That of tables is counted in `tables.rs`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_llm::{Messages, ScriptedClient};
use cogwork_read::measure;
use cogwork_read::testing::{assert_at_most_doubled, assert_linear, most_work_of_a_poll};
use cogwork_strategies::{
    Ask, ConflictRule, Parameter, ParameterType, Rung, Session, SessionPolicy, SolveBudget, Solver,
    StrategyName, ThoughtDraft,
};
use cogwork_tools::{Tools, function};
use serde_json::Value;

fn text() -> ParameterType {
    ParameterType::Text {
        choices: Vec::new(),
    }
}

fn list_of(items: ParameterType) -> ParameterType {
    ParameterType::List {
        items: Box::new(items),
        min_items: 0,
    }
}

fn map_of(values: ParameterType) -> ParameterType {
    ParameterType::Map {
        values: Box::new(values),
    }
}

/// A question for each type of field, and one for all of them.
fn asks() -> Vec<Ask> {
    let number = ParameterType::Number {
        min: None,
        max: None,
    };
    let kinds = [
        ("a", text()),
        (
            "a",
            ParameterType::Text {
                choices: vec!["one".to_owned(), "two".to_owned()],
            },
        ),
        ("a", number.clone()),
        ("a", ParameterType::Boolean),
        ("a", ParameterType::Any),
        ("a", list_of(text())),
        ("a", list_of(number.clone())),
        ("a", map_of(ParameterType::Any)),
        ("a", map_of(list_of(number))),
    ];

    let ask = || Ask::new(Messages::new(), "Go on.");
    let alone = kinds
        .iter()
        .map(|(name, kind)| ask().with_field(*name, Parameter::new(kind.clone(), "d")));
    let together = kinds
        .iter()
        .enumerate()
        .fold(ask(), |ask, (place, (name, kind))| {
            ask.with_field(format!("{name}{place}"), Parameter::new(kind.clone(), "d"))
        });

    alone.chain([together, ask()]).collect()
}

/// Replies of about `n` pieces.
fn slow_replies(n: usize) -> Vec<(&'static str, String)> {
    vec![
        (
            "a list of numbers under a long name",
            format!("a: {{\"{}\": [{}0]}}", "k".repeat(n), "0,".repeat(n)),
        ),
        (
            "a list of other values under a long name",
            format!("a: {{\"{}\": [{}0]}}", "k".repeat(n), "{},".repeat(n)),
        ),
        ("a map of values of another type", {
            let pairs: Vec<_> = (0..n).map(|n| format!("\"k{n}\": 1")).collect();
            format!("a: {{{}}}", pairs.join(","))
        }),
        ("a field again and again", "a: x\n".repeat(n)),
        ("lines of a field", format!("a:\n{}", "- x\n".repeat(n))),
        ("fences", format!("a:\n{}", "```\n".repeat(n))),
        ("brackets", format!("a: {}", "[".repeat(n))),
        (
            "braces around no object",
            format!("{}a: 1{}", "{".repeat(n), "}".repeat(n)),
        ),
        ("a long number", format!("a: {}", "1".repeat(n))),
        (
            "a number with many commas",
            format!("a: {}", "1,".repeat(n)),
        ),
        ("colons", format!("a: {}", "a:".repeat(n))),
        ("stars", format!("{}a: x", "*".repeat(n))),
        ("thinking", format!("<think>{}", "</think>".repeat(n))),
        (
            "evidence",
            format!("Plan: x\n{}", "#E1 = echo[#E1]\n".repeat(n)),
        ),
        (
            "evidence in one line",
            format!("Plan: x\n{}", "#E1 ** ".repeat(n)),
        ),
        ("words", "word ".repeat(n)),
        ("keys without values", format!("{{{}", "\"a\" ".repeat(n))),
        ("commas in an object", format!("{{\"a\"{}", ",".repeat(n))),
        (
            "objects in a list",
            format!("{{\"a\": [{}", "{'b' 1} ".repeat(n)),
        ),
        ("objects without a known key", "{\"b\": 1} ".repeat(n)),
        ("deep objects", "{\"a\":".repeat(n)),
        ("apostrophes", format!("{{'a': '{}", "' ' ".repeat(n))),
        ("comments", format!("{{\"a\": {}", "// b\n".repeat(n))),
        ("backslashes", format!("{{\"a\": \"{}\"}}", "\\d".repeat(n))),
        ("closing brackets", format!("{{\"a\": [{}", "]}".repeat(n))),
    ]
}

#[test]
fn reading_twice_the_reply_takes_twice_the_work() {
    let asks = asks();
    let read = |rung, reply: &str| asks.iter().for_each(|ask| drop(ask.read_on(rung, reply)));

    for ((what, short), (_, long)) in slow_replies(1000).into_iter().zip(slow_replies(2000)) {
        for rung in [Rung::Schema, Rung::Text] {
            assert_linear(what, &short, &long, |reply| read(rung, reply));
        }
    }
}

/// A long reply is read elsewhere. What the drivers make of a reply that could be used is all that is left.
#[tokio::test]
async fn a_deadline_is_never_far_while_a_stage_reads_a_reply() {
    let echo = function("echo", "Says it again.", |input: Value| async move {
        Ok(input.to_string())
    });
    let tools = Tools::new().with(echo).unwrap();

    for (what, reply) in slow_replies(5000) {
        for name in StrategyName::ALL {
            for rung in [Rung::Schema, Rung::Text] {
                let client = ScriptedClient::new([reply.as_str(); 3]);
                let budget = SolveBudget::default().with_calls(3);
                let solver = Solver::new(client, name)
                    .with_tools(tools.clone())
                    .with_format(rung)
                    .with_budget(budget);

                let (_, work) = most_work_of_a_poll(solver.solve("What is 17 * 3?")).await;
                let most = 8 * reply.len() as u64;
                assert!(
                    work <= most,
                    "{what}, {} on {rung}: one poll takes {work} units of work",
                    name.as_str()
                );
            }
        }
    }
}

/// A session of `n` thoughts in strategies of their own, with a merge now and then.
fn session(n: usize) -> String {
    let mut session = Session::with_policy(StrategyName::Linear, SessionPolicy::default());
    let stay = |text: String| ThoughtDraft::here(text);
    session.think(stay("first".to_owned())).unwrap();

    for number in 0..n {
        if number % 16 == 0 {
            let branch = session
                .fork(session.thoughts()[0].id(), format!("b{number}"))
                .unwrap();
            session.think_on(branch, stay("aside".to_owned())).unwrap();
            let main = session.branch_named("main").unwrap().id();
            session
                .merge(
                    &[branch],
                    main,
                    ConflictRule::KeepTarget,
                    stay("both".to_owned()),
                )
                .unwrap();
        }

        session.think(stay(format!("thought {number}"))).unwrap();
    }

    serde_json::to_string(&session).unwrap()
}

#[test]
fn reading_twice_the_session_takes_twice_the_work() {
    let work = |text: &str| {
        let (read, work) = measure(|| Session::from_json(text).map(drop));
        assert_eq!(read, Ok(()));
        work
    };

    let once = work(&session(500));
    let twice = work(&session(1000));
    assert_at_most_doubled("a session", once, twice);
}

/// Thoughts that each change the strategy, and many strategies that nobody needs.
#[test]
fn a_snapshot_with_strategies_that_nobody_needs_takes_work_in_proportion_to_it() {
    let text = |n: usize| {
        let table = r#"{"description": "d", "stages": {
            "a": {"description": "d", "prompt": "p", "next": ["b"]},
            "b": {"description": "d", "prompt": "p", "final": true}}}"#;
        let tables: Vec<_> = (0..n).map(|n| format!("\"s{n}\": {table}")).collect();
        let thoughts: Vec<_> = (1..=n)
            .map(|id| {
                let last = n - 1;
                format!(
                    r#"{{"id": {id}, "branch": 0, "number": {id}, "kind": "strategy", "strategy": "s{last}", "stage": "a",
                        "thought": "x", "next_thought_needed": true, "parameters": {{}}}}"#
                )
            })
            .collect();

        let session = serde_json::to_value(Session::new(StrategyName::Linear)).unwrap();
        let policy = session["policy"].to_string();
        format!(
            r#"{{"version": 1, "strategy": "s0", "policy": {policy}, "current": 0,
                "branches": [{{"name": "main", "total_thoughts": {n}}}],
                "thoughts": [{}], "strategies": {{{}}}}}"#,
            thoughts.join(","),
            tables.join(",")
        )
    };

    let work = |n: usize| {
        let text = text(n);
        let (read, work) = measure(|| Session::from_json(&text).map(drop));
        (read.unwrap_err().to_string(), work)
    };

    let (error, once) = work(200);
    let (_, twice) = work(400);
    assert!(
        error.contains("no thought is in the strategy `s1`"),
        "{error}"
    );
    assert_at_most_doubled("strategies", once, twice);
}
