//! Keeps the reading of foreign text cheap.
//!
//! What a model says, or a file holds, may be any text. Reading it must take time in proportion to its length,
//! whatever it is.
//!
//! - [`YamlGuard`] refuses YAML on which its parsers take far longer than that, before they see it.
//! - [`charge`] and [`measure`] count the work that readers do, so that a test can show that it is in
//!   proportion to the text, on any machine and without a clock.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod work;
pub use work::{charge, measure};

mod yaml;
pub use yaml::{Refused, YamlGuard, YamlRefusal};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
