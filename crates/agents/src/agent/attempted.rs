use std::fmt;

use cogwork_text::{Name, OneLine, ReplyExcerpt};
use cogwork_typed::ask::{Spent, Try};

use crate::ToolUse;

/// The maximum number of characters of the arguments of a call that an error shows.
const MAX_ARGUMENTS: usize = 1_000;

/// What an attempt did.
#[derive(Default, Clone)]
pub(super) struct Attempted {
    pub(super) tries: Vec<Try>,
    pub(super) tools: Vec<ToolUse>,
    pub(super) spent: Spent,
}

impl Attempted {
    /// Writes the last reply of the model, or the last tool that it called.
    pub(super) fn write_last_reply(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(last) = self.tries.last() else {
            return Ok(());
        };

        match self.tools.last() {
            Some(tool) if last.reply.trim().is_empty() => {
                let name = Name(&tool.name);
                let arguments = OneLine::new(&tool.arguments).with_max_chars(MAX_ARGUMENTS);
                write!(f, "\nthe reply calls `{name}` with {arguments}")
            }
            _ => fmt::Display::fmt(&ReplyExcerpt(&last.reply), f),
        }
    }
}
