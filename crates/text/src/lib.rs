//! What the crates of Cogwork share: safe display of untrusted text, `files`, the delays between
//! retries ([`Backoff`]), and checks of [YAML](expensive_yaml_line) and of JSON by a schema.
//!
//! # Display
//!
//! Text from a model, a server, a file or a file name may contain characters that move the cursor
//! of a terminal, reverse the direction of a line, or are invisible. All code in Cogwork that
//! prints untrusted text uses one of these adapters. Each implements [`Display`](std::fmt::Display)
//! and doesn't copy the text.
//!
//! | adapter | for | an unsafe character becomes |
//! |---|---|---|
//! | [`Name`], [`NameList`], [`Escaped`] | names, keys, labels, paths | its escape, such as `\u{1b}` |
//! | [`OneLine`] | prose on one line; white space is collapsed | U+FFFD |
//! | [`MultiLine`] | prose with line breaks and tabs | U+FFFD |
//! | [`ErrorText`] | errors of other crates: one line, or several with `{:#}` | U+FFFD |
//! | [`ReplyExcerpt`] | the reply of a model, below the message of an error | U+FFFD |
//! | [`MermaidLabel`] | text in diagrams | U+FFFD |
//!
//! ```
//! use cogwork_text::{Name, NameList, OneLine};
//!
//! let node = "fetch\u{1b}[2J";
//! let reply = "I am\r\nsure \u{202e}.";
//! assert_eq!(format!("node `{}`", Name(node)), r"node `fetch\u{1b}[2J`");
//! assert_eq!(format!("it said: {}", OneLine::new(reply)), "it said: I am sure \u{fffd}.");
//! assert_eq!(NameList::or(["yes", "no"]).to_string(), "`yes` or `no`");
//! ```
//!
//! [`debug_as_display`] makes the `Debug` of an error the same sentence as its `Display`.
//!
//! [`is_unsafe`] defines which characters are unsafe. A [`Mask`] hides API keys and other values.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod character;
pub use character::{is_invisible, is_unsafe, replace_unsafe};

mod name;
pub use name::{Escaped, Name, NameList};

mod prose;
pub use prose::{ErrorText, MultiLine, OneLine, counted};

mod reply;
pub use reply::ReplyExcerpt;

mod label;
pub use label::MermaidLabel;

mod mask;
pub use mask::Mask;

mod debug;

mod limited;

mod backoff;
pub use backoff::Backoff;

#[cfg(feature = "files")]
pub mod files;

#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "schema")]
pub use schema::{check_by_schema, check_schema};

mod yaml;
pub use yaml::expensive_yaml_line;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
