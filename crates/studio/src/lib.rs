//! A local page over recorded runs: a list, a live view of each run, forms that answer runs that
//! wait, and two runs side by side.
//!
//! The command `cogwork studio` serves it. A [`Studio`] serves it from a program:
//!
//! ```no_run
//! use cogwork_journal::Store;
//! use cogwork_studio::Studio;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let serving = Studio::new(Store::at("runs")?).bind(0).await?;
//! println!("open {}", serving.url());
//! serving.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! It listens on the loopback address only. Each request needs a random token, which is in the
//! address that [`Serving::url`] returns, and requests of other web pages are refused.
//!
//! | to … | use |
//! |---|---|
//! | serve the page | [`Studio`], [`Serving`] |
//! | let it start and resume flows | [`Flows`] |
//! | let it fork runs | [`ForkChoices`], [`ForkRequest`] |
//! | show texts while they are written | [`Pieces`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod fork;
pub use fork::{EditedText, ForkChoices, ForkRequest};

mod flow_error;
pub use flow_error::{FlowError, ForkPart};

mod flows;
pub use flows::{Flows, NoFlows};

mod pieces;
pub use pieces::{Piece, Pieces};

mod studio;
pub use studio::{Serving, Studio};

mod api;
mod http;
mod totals;

mod schema;
mod shared;
mod view;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
