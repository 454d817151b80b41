use serde::{Deserialize, Serialize};

use crate::ask::{ChatVerdict, Format, FormatRefusal, Spent, cut};

/// What happened on the way to an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AskLog {
    /// Every raw reply with the complaint about it, in order.
    pub tries: Vec<Try>,
    /// The format of the last request.
    pub format: Format,
    /// The formats that the server refused, in order.
    pub refusals: Vec<FormatRefusal>,
    /// The number of calls, their tokens and their time, including calls that failed.
    pub spent: Spent,
}

/// A reply of a model, and the complaint about it, if any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// The raw text of the reply.
    pub reply: String,
    /// The complaint; `None` if the reply was accepted, be it as the usable one or as a
    /// [step](crate::ask::Verdict::Continue) towards it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

/// The complaint about a reply that wasn't read completely.
const UNREAD: &str = "the asking ended before the reply was read";

/// The maximum number of characters of a reply on record, unless it is the usable one.
const MAX_KEPT: usize = 256 * 1024;

impl AskLog {
    /// Adds a reply that hasn't been read yet.
    pub(super) fn add(&mut self, reply: &str) {
        self.tries.push(Try {
            reply: reply.to_owned(),
            complaint: Some(UNREAD.to_owned()),
        });
    }

    /// Adds the complaint about the last reply, and keeps a part of it if it isn't the usable one.
    pub(super) fn judge(&mut self, verdict: ChatVerdict, complaint: Option<String>) {
        let Some(last) = self.tries.last_mut() else {
            return;
        };

        last.complaint = complaint;
        if verdict != ChatVerdict::Usable {
            last.reply = cut(&last.reply, MAX_KEPT);
        }
    }
}
