//! Answers to a run that waits for several events at once.

use cogwork_flow::{Action, Each, Flow, Wait};
use cogwork_journal::{Store, StoreErrorKind};
use futures_util::future::join_all;

use crate::each::Tested;

crate::each::for_each_store!(
    the_waits_without_an_answer_stay_listed,
    of_several_answers_to_a_step_one_is_accepted,
);

/// Asks for a number for each name, all at once.
pub(crate) fn asking() -> Flow<Vec<String>> {
    let wait = Wait::for_event("ev", |said: &mut String, number: u32| {
        said.push_str(&number.to_string());
    });
    let item = Flow::builder("item").wait("ask", wait.with_key(String::clone));
    let item = item.chain(["ask"]).build().unwrap();

    let each = Each::at_most(3, item, Vec::clone, |all, done| *all = done);
    let flow = Flow::builder("asking").each("each", each);
    flow.end("each", Action::DEFAULT)
        .start("each")
        .build()
        .unwrap()
}

/// Continues the run until it waits, fails or ends.
async fn go_on(store: &Store, flow: &Flow<Vec<String>>) {
    let names: Vec<_> = ["a", "b", "c"].map(str::to_owned).into();
    let journal = store.start_or_resume("a", flow, &names).await.unwrap();
    let mut state: Vec<String> = journal.state().unwrap();
    let _ = flow.begin().with_journal(journal).finish(&mut state).await;
}

async fn status(store: &Store) -> String {
    store.runs().await.unwrap().remove(0).status.to_string()
}

async fn the_waits_without_an_answer_stay_listed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = asking();
    go_on(&store, &flow).await;
    insta::assert_snapshot!(status(&store).await, @"waits for `ev a`, `ev b` and `ev c`");

    store.deliver("a", "ev b", &2).await.unwrap();
    insta::assert_snapshot!(status(&store).await, @"open, waits for `ev a` and `ev c`");
    // The flow cannot read this one.
    store.deliver("a", "ev a", &"one").await.unwrap();
    insta::assert_snapshot!(status(&store).await, @"open, waits for `ev c`");

    go_on(&store, &flow).await;
    go_on(&store, &flow).await;
    insta::assert_snapshot!(status(&store).await, @"waits for `ev a` and `ev c`");

    store.deliver("a", "ev a", &1).await.unwrap();
    store.deliver("a", "ev c", &3).await.unwrap();
    insta::assert_snapshot!(status(&store).await, @"open");
    go_on(&store, &flow).await;
    insta::assert_snapshot!(status(&store).await, @"ended on `default` after 4 steps");
}

async fn of_several_answers_to_a_step_one_is_accepted<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = asking();
    go_on(&store, &flow).await;
    let waits = store.runs().await.unwrap()[0].status.waits().to_vec();
    let step = Some(waits[0].step.as_str());

    // From several processes, while nobody has the run.
    let stores: Vec<_> = (0..4).map(|_| S::within(folder.path())).collect();
    let answers = stores
        .iter()
        .map(|store| store.answer("a", "ev a", step, &1));
    let (accepted, refused): (Vec<_>, Vec<_>) =
        join_all(answers).await.into_iter().partition(Result::is_ok);
    assert_eq!(accepted.len(), 1, "{refused:?}");
    for refused in refused {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::NotWaiting);
        let told = "the run `a` doesn't wait for `ev a`, or has the answer; it waits for `ev b` and `ev c`";
        assert_eq!(refused.to_string(), told);
    }

    // From this process, which has the run, and from another one.
    let names: Vec<_> = ["a", "b", "c"].map(str::to_owned).into();
    let journal = store.start_or_resume("a", &flow, &names).await.unwrap();
    let (other, step) = (S::within(folder.path()), Some(waits[1].step.as_str()));
    let wrong_step = journal.answer("ev b", Some(&waits[2].step), &2).await;
    let wrong_step = wrong_step.unwrap_err();
    assert_eq!(wrong_step.kind(), StoreErrorKind::NotWaiting);
    let steps = [&waits[2].step, &waits[1].step];
    let [given, asks] = steps.map(|step| format!("`{step}`"));
    let told = format!("the step {given} of the run `a` doesn't wait for `ev b`, but {asks} does");
    assert_eq!(wrong_step.to_string(), told);
    let (here, there) = tokio::join!(
        journal.answer("ev b", step, &2),
        other.answer("a", "ev b", step, &2)
    );
    assert!(here.is_ok() != there.is_ok(), "{here:?} {there:?}");
    drop(journal);

    // The wait still has its answer, and no other one is kept.
    store.answer("a", "ev c", None, &3).await.unwrap();
    go_on(&store, &flow).await;
    insta::assert_snapshot!(status(&store).await, @"ended on `default` after 4 steps");
    let entries = store.entries("a", 0..100).await.unwrap();
    let answers = entries.iter();
    let answers = answers.filter(|recorded| format!("{:?}", recorded.entry).starts_with("Answer"));
    assert_eq!(answers.count(), 3);
}
