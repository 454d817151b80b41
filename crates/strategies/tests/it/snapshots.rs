//! Snapshots: a restored session behaves like the original, and invalid snapshots are refused.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use cogwork_strategies::{
    BranchId, ConflictRule, EndRule, Session, SessionError, SessionPolicy, Stage, StrategyName,
    ThoughtDraft, ThoughtId,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{draft, walk};

fn restored(session: &Session) -> Session {
    Session::from_json(&serde_json::to_string(session).unwrap()).unwrap()
}

#[test]
fn at_every_stage_of_every_strategy() {
    for name in StrategyName::ALL {
        let strategy = name.strategy();
        for target in strategy.stages() {
            let mut session = Session::new(name);
            while session.stage() != target || session.thoughts().is_empty() {
                let next = if session.thoughts().is_empty() {
                    strategy.start()
                } else {
                    towards(&session, target)
                };
                session.think(draft(&next.clone(), "thought")).unwrap();
            }

            let mut again = restored(&session);
            assert_eq!(again, session);
            for next in strategy.stages() {
                let mut a = session.clone();
                let mut b = again.clone();
                assert_eq!(
                    a.think(draft(next, "next")),
                    b.think(draft(next, "next")),
                    "{target:?} to {next:?}"
                );

                assert_eq!(a, b);
            }

            assert_eq!(
                again.think(ThoughtDraft::here("on")),
                session.think(ThoughtDraft::here("on"))
            );
        }
    }
}

/// Returns the first stage of the shortest path to the target.
fn towards<'a>(session: &'a Session, target: &Stage) -> &'a Stage {
    let strategy = session.strategy();
    let mut ways: Vec<(&Stage, &Stage)> = strategy
        .next(session.stage())
        .map(|stage| (stage, stage))
        .collect();
    for at in 0.. {
        let (first, last) = ways[at];
        if last == target {
            return first;
        }

        ways.extend(strategy.next(last).map(|next| (first, next)));
    }

    unreachable!()
}

#[derive(Debug, Clone)]
enum Act {
    Move(usize),
    Illegal(usize),
    Stay {
        revises: Option<u32>,
        ends: bool,
        total: Option<u32>,
        long: bool,
    },
    Fork(u32),
    Switch(usize),
    Score(usize, f64),
    SelectBest,
    Prune(usize),
    Merge(Vec<usize>, usize, ConflictRule),
    Change(StrategyName),
    Part(StrategyName),
}

fn act() -> impl Strategy<Value = Act> {
    let rule = prop::sample::select(vec![
        ConflictRule::KeepTarget,
        ConflictRule::TakeSource,
        ConflictRule::HighestScore,
        ConflictRule::Refuse,
    ]);

    let name = || prop::sample::select(&StrategyName::ALL[..]);
    let stay = (
        prop::option::of(0..30_u32),
        prop::bool::weighted(0.1),
        prop::option::of(0..40_u32),
        any::<bool>(),
    );

    prop_oneof![
        10 => (0..4_usize).prop_map(Act::Move),
        2 => (0..12_usize).prop_map(Act::Illegal),
        3 => stay.prop_map(|(revises, ends, total, long)| Act::Stay { revises, ends, total, long }),
        3 => (0..30_u32).prop_map(Act::Fork),
        3 => (0..8_usize).prop_map(Act::Switch),
        2 => ((0..8_usize), -1.0..11.0).prop_map(|(branch, score)| Act::Score(branch, score)),
        1 => Just(Act::SelectBest),
        1 => (0..8_usize).prop_map(Act::Prune),
        2 => (prop::collection::vec(0..8_usize, 0..3), 0..8_usize, rule).prop_map(|(s, t, r)| Act::Merge(s, t, r)),
        1 => name().prop_map(Act::Change),
        1 => name().prop_map(Act::Part),
    ]
}

/// Returns the result as text, so that all kinds of acts can be compared.
fn done(session: &mut Session, act: &Act, number: usize) -> Result<String, SessionError> {
    let branch = |index: &usize| session.branches()[index % session.branches().len()].id();
    let current = session.current();
    let text = format!("thought {number}");

    match act {
        Act::Move(index) => {
            let allowed: Vec<Stage> = session.allowed(current)?.into_iter().cloned().collect();
            match allowed.get(index % allowed.len().max(1)) {
                Some(stage) => {
                    let mut draft = draft(stage, &text);

                    // Different values on each branch.
                    for value in draft
                        .parameters
                        .values_mut()
                        .filter(|value| value.is_string())
                    {
                        *value = json!(text);
                    }

                    session.think(draft).map(|id| id.to_string())
                }
                None => Ok("the end".to_owned()),
            }
        }
        Act::Illegal(index) => {
            let stages = session.strategy().stages();
            let draft = draft(&stages[index % stages.len()].clone(), &text);
            session.think(draft).map(|id| id.to_string())
        }
        Act::Stay {
            revises,
            ends,
            total,
            long,
        } => {
            let mut draft = ThoughtDraft::here(if *long { text.repeat(40) } else { text });
            draft.revises = revises.map(ThoughtId::new);
            draft.total_thoughts = *total;
            draft.next_thought_needed = !ends;

            session.think(draft).map(|id| id.to_string())
        }
        Act::Fork(from) => session
            .fork(ThoughtId::new(*from), text)
            .map(|id| id.to_string()),
        Act::Switch(index) => session.switch(branch(index)).map(|()| String::new()),
        Act::Score(index, score) => session.score(branch(index), *score).map(|()| String::new()),
        Act::SelectBest => session.select_best().map(|id| id.to_string()),
        Act::Prune(index) => session.prune(branch(index)).map(|()| String::new()),
        Act::Merge(sources, into, rule) => {
            let sources: Vec<BranchId> = sources.iter().map(branch).collect();
            session
                .merge(&sources, branch(into), *rule, ThoughtDraft::here(text))
                .map(|id| id.to_string())
        }
        Act::Change(name) => session
            .change_strategy(current, *name, ThoughtDraft::here(text))
            .map(|id| id.to_string()),
        Act::Part(name) => session
            .begin_part(current, *name, ThoughtDraft::here(text))
            .map(|id| id.to_string()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// A refusal changes nothing, a snapshot restores the session, and the restored session behaves the
    /// same from then on.
    #[test]
    fn sessions_go_on_identically(
        name in prop::sample::select(&StrategyName::ALL[..]),
        acts in prop::collection::vec(act(), 1..50),
        at in any::<prop::sample::Index>(),
        early in any::<bool>(),
    ) {
        let mut policy = SessionPolicy::default();
        policy.early_end = if early { EndRule::Allow } else { EndRule::Refuse };
        let mut session = Session::with_policy(name, policy);
        let mut again = None;
        for (number, act) in acts.iter().enumerate() {
            if number == at.index(acts.len()) {
                again = Some(restored(&session));
            }
            let before = session.clone();
            let answer = done(&mut session, act, number);
            if answer.is_err() {
                prop_assert_eq!(&session, &before, "a refusal changes nothing: {:?}", act);
            }
            if let Some(again) = &mut again {
                prop_assert_eq!(done(again, act, number), answer);
                prop_assert_eq!(&*again, &session);
            }
        }
        prop_assert_eq!(&restored(&session), &session);
    }

    /// A modified snapshot is refused or read, and never causes a panic.
    #[test]
    fn changed_snapshots_do_no_harm(
        acts in prop::collection::vec(act(), 1..25),
        at in any::<prop::sample::Index>(),
        put in prop::sample::select(vec![json!(null), json!(0), json!(1), json!(4_294_967_295_u32), json!(-1), json!(1e300), json!("x"), json!("move"), json!("react"), json!([]), json!({}), json!(true)]),
    ) {
        let mut session = Session::new(StrategyName::Linear);
        for (number, act) in acts.iter().enumerate() {
            let _ = done(&mut session, act, number);
        }
        let mut snapshot = serde_json::to_value(&session).unwrap();
        // Tables have separate tests.
        let tables = snapshot.as_object_mut().unwrap().remove("strategies").unwrap();
        let count = leaves(&mut snapshot).len();
        *leaves(&mut snapshot).swap_remove(at.index(count)) = put;
        if let Some(snapshot) = snapshot.as_object_mut() {
            snapshot.insert("strategies".to_owned(), tables);
        }
        match Session::from_json(&snapshot.to_string()) {
            Ok(read) => prop_assert_eq!(restored(&read), read),
            Err(error) => prop_assert!(error.to_string().chars().all(|c| !c.is_control())),
        }
    }
}

/// Returns all scalar values inside a value.
fn leaves(value: &mut Value) -> Vec<&mut Value> {
    let is_leaf = match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => true,
    };

    if is_leaf {
        return vec![value];
    }

    match value {
        Value::Array(list) => list.iter_mut().flat_map(leaves).collect(),
        Value::Object(object) => object.values_mut().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

/// Returns a session with a fork and a merge.
fn sample() -> Session {
    let mut session = Session::new(StrategyName::Rewoo);
    let ids = walk(&mut session, &["problem_reception", "planning_phase"]);
    let other = session.fork(ids[0], "other").unwrap();
    session
        .think_on(
            other,
            ThoughtDraft::at("planning_phase", "otherwise").with("plan", json!(["b"])),
        )
        .unwrap();

    session
        .merge(
            &[other],
            BranchId::MAIN,
            ConflictRule::TakeSource,
            ThoughtDraft::here("joined"),
        )
        .unwrap();

    session
}

#[test]
fn the_form() {
    let mut snapshot = serde_json::to_value(sample()).unwrap();
    snapshot["strategies"]["rewoo"] = json!("…");
    insta::assert_json_snapshot!(snapshot);
}

#[test]
fn what_is_no_session_is_refused() {
    type Change = fn(&mut Value);

    let changes: [(&str, Change); 22] = [
        ("another version", |s| s["version"] = json!(2)),
        ("an unknown key", |s| s["verison"] = json!(1)),
        ("an unknown strategy", |s| s["strategy"] = json!("rewo")),
        ("a strategy nobody uses", |s| {
            s["strategies"]["mine"] = json!({"description": "d", "stages": {"a": {"description": "d", "prompt": "p", "final": true}}});
        }),
        ("a table that is not whole", |s| {
            s["strategies"]["rewoo"]["stages"]["planning_phase"]["next"] = json!(["x"])
        }),
        ("an illegal move", |s| {
            s["thoughts"][1]["stage"] = json!("solving_phase")
        }),
        ("a stage that is none", |s| {
            s["thoughts"][1]["stage"] = json!("x\u{1b}[31m")
        }),
        ("a stay elsewhere", |s| {
            s["thoughts"][3]["stage"] = json!("working_phase")
        }),
        ("a missing parameter", |s| {
            s["thoughts"][1]["parameters"] = json!({})
        }),
        ("a mistyped parameter", |s| {
            s["thoughts"][1]["parameters"]["plan"] = json!("all")
        }),
        ("an id out of order", |s| s["thoughts"][1]["id"] = json!(3)),
        ("a number out of order", |s| {
            s["thoughts"][2]["number"] = json!(2)
        }),
        ("a branch that is not there", |s| {
            s["thoughts"][2]["branch"] = json!(2)
        }),
        ("a branch from nowhere", |s| {
            s["branches"][1]["from"] = json!(9)
        }),
        ("a branch from its own future", |s| {
            s["branches"][1]["from"] = json!(3)
        }),
        ("a branch without an origin", |s| {
            s["branches"][1]["from"] = json!(null)
        }),
        ("two branches of one name", |s| {
            s["branches"][1]["name"] = json!("main")
        }),
        ("no main branch", |s| s["branches"] = json!([])),
        ("a current branch that is closed", |s| {
            s["current"] = json!(1)
        }),
        ("a score out of range", |s| {
            s["branches"][0]["score"] = json!(11)
        }),
        ("a total below the thoughts", |s| {
            s["branches"][0]["total_thoughts"] = json!(1)
        }),
        ("another merge", |s| {
            s["thoughts"][3]["merged"]["values"]["plan"] = json!(["c"])
        }),
    ];

    let told: Vec<String> = changes
        .into_iter()
        .map(|(what, change)| {
            let mut snapshot = serde_json::to_value(sample()).unwrap();
            change(&mut snapshot);
            let error = Session::from_json(&snapshot.to_string())
                .unwrap_err()
                .to_string();
            let told = error
                .split_once(": line 1, column ")
                .map_or(error.clone(), |(_, rest)| {
                    rest.split_once(": ")
                        .map_or(error.clone(), |(_, message)| message.to_owned())
                });

            format!("{what}:\n    {told}")
        })
        .collect();

    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn texts_that_are_no_snapshot() {
    insta::assert_snapshot!(Session::from_json("").unwrap_err(), @"snapshot: line 1, column 0: EOF while parsing a value");
    insta::assert_snapshot!(Session::from_json("{\"version\": 1,\n \"strategy\": 5}").unwrap_err(), @"snapshot: line 2, column 14: invalid type: integer `5`, expected a string");
    let deep = "[".repeat(1_000_000);
    insta::assert_snapshot!(Session::from_json(&deep).unwrap_err(), @"snapshot: line 1, column 1: invalid type: sequence, expected u32");
}
