use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    a_run_is_in_use_while_it_is_open,
}

async fn a_run_is_in_use_while_it_is_open<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let missing = store.is_in_use("a").await.unwrap_err();
    assert!(missing.is_missing(), "{missing}");

    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
    assert!(store.is_in_use("a").await.unwrap());

    drop(journal);
    let journal = store.resume("a", &flow).await.unwrap();
    drop(journal);
    // A run is given back after it is dropped.
    while store.is_in_use("a").await.unwrap() {
        tokio::task::yield_now().await;
    }
    assert!(store.is_in_use("b").await.unwrap_err().is_missing());
}
