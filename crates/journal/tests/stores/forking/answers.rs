use cogwork_flow::{Action, Flow, Wait};
use cogwork_journal::{Fork, RunJournal};

use crate::each::{Tested, for_each_store};

for_each_store! {
    answers_that_were_used_before_the_fork_are_kept,
    a_run_that_waits_is_copied_with_its_wait,
    an_answer_that_arrived_early_is_kept,
    the_answer_to_a_wait_can_be_different,
}

/// Asks for three names one after the other.
fn names() -> Flow<Vec<String>> {
    let ask = || {
        let wait = Wait::for_event("name", |names: &mut Vec<String>, name: String| {
            names.push(name);
            Action::from_static(if names.len() < 3 { "more" } else { "enough" })
        });
        wait.with_actions(["more", "enough"])
    };

    Flow::builder("names")
        .start("ask")
        .wait("ask", ask())
        .edge("ask", "more", "ask")
        .end("ask", "enough")
        .build()
        .unwrap()
}

/// Executes a run until it ends or waits. Returns the names so far.
async fn execute(journal: RunJournal) -> Vec<String> {
    let flow = names();
    let mut names: Vec<String> = journal.state().unwrap();
    let ended = flow.begin().with_journal(journal).finish(&mut names).await;
    if let Err(error) = ended {
        assert!(error.paused().is_some(), "{error}");
    }
    names
}

/// Starts the run `a`, and answers as often as there are names, each time it waits.
async fn answered<S: Tested>(store: &S, names_given: &[&str]) {
    let journal = store.start("a", &names(), &Vec::<String>::new()).await;
    execute(journal.unwrap()).await;

    for name in names_given {
        store.deliver("a", "name", name).await.unwrap();
        execute(store.resume("a", &names()).await.unwrap()).await;
    }
}

async fn answers_that_were_used_before_the_fork_are_kept<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    answered(&store, &["Ada", "Grace", "Barbara"]).await;

    for (step, kept) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        let journal = store.fork("a", &names(), Fork::at(step)).await.unwrap();
        let names = execute(journal).await;
        assert_eq!(names, ["Ada", "Grace", "Barbara"][..kept]);
    }
}

async fn a_run_that_waits_is_copied_with_its_wait<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    answered(&store, &["Ada"]).await;

    let fork = Fork::at_end().with_run_id("b");
    drop(store.fork("a", &names(), fork).await.unwrap());
    let runs = store.runs().await.unwrap();
    for run in &runs {
        let waits = run.status.waits();
        assert_eq!((waits.len(), waits[0].step.as_str()), (1, "names/ask#2"));
    }

    // An answer to one of them isn't one to the other.
    store.deliver("b", "name", &"Hedy").await.unwrap();
    let forked = execute(store.resume("b", &names()).await.unwrap()).await;
    assert_eq!(forked, ["Ada", "Hedy"]);
    let original = execute(store.resume("a", &names()).await.unwrap()).await;
    assert_eq!(original, ["Ada"]);
}

async fn an_answer_that_arrived_early_is_kept<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    drop(
        store
            .start("a", &names(), &Vec::<String>::new())
            .await
            .unwrap(),
    );
    for name in ["Ada", "Grace", "Barbara"] {
        store.deliver("a", "name", &name).await.unwrap();
    }
    execute(store.resume("a", &names()).await.unwrap()).await;

    for step in 1..=4 {
        let journal = store.fork("a", &names(), Fork::at(step)).await.unwrap();
        assert_eq!(execute(journal).await, ["Ada", "Grace", "Barbara"]);
    }

    let fork = Fork::at(2).with_state(|names: &mut Vec<String>| names.push("Hedy".to_owned()));
    let journal = store.fork("a", &names(), fork).await.unwrap();
    assert_eq!(execute(journal).await, ["Ada", "Hedy", "Grace"]);
}

async fn the_answer_to_a_wait_can_be_different<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    answered(&store, &["Ada", "Grace", "Barbara"]).await;

    let fork = Fork::at(2).with_outcome(&"Hedy");
    let journal = store.fork("a", &names(), fork).await.unwrap();
    assert_eq!(execute(journal).await, ["Ada", "Hedy"]);

    let fork = Fork::at(3).with_outcome(&"Hedy");
    let journal = store.fork("a", &names(), fork).await.unwrap();
    assert_eq!(execute(journal).await, ["Ada", "Grace", "Hedy"]);
}
