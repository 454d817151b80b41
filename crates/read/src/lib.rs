//! Bounds the cost of reading untrusted text.
//!
//! Text from a model or a file may be anything. The time to read it must be proportional to its
//! length.
//!
//! - [`YamlGuard`] refuses YAML that takes parsers far longer than that, before they see it.
//! - [`charge`] and [`measure`] count the work of readers, so that a test can check the proportion
//!   on any machine and without a clock.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "testing")]
pub mod testing;

mod work;
pub use work::{charge, measure};

mod yaml;
pub use yaml::{Refused, YamlGuard, YamlRefusal};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
