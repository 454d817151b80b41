//! Removing the last thought, and forks that are only made with their first thought.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may")]

use cogwork_strategies::{
    BranchId, BranchStatus, Session, SessionError, SessionPolicy, StrategyName, ThoughtDraft,
};

use crate::support::walk;

fn restored(session: &Session) -> Session {
    serde_json::from_str(&serde_json::to_string(session).unwrap()).unwrap()
}

#[test]
fn undo_returns_to_the_session_before_the_thought() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    let mut states = vec![session.clone()];
    let mut stage = Some(session.strategy().start().name().to_owned());

    while let Some(next) = stage {
        walk(&mut session, &[&next]);
        states.push(session.clone());
        let allowed = session.allowed(session.current()).unwrap();
        stage = allowed.first().map(|stage| stage.name().to_owned());
    }

    assert!(session.is_complete());
    for before in states.iter().rev().skip(1) {
        session.undo().unwrap();
        assert_eq!(session.thoughts(), before.thoughts());
        assert_eq!(session.is_complete(), before.is_complete());
        assert_eq!(session.stage(), before.stage());
        assert_eq!(restored(&session), session);
    }
    assert_eq!(session.undo(), Err(SessionError::NothingToUndo));
}

#[test]
fn a_merge_that_is_undone_opens_its_sources() {
    let mut session = Session::new(StrategyName::Linear);
    let first = walk(&mut session, &["problem_reception"])[0];
    let side = session.fork(first, "side").unwrap();
    let draft = ThoughtDraft::here("joined");
    let joined = session.merge(&[side], BranchId::MAIN, draft).unwrap();
    let status = |session: &Session| session.branch(side).unwrap().status();
    assert_eq!(status(&session), BranchStatus::Merged(joined));

    assert_eq!(session.undo().unwrap().id(), joined);

    assert_eq!(status(&session), BranchStatus::Open);
    session.think_on(side, ThoughtDraft::here("on")).unwrap();
    assert_eq!(restored(&session), session);
}

#[test]
fn an_end_that_is_undone_opens_its_branch() {
    let mut policy = SessionPolicy::default();
    policy.allows_early_end = true;
    let mut session = Session::with_policy(StrategyName::Linear, policy);
    session.think(ThoughtDraft::here("all").ends()).unwrap();

    session.undo().unwrap();

    assert!(!session.is_complete());
    session.think(ThoughtDraft::here("not all")).unwrap();
}

#[test]
fn a_thought_that_others_build_on_cannot_be_undone() {
    let mut session = Session::new(StrategyName::Linear);
    let first = walk(&mut session, &["problem_reception"])[0];
    let side = session.fork(first, "side").unwrap();

    let refused = session.undo().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "thought 1 cannot be undone, since the branch `side` was forked from it; fork an earlier thought instead",
    );

    session.think_on(side, ThoughtDraft::here("on")).unwrap();
    session.prune(side).unwrap();
    let before = session.clone();
    let refused = session.undo().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the branch `side` is pruned; expected an open one"
    );
    assert_eq!(session, before);
}

#[test]
fn a_refused_first_thought_leaves_no_branch() {
    let mut session = Session::new(StrategyName::React);
    let first = walk(&mut session, &["problem_reception"])[0];
    let before = session.clone();

    let draft = ThoughtDraft::at("final_response", "done");
    let refused = session.think_from(first, "side", draft).unwrap_err();
    assert!(matches!(refused, SessionError::Refused(_)));
    assert_eq!(session, before);
    assert!(session.branch_named("side").is_none());

    let draft = ThoughtDraft::at("initial_reasoning", "another way");
    let added = session.think_from(first, "side", draft).unwrap();
    assert_eq!(session.thought(added).unwrap().parent(), Some(first));
    assert_eq!(session.current(), BranchId::MAIN);
}
