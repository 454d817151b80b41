//! Records of runs: what was said to a model, what it replied, what was planned, and what it cost.
//!
//! A record is a text of JSON lines. The first line is the [`Header`], with the graph of the flow;
//! every other line is a [`RecordedEvent`]. It is written while the run is executed, so that the
//! record of a run that crashed can be read.
//!
//! | to … | use |
//! |---|---|
//! | record a run | [`RunRecorder`], [`RecorderSettings`] |
//! | record what tokens cost | [`RecorderSettings::with_prices`] |
//! | find the record of a run in a folder | [`record_path`] |
//! | read a record | [`RecordReader`] |
//! | make a page of a record, with the feature `page` | `Page` |
//! | show a run while it is recorded, with the feature `page` | `PageParts` |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "page")]
#[cfg_attr(docsrs, doc(cfg(feature = "page")))]
mod page;
#[cfg(feature = "page")]
pub use page::{Page, PageParts};

mod recorder;
pub use recorder::RunRecorder;
pub use recorder::record_path::record_path;
pub use recorder::settings::RecorderSettings;

mod record;
pub use record::content::Content;
pub use record::error::{RecordError, RecordErrorKind};
pub use record::event::RecordedEvent;
pub use record::header::{FORMAT, ForkedFrom, Header};
pub use record::reader::RecordReader;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
