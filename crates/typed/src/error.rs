use std::fmt;

use crate::ask::AskLog;
use cogwork_llm::LlmError;
use serde::{Deserialize, Serialize};

use crate::AnswerProblem;

/// Why an answer is missing. It contains every raw reply and what the calls cost.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_typed::Model;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = ScriptedClient::new(["I'm sorry, but I can't help with that."]);
/// let error = Model::<u32>::typed(client).with_asks_again(0).ask("How many?").await.unwrap_err();
///
/// assert_eq!(
///     error.to_string(),
///     "no usable answer after 1 reply: line 1: the reply declines to answer; expected a JSON object with `answer`",
/// );
/// assert_eq!(error.log().tries.len(), 1);
/// # }
/// ```
#[derive(Serialize, Deserialize)]
pub struct AskError(Box<Inner>);

#[derive(Serialize, Deserialize)]
struct Inner {
    kind: AskErrorKind,
    /// The message, unless the problem of a reply is shown.
    message: String,
    problem: Option<AnswerProblem>,
    #[serde(skip)]
    source: Option<LlmError>,
    log: AskLog,
}

/// The kind of an [`AskError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskErrorKind {
    /// A call to the model failed.
    Client,
    /// No reply could be used.
    Unusable,
    /// A limit was reached.
    Limit,
    /// A tool can't be used: it isn't ready, or the run can't wait for a person's approval.
    Tools,
}

impl AskError {
    pub(crate) fn client(error: LlmError, log: AskLog) -> Self {
        let mut failed = Self::of(AskErrorKind::Client, error.to_string(), log);
        failed.0.source = Some(error);
        failed
    }

    pub(crate) fn unusable(problem: AnswerProblem, log: AskLog) -> Self {
        let mut error = Self::of(AskErrorKind::Unusable, String::new(), log);
        error.0.problem = Some(problem);
        error
    }

    pub(crate) fn tools(problem: impl fmt::Display, log: AskLog) -> Self {
        Self::of(AskErrorKind::Tools, problem.to_string(), log)
    }

    pub(crate) fn of(kind: AskErrorKind, message: impl Into<String>, log: AskLog) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            problem: None,
            source: None,
            log,
        }))
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> AskErrorKind {
        self.0.kind
    }

    /// Returns what is wrong with the last reply, if it can't be used.
    pub fn problem(&self) -> Option<&AnswerProblem> {
        self.0.problem.as_ref()
    }

    /// Returns every raw reply with the complaint about it, the forms that were requested, and the cost.
    pub fn log(&self) -> &AskLog {
        &self.0.log
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(problem) = &self.0.problem else {
            return f.write_str(&self.0.message);
        };

        let count = self.0.log.tries.len();
        let replies = if count == 1 { "reply" } else { "replies" };
        write!(f, "no usable answer after {count} {replies}: {problem}")
    }
}

cogwork_text::debug_as_display!(AskError);

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_ref()?;
        // The message of the client is this error's own.
        std::error::Error::source(source)
    }
}
