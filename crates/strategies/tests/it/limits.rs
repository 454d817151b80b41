//! The limits of a session, and its behaviour when it is full.

use crate::support;

use cogwork_strategies::{
    BranchId, ConflictRule, Session, SessionError, SessionLimit, SessionLimits, SessionPolicy,
    StrategyName, ThoughtDraft, ThoughtId, WhenFull,
};
use support::walk;

fn session(limits: SessionLimits, when_full: WhenFull) -> Session {
    let mut policy = SessionPolicy::default();
    (policy.limits, policy.when_full) = (limits, when_full);
    Session::with_policy(StrategyName::Linear, policy)
}

fn full(limit: SessionLimit, most: usize) -> SessionError {
    SessionError::Full { limit, most }
}

#[test]
fn thoughts_and_branches() {
    let mut session = session(
        SessionLimits::default().with_thoughts(3).with_branches(2),
        WhenFull::Refuse,
    );
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

#[test]
fn bytes_are_refused_by_default() {
    let mut session = session(
        SessionLimits::default().with_bytes(10_000),
        WhenFull::Refuse,
    );
    session
        .think(ThoughtDraft::here("x".repeat(5_000)))
        .unwrap();
    let before = session.clone();
    assert_eq!(
        session.think(ThoughtDraft::here("x".repeat(5_000))),
        Err(full(SessionLimit::Bytes, 10_000))
    );
    assert_eq!(session, before);
    assert!(session.bytes() > 5_000);

    // Parameters count too.
    let long = ThoughtDraft::here("x").with("x", "y");
    assert!(matches!(session.think(long), Err(SessionError::Refused(_))));
}

#[test]
fn pruned_branches_are_forgotten_where_the_policy_says_so() {
    let mut session = session(
        SessionLimits::default().with_bytes(12_000),
        WhenFull::ForgetPruned,
    );
    let root = session.think(ThoughtDraft::here("root")).unwrap();
    let [given_up, kept] = ["given up", "kept"].map(|name| session.fork(root, name).unwrap());
    let shared = session
        .think_on(given_up, ThoughtDraft::here("s".repeat(2_000)))
        .unwrap();
    let lost = session
        .think_on(given_up, ThoughtDraft::here("l".repeat(6_000)))
        .unwrap();

    session.think_on(kept, ThoughtDraft::here("kept")).unwrap();

    // What another branch stands on stays, also on a branch that was given up.
    session.fork(shared, "child").unwrap();

    let before = session.clone();
    let more = ThoughtDraft::here("m".repeat(5_000));
    assert_eq!(
        session.think(more.clone()),
        Err(full(SessionLimit::Bytes, 12_000)),
        "nothing was given up yet"
    );

    session.prune(given_up).unwrap();
    assert_eq!(
        session.think(ThoughtDraft::here("m".repeat(50_000))),
        Err(full(SessionLimit::Bytes, 12_000))
    );
    assert_eq!(
        session.thought(lost).unwrap().text(),
        before.thought(lost).unwrap().text()
    );

    session.think(more.clone()).unwrap();
    let forgotten: Vec<ThoughtId> = session
        .thoughts()
        .iter()
        .filter(|thought| thought.is_forgotten())
        .map(|thought| thought.id())
        .collect();

    assert_eq!(forgotten, [lost]);
    assert_eq!(session.thought(lost).unwrap().text(), "");
    assert_eq!(session.path(lost).count(), 3, "its place stays");
    assert_eq!(
        session.fork(lost, "late"),
        Err(SessionError::Forgotten { thought: lost })
    );
    assert_eq!(
        SessionError::Forgotten { thought: lost }.to_string(),
        "thought 3 was forgotten; expected one that still has its text"
    );
    assert_eq!(
        session.think(more),
        Err(full(SessionLimit::Bytes, 12_000)),
        "there is nothing more to forget"
    );

    assert_eq!(
        Session::from_json(&serde_json::to_string(&session).unwrap()).unwrap(),
        session
    );
}

#[test]
fn merged_branches_stay_while_the_target_does() {
    let mut session = session(
        SessionLimits::default().with_bytes(9_000),
        WhenFull::ForgetPruned,
    );
    let root = session.think(ThoughtDraft::here("root")).unwrap();
    let [source, other] = ["source", "other"].map(|name| session.fork(root, name).unwrap());
    let told = session
        .think_on(source, ThoughtDraft::here("s".repeat(3_000)))
        .unwrap();

    session
        .think_on(other, ThoughtDraft::here("o".repeat(3_000)))
        .unwrap();
    session
        .merge(
            &[source],
            BranchId::MAIN,
            ConflictRule::KeepTarget,
            ThoughtDraft::here("joined"),
        )
        .unwrap();

    session.prune(other).unwrap();
    session
        .think(ThoughtDraft::here("m".repeat(3_000)))
        .unwrap();
    assert!(!session.thought(told).unwrap().is_forgotten());
    assert_eq!(
        Session::from_json(&serde_json::to_string(&session).unwrap()).unwrap(),
        session
    );
}

#[test]
fn limits_have_limits() {
    let most = SessionLimits::default()
        .with_thoughts(usize::MAX)
        .with_branches(usize::MAX)
        .with_bytes(usize::MAX);
    assert_eq!(most, SessionLimits::MAX);
}
