//! The limits of a session.

use crate::support;

use cogwork_strategies::{
    Session, SessionError, SessionLimit, SessionPolicy, StrategyName, ThoughtDraft,
};
use support::walk;

fn full(limit: SessionLimit, most: usize) -> SessionError {
    SessionError::Full { limit, most }
}

#[test]
fn thoughts_and_branches() {
    let mut policy = SessionPolicy::default();
    policy.max_thoughts = 3;
    policy.max_branches = 2;

    let mut session = Session::with_policy(StrategyName::Linear, policy);
    let ids = walk(
        &mut session,
        &[
            "problem_reception",
            "initial_thought_planning",
            "thought_generation",
        ],
    );

    let before = session.clone();
    assert_eq!(
        session.think(ThoughtDraft::here("4")),
        Err(full(SessionLimit::Thoughts, 3))
    );
    assert_eq!(session, before);
    assert_eq!(
        full(SessionLimit::Thoughts, 3).to_string(),
        "the limit of 3 thoughts is reached"
    );

    session.fork(ids[0], "one").unwrap();
    let before = session.clone();
    assert_eq!(
        session.fork(ids[0], "two"),
        Err(full(SessionLimit::Branches, 2))
    );
    assert_eq!(session, before);
}
