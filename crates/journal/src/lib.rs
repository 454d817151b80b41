//! Journals on disk for flows: a run continues after a crash, and no recorded call is repeated.
//!
//! ```text
//! store.start(run_id, &flow, &input).await -> RunJournal   →   flow.begin().with_journal(journal).finish(&mut state)
//! ```
//!
//! A [`Store`] keeps each run in its own file, or many runs in a database. The file consists of
//! human-readable lines of JSON, each written before its outcome is used. After a crash, [`resume`](Store::resume)
//! continues the run where the file ends.
//!
//! ```
//! use cogwork_flow::{Flow, from_phases};
//! use cogwork_journal::Store;
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
//!         |order, receipt| { assert_eq!(receipt, "paid 42"); order.clear() },
//!     ))
//!     .end("charge", "default")
//!     .build()?;
//!
//! let store = Store::files(folder);
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
//! | start a run | [`Store::start`] |
//! | resume a run | [`Store::resume`], [`Store::resume_changed`] |
//! | resume a run, or start it if it is new | [`Store::start_or_resume`], [`Store::start_or_resume_any_input`] |
//! | try a run again from any step | [`Store::fork`], [`Fork`], [`ForkOrigin`] |
//! | see what a fork could change | [`Store::preview_fork`], [`ForkPreview`] |
//! | answer a run that waits | [`Store::deliver`] |
//! | list or query runs | [`Store::runs`], [`Store::query`], [`RunQuery`], [`RunSummary`], [`RunStatus`] |
//! | read the record of a run | [`Store::entries`], [`RecordedEntry`] |
//! | keep and read what happened in a run, for people | [`RunJournal::events`], [`Store::events`] |
//! | keep runs in a folder, or many in one database | [`Store::files`], `Store::sqlite`, with the feature `sqlite` |
//! | open a store whose kind is chosen at run time | [`Store::at`] |
//! | share runs between machines, and execute them in workers | `PostgresStore`, `Worker`, with the feature `postgres` |
//! | remove runs | [`Store::remove`] |
//! | get the state to resume with | [`RunJournal::state`], [`RunJournal::input`] |
//! | handle errors | [`StoreError`], [`StoreErrorKind`] |
//! | test your own store or engine | `conformance`, with the feature `conformance` |
//! | keep the record of a long run short | [`Run::with_fold_every`](cogwork_flow::Run::with_fold_every) |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod store;
pub use store::Store;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresStore, QueuedRun, Worker};

mod query;
pub use query::RunQuery;

mod fork;
pub use fork::{Fork, ForkOrigin, ForkOutcome, ForkPreview};

mod journal;
pub use journal::RunJournal;

mod events;
pub use events::{EventLine, RunEvents};

mod entries;
pub use entries::RecordedEntry;

mod summary;
pub use summary::{RunStatus, RunSummary, WaitSummary};

mod error;
pub use error::{StoreError, StoreErrorKind};

#[cfg(feature = "conformance")]
pub mod conformance;

mod backend;
mod delivery;
mod file;
mod header;
mod lock;
mod opener;
mod read;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod rows;
mod schema;
#[cfg(feature = "sqlite")]
mod sqlite;
mod write;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
