//! Replies as the host sent them, and which of them can be given to the run.

use cogwork_text::{Name, NameList};
use serde_json::json;

use super::entry::GivenReply;
use super::session::Begun;
use super::view::NotAccepted;
use crate::store::SessionId;
use crate::tool::ToolFailure;

/// A reply as the host sent it.
#[derive(Debug, Clone)]
pub(super) struct OfferedReply {
    /// The question; `None` for the only open one.
    pub(super) question: Option<String>,
    pub(super) reply: String,
    pub(super) failed: bool,
}

/// Replies by whether they can be given to the run.
pub(super) struct Sorted {
    pub(super) accepted: Vec<GivenReply>,
    pub(super) refused: Vec<NotAccepted>,
}

impl Sorted {
    pub(super) fn new(begun: &Begun, replies: &[OfferedReply]) -> Self {
        let mut sorted = Self {
            accepted: Vec::new(),
            refused: Vec::new(),
        };

        for offered in replies {
            match sorted.check(begun, offered) {
                Ok(accepted) => sorted.accepted.push(accepted),
                Err(problem) => sorted.refused.push(NotAccepted {
                    question: Name(offered.question.as_deref().unwrap_or_default()).to_string(),
                    problem,
                }),
            }
        }
        sorted
    }

    fn check(&self, begun: &Begun, offered: &OfferedReply) -> Result<GivenReply, String> {
        let questions = begun.questions();
        let ids: Vec<_> = questions.iter().map(|open| open.id.as_str()).collect();
        let open = NameList::or(ids.iter());

        let question = match (&offered.question, questions.as_slice()) {
            (Some(id), _) => questions.iter().find(|open| open.id == *id),
            (None, [only]) => Some(only),
            (None, _) => return Err(format!("name the question; expected {open}")),
        };
        let Some(question) = question else {
            return Err(format!(
                "the question isn't open, it was answered, withdrawn or never asked; expected {open}"
            ));
        };

        if self
            .accepted
            .iter()
            .any(|other| other.question == question.id)
        {
            return Err("there is an earlier reply to it in this call".to_owned());
        }
        if offered.failed && !question.is_for_tool() {
            return Err("only the call of a tool can fail; write a reply".to_owned());
        }

        Ok(GivenReply {
            question: question.id.clone(),
            reply: offered.reply.clone(),
            failed: offered.failed,
        })
    }
}

/// Returns the error of a call of which nothing was accepted.
pub(super) fn all_refused(id: &SessionId, refused: &[NotAccepted]) -> ToolFailure {
    let lines = refused
        .iter()
        .map(|refused| match refused.question.as_str() {
            "" => refused.problem.clone(),
            question => format!("{question}: {}", refused.problem),
        });
    let message = lines.collect::<Vec<_>>().join("\n");
    let data = json!({"error": {
        "kind": "notAccepted",
        "message": message,
        "sessionId": id,
        "notAccepted": refused,
    }});
    ToolFailure::Described { message, data }
}
