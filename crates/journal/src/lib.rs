//! Journals on disk for flows: a run that crashed goes on, and no recorded call is made again.
//!
//! ```text
//! store.start(run_id, &flow, &input).await -> RunJournal   →   flow.begin().with_journal(journal).finish(&mut state)
//! ```
//!
//! A [`FileStore`] keeps each run in a file of its own: lines of JSON that people can read, each
//! written before its outcome is used. Whatever ends the process, the run is taken up again with
//! [`resume`](Store::resume) and goes on where the file ends.
//!
//! ```
//! use cogwork_flow::{Flow, from_phases};
//! use cogwork_journal::{FileStore, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let flow = Flow::builder("shop")
//!     .start("charge")
//!     .node("charge", from_phases(
//!         |order: &mut Vec<u32>| order.iter().sum(),
//!         |amount: u32| async move { Ok::<_, std::io::Error>(format!("paid {amount}")) },
//!         |order: &mut Vec<u32>, receipt: String| { assert_eq!(receipt, "paid 42"); order.clear() },
//!     ))
//!     .end("charge", "default")
//!     .build()?;
//!
//! let store = FileStore::new(folder);
//! let journal = store.start("order-17", &flow, &[30, 12]).await?;
//! let mut order: Vec<u32> = journal.state()?;
//! flow.begin().with_journal(journal).finish(&mut order).await?;
//!
//! // In another process, as often as need be: `charge` is not done again.
//! let journal = store.resume("order-17", &flow).await?;
//! let mut order: Vec<u32> = journal.state()?;
//! assert_eq!(order, [30, 12]);
//! flow.begin().with_journal(journal).finish(&mut order).await?;
//! assert!(order.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! | to … | use |
//! |---|---|
//! | begin a run | [`Store::start`] |
//! | go on with it | [`Store::resume`], [`Store::resume_changed`] |
//! | begin it or go on, whichever is due | [`Store::start_or_resume`] |
//! | answer a run that waits | [`Store::deliver`] |
//! | see what runs there are | [`Store::runs`], [`RunSummary`], [`RunStatus`] |
//! | keep many runs in one database, and query them | `SqliteStore`, `RunQuery`, with the feature `sqlite` |
//! | have the state to run over | [`RunJournal::state`], [`RunJournal::input`] |
//! | know what went wrong | [`StoreError`] |
//! | keep the record of a long run short | [`Run::with_fold_every`](cogwork_flow::Run::with_fold_every) |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod file;
pub use file::FileStore;

#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqlite")]
pub use sqlite::{RunQuery, SqliteStore};

mod store;
pub use store::Store;

mod journal;
pub use journal::RunJournal;

mod summary;
pub use summary::{RunStatus, RunSummary};

mod waits;
pub use waits::WaitSummary;

mod error;
pub use error::StoreError;

mod behind;
mod folder;
mod header;
mod keep;
mod line;
mod lock;
mod mutex;
mod name;
mod time;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
