//! Snapshots: a restored session behaves like the original, and invalid snapshots are refused.

use crate::support;

use cogwork_strategies::session::{BranchId, Session, SessionError, ThoughtDraft, ThoughtId};
use cogwork_strategies::{Stage, StrategyName};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{draft, walk};

fn restored(session: &Session) -> Session {
    serde_json::from_str(&serde_json::to_string(session).unwrap()).unwrap()
}

#[derive(Debug, Clone)]
enum Act {
    Move(usize),
    Illegal(usize),
    Stay { revises: Option<usize>, long: bool },
    Fork(usize),
    Switch(usize),
    Score(usize, f64),
    SelectBest,
    Prune(usize),
    Merge(Vec<usize>, usize),
    Undo,
}

fn act() -> impl Strategy<Value = Act> {
    let stay = (prop::option::of(0..30_usize), any::<bool>());

    prop_oneof![
        10 => (0..4_usize).prop_map(Act::Move),
        2 => (0..12_usize).prop_map(Act::Illegal),
        3 => stay.prop_map(|(revises, long)| Act::Stay { revises, long }),
        3 => (0..30_usize).prop_map(Act::Fork),
        3 => (0..8_usize).prop_map(Act::Switch),
        2 => ((0..8_usize), -1.0..11.0).prop_map(|(branch, score)| Act::Score(branch, score)),
        1 => Just(Act::SelectBest),
        1 => (0..8_usize).prop_map(Act::Prune),
        2 => (prop::collection::vec(0..8_usize, 0..3), 0..8_usize).prop_map(|(s, t)| Act::Merge(s, t)),
        2 => Just(Act::Undo),
    ]
}

/// Returns the result as text, so that all kinds of acts can be compared.
fn done(session: &mut Session, act: &Act, number: usize) -> Result<String, SessionError> {
    let branch = |index: &usize| session.branches()[index % session.branches().len()].id;
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
        Act::Stay { revises, long } => {
            let mut draft = ThoughtDraft::here(if *long { text.repeat(40) } else { text });
            draft.revises = revises.map(ThoughtId);

            session.think(draft).map(|id| id.to_string())
        }
        Act::Fork(from) => session
            .fork(ThoughtId(*from), text)
            .map(|id| id.to_string()),
        Act::Switch(index) => session.switch(branch(index)).map(|()| String::new()),
        Act::Score(index, score) => session.score(branch(index), *score).map(|()| String::new()),
        Act::SelectBest => session.select_best().map(|id| id.to_string()),
        Act::Prune(index) => session.prune(branch(index)).map(|()| String::new()),
        Act::Merge(sources, into) => {
            let sources: Vec<BranchId> = sources.iter().map(branch).collect();
            session
                .merge(&sources, branch(into), ThoughtDraft::here(text))
                .map(|id| id.to_string())
        }
        Act::Undo => session.undo().map(|thought| thought.id.to_string()),
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
    ) {
        let mut session = Session::new(name);
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
        .merge(&[other], BranchId::MAIN, ThoughtDraft::here("joined"))
        .unwrap();

    session
}

#[test]
fn the_form() {
    let mut snapshot = serde_json::to_value(sample()).unwrap();
    snapshot["strategy"] = json!("…");
    insta::assert_json_snapshot!(snapshot);
}

#[test]
fn what_is_no_session_is_refused() {
    type Change = fn(&mut Value);

    let changes: [(&str, Change); 9] = [
        ("an unknown key", |s| s["verison"] = json!(1)),
        ("no table", |s| s["strategy"] = json!({})),
        ("a table without its start", |s| {
            s["strategy"]["start"] = json!("x")
        }),
        ("an id out of order", |s| s["thoughts"][1]["id"] = json!(3)),
        ("a branch that is not there", |s| {
            s["thoughts"][2]["branch"] = json!(2)
        }),
        ("a branch from nowhere", |s| {
            s["branches"][1]["from"] = json!(9)
        }),
        ("no main branch", |s| s["branches"] = json!([])),
        ("no current branch", |s| s["current"] = json!(2)),
        ("a thought that follows itself", |s| {
            s["thoughts"][1]["parent"] = json!(2)
        }),
    ];

    let told = changes.map(|(what, change)| {
        let mut snapshot = serde_json::to_value(sample()).unwrap();
        change(&mut snapshot);
        let error = serde_json::from_value::<Session>(snapshot).unwrap_err();
        format!("{what}:\n    {error}")
    });
    insta::assert_snapshot!(told.join("\n"));
}
