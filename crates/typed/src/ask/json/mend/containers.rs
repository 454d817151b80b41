//! Objects and lists: their brackets, commas and colons.

use std::ops::Range;

use super::{Before, MAX_DEPTH, Mender, Open};
use crate::ask::RepairKind;

impl Mender<'_> {
    pub(super) fn open_bracket(&mut self, bracket: char) -> Option<bool> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }

        self.begin_item();
        self.begin_token();
        self.json.push(bracket);
        self.open.push(Open {
            is_list: bracket == '[',
            item: self.json.len(),
            has_colon: false,
        });

        self.before = Before::Bracket;
        self.pass(1);
        Some(true)
    }

    /// Closes a bracket, and those inside it that the model left open.
    pub(super) fn close_bracket(&mut self, bracket: char) {
        let before = self.last.clone();
        let at = self.at;
        self.pass(1);

        let is_list = bracket == ']';
        let Some(place) = self.open.iter().rposition(|open| open.is_list == is_list) else {
            self.report_doubt(at..at + 1, "left out a bracket that closes nothing");
            return;
        };

        if place + 1 < self.open.len() {
            self.report(RepairKind::Json, at..at, "closed a bracket");
            self.closed_other = true;
        }

        while self.open.len() > place {
            self.end_container(&before, at);
        }
    }

    /// Closes the innermost object or list. `last` is the token before its end.
    pub(super) fn end_container(&mut self, last: &Range<usize>, end: usize) {
        let Some(open) = self.open.last() else {
            return;
        };

        let is_list = open.is_list;
        let item = open.item;
        let has_value = is_list || open.has_colon;

        match self.before {
            Before::Comma => {
                self.report(RepairKind::Json, last.clone(), "left out a comma");
                self.truncate(item);
            }
            Before::Colon => {
                self.report_doubt(end..end, "added a value that was missing");
                self.json.push_str("null");
            }
            Before::Value if !has_value => {
                self.report_doubt(last.clone(), "left out a key without a value");
                self.truncate(item);
            }
            Before::Value | Before::Bracket => {}
        }

        self.json.push(if is_list { ']' } else { '}' });
        self.open.pop();
        self.before = Before::Value;
    }

    pub(super) fn comma(&mut self) -> bool {
        let at = self.at;
        self.pass(1);

        let is_extra = matches!(self.before, Before::Bracket | Before::Comma);
        if is_extra {
            self.report(RepairKind::Json, at..at + 1, "left out a comma");
            return true;
        }

        if self.before == Before::Colon {
            self.report_doubt(at..at, "added a value that was missing");
            self.json.push_str("null");
        }

        self.push_comma();
        true
    }

    /// Ends the current item, and begins the next one.
    pub(super) fn push_comma(&mut self) {
        let Some(open) = self.open.last_mut() else {
            return;
        };

        if !open.is_list && !open.has_colon {
            self.json.push_str(":null");
            self.doubt.get_or_insert("added a value that was missing");
        }

        open.item = self.json.len();
        open.has_colon = false;
        self.json.push(',');
        self.before = Before::Comma;
    }

    pub(super) fn colon(&mut self) -> bool {
        let at = self.at;
        self.pass(1);

        let is_after_key = self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| !open.is_list && !open.has_colon);
        if !is_after_key {
            self.report_doubt(at..at + 1, "left out a colon");
            return true;
        }

        if let Some(open) = self.open.last_mut() {
            open.has_colon = true;
        }
        self.json.push(':');
        self.before = Before::Colon;
        true
    }

    /// Adds the comma that is missing before an item.
    pub(super) fn begin_item(&mut self) {
        if self.before == Before::Value && !self.open.is_empty() {
            if self.may_be_in_text() {
                self.doubt.get_or_insert("added a comma between texts");
            }

            self.report(RepairKind::Json, self.at..self.at, "added a comma");
            self.push_comma();
        }
    }

    /// Returns whether the last text and what follows it may be one text with quotes inside, as in
    /// `["He said "yes" twice"]`.
    pub(super) fn may_be_in_text(&self) -> bool {
        let is_in_list = self.open.last().is_some_and(|open| open.is_list);
        let follows_text = self.json.ends_with('"');

        let before = self.text.get(..self.at).unwrap_or_default();
        let blanks = before.len() - before.trim_end().len();
        let blanks = before.get(before.len() - blanks..).unwrap_or_default();
        let is_on_new_line = blanks.contains('\n');

        let is_bracket = self.rest().starts_with(['{', '[']);
        is_in_list && follows_text && !is_on_new_line && !is_bracket
    }
}
