//! A node that finds passages, in a run with a journal.

use cogwork_flow::{Flow, from_phases_with};
use cogwork_journal::Store;
use cogwork_recall::{Passage, Query, Recalled, VectorMemory};

use crate::support::{colours, texts};

type State = (String, Vec<Recalled>);

fn flow(memory: &VectorMemory) -> Flow<State> {
    let retrieve = from_phases_with(
        memory.clone(),
        |state: &mut State| Query::new(&state.0).with_min_score(0.5),
        async |memory: VectorMemory, query: Query| memory.recall(&query).await,
        |state: &mut State, found| state.1 = found,
    );
    Flow::from_node("retrieve", retrieve).unwrap()
}

#[tokio::test]
async fn resumed_runs_continue_with_the_recorded_passages() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let memory = colours();
    let apples = Passage::new("red apples").with_source("fruit");
    memory.insert([apples]).await.unwrap();
    let flow = flow(&memory);

    for _ in 0..2 {
        let question: State = ("red".to_owned(), Vec::new());
        let journal = store.start_or_resume("run", &flow, &question).await;
        let journal = journal.unwrap();
        let mut state: State = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut state).await.unwrap();
        assert_eq!(texts(state.1), ["red apples"]);

        memory.remove_source("fruit").await.unwrap();
    }
}
