//! A folder of runs that is removed while the program goes on.

use crate::each::FileStore;
use crate::work::{Calls, Work, counted, flow};
use cogwork_journal::StoreErrorKind;

#[tokio::test]
async fn a_folder_that_was_removed_is_made_anew_for_the_next_run() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("runs");
    let store = FileStore::new(&folder);
    let flow = flow(&counted(&Calls::default()));
    drop(store.start("a", &flow, &Work::of(2)).await.unwrap());
    assert_eq!(store.runs().await.unwrap().len(), 1);

    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(store.runs().await.unwrap(), []);
    assert_eq!(
        store.resume("a", &flow).await.unwrap_err().kind(),
        StoreErrorKind::Missing
    );

    store.start("a", &flow, &Work::of(2)).await.unwrap();
    assert_eq!(FileStore::new(&folder).runs().await.unwrap().len(), 1);
}
