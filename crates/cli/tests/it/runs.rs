//! The command `runs`.

use std::path::Path;

use cogwork_flow::{BoxError, Flow, from_phases};
use cogwork_journal::Store;

use crate::support::Place;

fn flow() -> Flow<u32> {
    let node = from_phases(
        |n: &mut u32| *n,
        |n: u32| async move { Ok::<_, BoxError>(n + 1) },
        |n, more| *n = more,
    );

    Flow::builder("add")
        .start("one")
        .node("one", node)
        .end("one", "default")
        .build()
        .unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn record(folder: &Path) {
    let store = Store::files(folder);
    let flow = flow();
    drop(store.start("begun", &flow, &1).await.unwrap());

    let journal = store.start("ended\u{1b}[2J", &flow, &1).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut 1).await.unwrap();
}

fn masked(text: &str) -> String {
    let is_time = |word: &str| word.len() >= 24 && word.starts_with("20") && word.contains('T');
    let words = text.split_inclusive([' ', '\n']);
    let mask = |word: &str| {
        if is_time(word) {
            format!("TIME{}", word.split_at(24).1)
        } else {
            word.to_owned()
        }
    };
    words.map(mask).collect()
}

#[test]
fn runs_and_what_is_recorded_of_one_are_listed_with_their_times() {
    let place = Place::new();
    record(&place.path("runs"));
    let runs = ["runs", "--journal", "runs"];

    let told = place.cogwork(&runs);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    insta::assert_snapshot!(masked(&told.out), @r"
    begun: `add`, started TIME, updated TIME: open
    ended\u{1b}[2J: `add`, started TIME, updated TIME: ended on `default` after 1 step
    ");

    let told = place.cogwork(&[&runs[..], &["ended\u{1b}[2J"]].concat());
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    insta::assert_snapshot!(masked(&told.out), @r"
    TIME  the run began
    TIME  add/one#1: outcome of 1 bytes
    TIME  ended on `default` after 1 step
    ");
}

#[test]
fn a_place_or_a_run_that_is_not_there_is_an_error() {
    for (more, problem) in [
        (&[][..], "runs: there is nothing here"),
        (&["7"], "there is no run `7`"),
    ] {
        let told = Place::new().cogwork(&[&["runs", "--journal", "runs"], more].concat());
        assert_eq!((told.code, told.out.as_str()), (4, ""));
        assert!(told.err.contains(problem), "{told:?}");
    }
}
