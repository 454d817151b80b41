//! Recall by meaning and by words: texts are stored in a SQLite file, and found by the embedding or
//! the words of a question.
//!
//! ```text
//! Indexer → VectorMemory   embeddings by any cogwork_llm::embedding::Embedder
//!           Notes          words
//! ```
//!
//! ```
//! use cogwork_llm::embedding::HashedNgrams;
//! use cogwork_recall::{Passage, Query, VectorMemory};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cogwork_recall::RecallError> {
//! let memory = VectorMemory::in_memory(HashedNgrams::new())?;
//! memory.insert([
//!     Passage::new("Ada is allergic to nuts.").with_source("team.md"),
//!     Passage::new("The office closes at six.").with_source("handbook.md"),
//! ]).await?;
//!
//! let found = memory.recall(&Query::new("When is the office closing?").with_limit(1)).await?;
//! assert_eq!(found[0].text, "The office closes at six.");
//! assert_eq!(found[0].source, "handbook.md");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | see |
//! |---|---|
//! | storing and finding passages, in a file or in memory | [`VectorMemory`], [`Passage`], [`Query`], [`Recalled`] |
//! | a folder of texts | [`Indexer`], [`IndexReport`] |
//! | a node of a flow that finds passages | `cogwork_flow::from_phases_with(memory, …)` |
//! | the memory of a client that thinks before it answers | [`Notes`] and [`VectorMemory`] implement [`cogwork_thinking::memory::Memory`] |
//! | embeddings | [`cogwork_llm::embedding::Embedder`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod blocking;
mod error;
mod index;
mod memory;
mod notes;
mod passage;
mod query;
mod store;

pub use error::RecallError;
pub use index::{IndexReport, Indexer, SkippedFile};
pub use memory::VectorMemory;
pub use notes::Notes;
pub use passage::{Passage, Recalled};
pub use query::Query;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
