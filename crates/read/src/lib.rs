//! Limits the cost of reading untrusted text.
//!
//! A model or a file may contain any text, and the time to read it must be proportional to its
//! length.
//!
//! - [`YamlGuard`] refuses YAML for which parsers would take far longer, before it is parsed.
//! - `at_most` (feature `serde`) deserializes a list of limited length.
//! - [`charge`] and [`measure`] count the work of readers, so that a test can check this on any
//!   machine and without a clock.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "serde")]
mod list;
#[cfg(feature = "serde")]
pub use list::at_most;

mod work;
pub use work::{charge, measure};

mod yaml;
pub use yaml::{Refused, YamlGuard, YamlRefusal};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
