use cogwork_flow::{Action, Flow, Wait};
use cogwork_journal::{Fork, ForkPreview, StoreError, StoreErrorKind};
use serde_json::Value;

use super::{recorded, steps};
use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, changed, counted, undisturbed};

for_each_store! {
    a_preview_has_the_outcomes_and_the_state_of_each_step,
    a_preview_has_the_edited_state,
    an_outcome_that_the_flow_cannot_read_is_refused_before_the_fork,
    a_flow_with_a_different_path_is_refused_before_the_fork,
    an_answer_can_be_edited,
}

async fn preview<S: Tested>(
    store: &S,
    flow: &Flow<Work>,
    fork: Fork<Work>,
) -> Result<ForkPreview<Work>, StoreError> {
    let previewed = store.preview_fork("a", flow, fork).await;
    assert_eq!(store.runs().await.unwrap().len(), 1);
    previewed
}

fn outcomes<S>(preview: &ForkPreview<S>) -> Vec<String> {
    let outcomes = preview.outcomes.iter();
    let shown = outcomes.map(|recorded| format!("{}={}", recorded.step, recorded.outcome.as_str()));
    shown.collect()
}

async fn a_preview_has_the_outcomes_and_the_state_of_each_step<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;

    let first = preview(&store, &flow, Fork::at(1)).await.unwrap();
    assert_eq!(first.state, Work::of(3));
    assert_eq!(outcomes(&first), ["work/gather#1=1"]);

    let batch = preview(&store, &flow, Fork::at(4)).await.unwrap();
    assert_eq!(batch.state.numbers.len(), 3);
    let mut parts = outcomes(&batch);
    parts.sort();
    assert_eq!(parts.len(), 3);
    assert!(parts[0].starts_with("work/double#4[0]="), "{parts:?}");

    for fork in [Fork::at(8), Fork::at_end()] {
        let end = preview(&store, &flow, fork).await.unwrap();
        assert_eq!(end.state, undisturbed(3).await);
        assert_eq!((end.step, end.outcomes.len()), (8, 0));
    }
    assert_eq!(steps(&calls), Vec::<String>::new());
}

async fn a_preview_has_the_edited_state<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;

    let fork = Fork::at(2).with_state(|work: &mut Work| work.numbers = vec![7]);
    let edited = preview(&store, &flow, fork).await.unwrap();
    assert_eq!(edited.state.numbers, [7]);

    let fork = Fork::at(2)
        .with_state(|work: &mut Work| work.numbers = vec![7])
        .with_outcome(&50);
    let edited = preview(&store, &flow, fork).await.unwrap();
    assert_eq!(edited.state.numbers, [7, 50]);

    // The rest of the batch is on record.
    let fork = Fork::at(4).with_outcome_of("work/double#4[1]", &90);
    let edited = preview(&store, &flow, fork).await.unwrap();
    assert!(edited.state.numbers.contains(&90), "{:?}", edited.state);
    assert_eq!(steps(&calls), Vec::<String>::new());
}

async fn an_outcome_that_the_flow_cannot_read_is_refused_before_the_fork<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;

    let fork = Fork::at(2).with_outcome(&"fifty");
    let error = preview(&store, &flow, fork).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Value);
    insta::assert_snapshot!(S::told(error, folder.path()), @r#"STORE: the run `a` cannot be forked: flow `work`, node `gather`: the journal failed: the recorded outcome cannot be read: invalid type: string "fifty", expected u64 at line 1 column 7"#);

    let fork = Fork::at(4).with_outcome_of("work/double#4[1]", &"ninety");
    let error = preview(&store, &flow, fork).await.unwrap_err();
    insta::assert_snapshot!(S::told(error, folder.path()), @r#"STORE: the run `a` cannot be forked: flow `work`, node `double`: the journal failed: the recorded outcome cannot be read: invalid type: string "ninety", expected u64 at line 1 column 8"#);
}

async fn a_flow_with_a_different_path_is_refused_before_the_fork<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    drop(recorded(&store, &calls).await);
    let new = changed(&counted(&calls), "twice");

    let fork = || Fork::at(5).with_changed_flow(true);
    let error = preview(&store, &new, fork()).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AnotherFlow);
    insta::assert_snapshot!(S::told(error, folder.path()), @"STORE: the run `a` cannot be forked: flow `work`, node `twice`: the journal failed: the run visits `work/twice#4`, but the recorded one visited `work/double#4` at this point; with the same state and outcomes, `prep` and `post` must do the same again; after a change of the flow, fork the run at step 4 or before");
    let fork = fork().with_state(|_| ());
    let error = preview(&store, &new, fork).await.unwrap_err();
    assert!(error.to_string().contains("at step 4 or before"), "{error}");

    let fork = Fork::at(4).with_changed_flow(true);
    let previewed = preview(&store, &new, fork).await.unwrap();
    assert_eq!(previewed.state.numbers.len(), 3);
    assert_eq!(steps(&calls), Vec::<String>::new());
}

async fn an_answer_can_be_edited<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let wait = Wait::for_event("go", |state: &mut Value, answer: u32| {
        *state = answer.into();
    });
    let flow = Flow::builder("asking")
        .start("ask")
        .wait("ask", wait)
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap();
    let journal = store.start("a", &flow, &Value::Null).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut Value::Null).await.unwrap_err();
    drop(run);

    // There is nothing to edit at a wait without an answer.
    for fork in [Fork::at(1), Fork::at(2), Fork::at_end()] {
        let waiting = store.preview_fork("a", &flow, fork).await.unwrap();
        assert_eq!((waiting.state, waiting.outcomes.len()), (Value::Null, 0));
    }
    let fork = Fork::at(1).with_outcome(&5);
    let error = store.preview_fork("a", &flow, fork).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::UnknownStep, "{error}");

    store.deliver("a", "go", &4).await.unwrap();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut Value::Null).await.unwrap();
    drop(run);

    let answered = store.preview_fork("a", &flow, Fork::at(1)).await.unwrap();
    assert_eq!(outcomes(&answered), ["asking/ask#1=4"]);
    let fork = Fork::at(1).with_outcome(&5);
    let edited = store.preview_fork("a", &flow, fork).await.unwrap();
    assert_eq!(edited.state, 5);
    let fork = Fork::at(1).with_outcome(&"five");
    let error = store.preview_fork("a", &flow, fork).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Value, "{error}");
}
