//! What happened in a run, for people: what was said to a model, what it replied, what was planned, and
//! what it cost.
//!
//! Events are recorded while the run is executed, in its journal, so that those of a run that crashed
//! can be read. Each is JSON with a `type`, the time `at` which it happened, and often a `step`; the first is
//! a [`Header`] with the graph of the flow.
//!
//! | to … | use |
//! |---|---|
//! | record a run | [`RunRecorder`], [`RecorderSettings`] |
//! | record what tokens cost | [`RecorderSettings::with_prices`] |
//! | read events | [`EventReader`], [`Header`] |
//! | make a page of a run, with the feature `page` | `Page` |
//! | show texts while they are written | [`GrowingTexts`], [`Piece`] |
//! | show a run while it is recorded, with the feature `page` | `PageParts` |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "page")]
#[cfg_attr(docsrs, doc(cfg(feature = "page")))]
mod page;
#[cfg(feature = "page")]
pub use page::{Page, PageError, PageParts};

mod recorder;
pub use recorder::RunRecorder;
pub use recorder::settings::RecorderSettings;

mod growing_texts;
pub use growing_texts::{GrowingTexts, Piece};

mod header;
pub use header::{Header, LeftOut};

mod event_reader;
pub use event_reader::EventReader;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
