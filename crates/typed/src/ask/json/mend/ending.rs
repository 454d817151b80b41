//! The end of a text that was cut off.

use super::{Before, Mender};
use crate::ask::RepairKind;
use crate::ask::json::Cut;

impl Mender<'_> {
    /// Ends the JSON of a text that was cut off before the last incomplete item.
    pub(in crate::ask::json) fn close(&mut self) -> Cut {
        let is_in_list = self.open.iter().any(|open| open.is_list);
        let is_complete = !self.ends_in_quotes
            && self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| open.is_list || open.has_colon)
            && self.text.trim_end().ends_with(['"', '}', ']']);

        let last = self.last.clone();
        let end = self.text.trim_end().len();

        if is_complete {
            self.report(RepairKind::Json, end..end, "closed the brackets");
        } else {
            let what = "left out what was not written to its end";
            self.report(RepairKind::CutOff, last.end..end.max(last.end), what);
            self.drop_item();
        }

        while !self.open.is_empty() {
            self.end_container(&last, end);
        }

        if is_complete && !is_in_list {
            Cut::BetweenKeys
        } else {
            Cut::InsideValue
        }
    }

    /// Removes the incomplete item. An object in a list is removed as a whole.
    pub(super) fn drop_item(&mut self) {
        let innermost_list = self.open.iter().rposition(|open| open.is_list);
        let keep = match innermost_list {
            Some(list) => list + 1,
            None => 1,
        };

        self.open.truncate(keep);
        if let Some(open) = self.open.last_mut() {
            let item = open.item;
            open.has_colon = true;
            self.truncate(item);
        }
        self.before = Before::Bracket;
    }
}
