use cogwork_flow::engine::Journal;
use cogwork_journal::{Fork, RunStatus, StoreErrorKind};

use super::{finish, finish_fork, recorded, steps};
use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, undisturbed};

for_each_store! {
    a_fork_at_the_end_makes_no_call,
    a_fork_is_made_at_a_visit_to_a_node,
    a_different_outcome_replaces_the_recorded_one,
    the_outcome_of_one_item_can_be_different,
    forks_are_numbered_and_listed_with_their_origin,
    a_fork_can_be_resumed_and_forked_again,
}

async fn a_fork_at_the_end_makes_no_call<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;
    let work = finish_fork(&store, &flow, Fork::at_end()).await.unwrap();

    assert_eq!(work, undisturbed(3).await);
    assert_eq!(steps(&calls), Vec::<String>::new());

    let ended = |status: &RunStatus| matches!(status, RunStatus::Ended { steps: 7, .. });
    let runs = store.runs().await.unwrap();
    assert!(runs.len() == 2 && runs.iter().all(|run| ended(&run.status)));
}

async fn a_fork_is_made_at_a_visit_to_a_node<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;
    let visits = [("gather", 3, 3), ("double", 1, 4), ("adding/add", 2, 6)];

    for (node, number, step) in visits {
        let fork = Fork::at_visit(node, number).with_run_id(node);
        drop(store.fork("a", &flow, fork).await.unwrap());
        let runs = store.runs().await.unwrap();
        let run = runs.iter().find(|run| run.run_id == node).unwrap();
        assert_eq!(run.fork.as_ref().unwrap().step, step);
    }

    for (node, number) in [("gather", 0), ("gather", 4), ("add", 1), ("", 1)] {
        let fork = Fork::at_visit(node, number);
        let error = store.fork("a", &flow, fork).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::UnknownStep);
        if number == 4 {
            insta::assert_snapshot!(S::told(error, folder.path()), @"STORE: the run `a` cannot be forked: visit 4 to the node `gather` isn't on record; 3 are on record; expected `adding/add`, `double` or `gather`");
        }
    }
}

async fn a_different_outcome_replaces_the_recorded_one<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;

    let fork = Fork::at(2).with_outcome(&100);
    let work = finish_fork(&store, &flow, fork).await.unwrap();
    assert_eq!(work.numbers, [2, 101, 4]);
    assert_eq!(
        steps(&calls)[..2],
        ["work/adding/add#5", "work/adding/add#6"]
    );

    let fork = Fork::at(7).with_outcome(&1_000);
    let work = finish_fork(&store, &flow, fork).await.unwrap();
    assert_eq!(work.total, undisturbed(3).await.total - 5 + 1_000);
    assert_eq!(steps(&calls), Vec::<String>::new());
}

async fn the_outcome_of_one_item_can_be_different<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;

    let fork = Fork::at(4)
        .with_outcome_of("work/double#4[0]", &10)
        .with_outcome_of("work/double#4[2]", &30);
    let work = finish_fork(&store, &flow, fork).await.unwrap();
    assert_eq!(work.numbers, [10, 3, 30]);
    assert_eq!(
        steps(&calls),
        [
            "work/adding/add#5",
            "work/adding/add#6",
            "work/adding/add#7"
        ]
    );
}

async fn forks_are_numbered_and_listed_with_their_origin<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;

    let fork = || Fork::at(4).with_outcome_of("work/double#4[1]", &1);
    let first = store.fork("a", &flow, fork()).await.unwrap();
    let second = store.fork("a", &flow, fork()).await.unwrap();
    assert_eq!((first.run_id(), second.run_id()), ("a fork 1", "a fork 2"));
    drop((first, second));

    let edit = Fork::at(3).with_state(|work: &mut Work| work.rounds = 9);
    let fork = edit.with_run_id("b");
    drop(store.fork("a", &flow, fork).await.unwrap());

    let runs = store.runs().await.unwrap();
    let origins: Vec<_> = runs
        .iter()
        .map(|run| match &run.fork {
            Some(origin) => format!("{}: {origin}", run.run_id),
            None => run.run_id.clone(),
        })
        .collect();
    insta::assert_snapshot!(origins.join("\n"), @r"
    a
    a fork 1: `a` at step 4, with a different outcome of `work/double#4[1]`
    a fork 2: `a` at step 4, with a different outcome of `work/double#4[1]`
    b: `a` at step 3, with an edited state
    ");
    assert!(
        runs[1..]
            .iter()
            .all(|run| matches!(run.status, RunStatus::Open { .. }))
    );

    let origin = runs[1].fork.as_ref().unwrap();
    assert_eq!((origin.run_id.as_str(), origin.step), ("a", 4));
    assert_eq!(origin.edited_outcomes, ["work/double#4[1]"]);
    assert!(!origin.edited_state);
}

async fn a_fork_can_be_resumed_and_forked_again<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;

    let fork = Fork::at(2).with_outcome(&100).with_run_id("b");
    drop(store.fork("a", &flow, fork).await.unwrap());
    let journal = store.resume("b", &flow).await.unwrap();
    assert_eq!(finish(&flow, journal).await.numbers, [2, 101, 4]);

    let fork = Fork::at(6).with_run_id("c");
    let journal = store.fork("b", &flow, fork).await.unwrap();
    steps(&calls);
    assert_eq!(finish(&flow, journal).await.numbers, [2, 101, 4]);
    assert_eq!(steps(&calls), ["work/adding/add#6", "work/adding/add#7"]);

    // The input is that of the first run.
    let again = store.start_or_resume("c", &flow, &Work::of(3)).await;
    assert_eq!(again.unwrap().input::<Work>().unwrap(), Work::of(3));
}
