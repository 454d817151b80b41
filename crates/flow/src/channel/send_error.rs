use std::fmt;

use cogwork_text::{Name, NameList, OneLine};

use crate::journal::OutcomeProblem;

/// Why a message wasn't sent.
pub struct SendError {
    channel: String,
    kind: Kind,
}

cogwork_text::debug_as_display!(SendError);

pub(crate) enum Kind {
    Closed,
    NotComposite,
    NoAddress { known: Vec<String> },
    Unsendable(OutcomeProblem),
    Refused(String),
}

impl SendError {
    pub(crate) fn new(channel: &str, kind: Kind) -> Self {
        Self {
            channel: channel.to_owned(),
            kind,
        }
    }

    /// Returns whether the receiver is gone. After a crash, a run that has ended may have read a
    /// message that is sent again.
    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Closed)
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no message was sent to `{}`: ", Name(&self.channel))?;

        match &self.kind {
            Kind::Closed => f.write_str("the receiver is gone"),
            Kind::NotComposite => f.write_str(
                "in a run with a journal, messages are sent by a `send` node or by the `exec` of a composite node",
            ),
            Kind::NoAddress { known } if known.is_empty() => {
                f.write_str("the run has no addresses; add one with `Run::with_address`")
            }
            Kind::NoAddress { known } => {
                write!(f, "the run has addresses for {}", NameList::and(known.iter().map(String::as_str)))
            }
            Kind::Unsendable(problem) => problem.fmt(f),
            Kind::Refused(error) => write!(f, "the receiver cannot store it: {}", OneLine::new(error)),
        }
    }
}

impl std::error::Error for SendError {}
