//! Texts, numbers and literals.

use serde_json::Value;

use super::words::{end_of_quote, length_before_comment, literal, unescaped};
use super::{Before, Mender};
use crate::ask::RepairKind;

impl Mender<'_> {
    /// Rewrites a text in quotes. Returns `false` if the text ends inside it.
    pub(super) fn quoted(&mut self, quote: char) -> bool {
        let inner = self.rest().get(quote.len_utf8()..).unwrap_or_default();
        let Some(end) = end_of_quote(inner, quote) else {
            self.ends_in_quotes = true;
            self.at = self.text.len();
            return false;
        };

        self.begin_item();
        let body = inner.get(..end).unwrap_or_default();
        let close = inner
            .get(end..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        let length = quote.len_utf8() + end + close;
        let part = self.at..self.at + length;

        if quote != '"' {
            let what = "took other quotes for double quotes";
            self.report(RepairKind::Quotes, part.clone(), what);
        }

        let unescaped = unescaped(body);
        if unescaped.is_changed {
            self.report(RepairKind::Quotes, part, "escaped characters in a text");
        }

        self.begin_token();
        self.push_text(&unescaped.text);
        self.pass(length);
        true
    }

    /// Writes a text as JSON.
    pub(super) fn push_text(&mut self, text: &str) {
        self.json.push_str(&Value::from(text).to_string());
        self.before = Before::Value;
    }

    /// Rewrites a number, a literal, or a text without quotes. Returns `false` if it may be
    /// incomplete.
    pub(super) fn bare(&mut self) -> bool {
        let rest = self.rest();
        let Some(end) = rest.find([',', ':', '{', '}', '[', ']', '"', '\n']) else {
            self.at = self.text.len();
            return false;
        };

        let word = rest.get(..end).unwrap_or_default();
        let end = length_before_comment(word);
        let word = rest.get(..end).unwrap_or_default();
        self.begin_item();
        self.begin_token();
        let part = self.at..self.at + word.trim_end().len();
        let word = word.trim();

        // A key is always a text.
        let is_key = self
            .open
            .last()
            .is_some_and(|open| !open.is_list && !open.has_colon);
        match literal(word).filter(|_| !is_key) {
            Some(literal) => {
                if literal != word {
                    self.report(RepairKind::Json, part, "wrote a literal as JSON does");
                }
                self.json.push_str(literal);
                self.before = Before::Value;
            }
            None => {
                // A number that JSON would write differently stays a text.
                let is_number = word.parse::<f64>().is_ok();
                if !is_number || is_key {
                    self.report(RepairKind::Quotes, part, "put a text in quotes");
                }
                self.push_text(word);
            }
        }

        // Otherwise, a character that begins no token would never be passed.
        self.pass(end.max(1));
        true
    }
}
