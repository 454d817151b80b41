//! A backend that follows rules: it works through arithmetic and says so.

mod conversation;
mod evaluate;
mod expression;
mod number;
mod operations;
mod parser;
mod planning;
mod story;
mod tokens;
mod tools;
mod words;
mod working;
mod writing;

use std::time::Duration;

pub use tools::calculate;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream, async_trait,
};
use futures_util::{StreamExt, stream};

/// An [`LlmClient`] without a language model, behind the examples that run offline.
///
/// It works through arithmetic problems the way the chain of thought asks any model to: it reads
/// problem, history and last plan out of the request, evaluates the last thought, does one step,
/// and gives back the whole plan as YAML in a fence. It keeps nothing between calls, so equal
/// requests have equal replies. What it does:
///
/// - **Expressions**, alone or within a sentence: numbers (`2.5`, `1,000`), `+ - * / ^` (also
///   `× · ÷ − **` and `x`), parentheses, percentages, and some words for them (`plus`, `times`,
///   `15 percent of 80`). Precedence is that of mathematics:
///   `2^3^2` is `2^9`, `-3^2` is -9. A percent sign always means one hundredth, so
///   `20%` is 1/5 and `80 + 10%` is 80.1. The arithmetic is exact.
/// - **A story**: how far something goes at its speed, in one leg or several.
/// - **A mistake on purpose**: the operation in the middle comes out wrong at first. The next thought
///   finds it by working it out again, marks it `Verification Needed`, and the one after repairs it.
///   A wrong result from elsewhere is found and repaired in the same way.
///
/// - **Tools**, if the request has them: it checks its result with a tool `calculate`, which takes
///   an `expression`, and concludes with a tool `publish`, which takes an `answer`.
///
/// Everything is bounded: 4,000 characters, 200 operations, 40 levels of nesting, 999 digits.
/// What is beyond that, or not understood, is refused in the conclusion. No usage is reported,
/// since there are no tokens. The first thought says that it is no language model, announces the
/// mistake, and says how to name a real model; the conclusion of a solved problem is the answer alone.
///
/// ```
/// use cogwork_quickstart::RuleBasedClient;
/// use cogwork_llm::{ChatRequest, LlmClient, Message};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let request = ChatRequest::new([Message::user("<problem>What is (17 + 4) * 3?</problem>")]);
/// let response = RuleBasedClient::new().complete(request).await?;
/// assert!(response.text().contains("description: Add 17 and 4"));
/// assert!(response.text().contains("next_thought_needed: true"));
/// # Ok::<(), cogwork_llm::LlmError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RuleBasedClient {
    delay: Duration,
}

impl RuleBasedClient {
    /// A client that replies at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes this long for each reply, which is streamed, so that people can watch it work. Default:
    /// none.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

#[async_trait]
impl LlmClient for RuleBasedClient {
    /// Works out the next turn of the newest problem in the request.
    ///
    /// # Errors
    ///
    /// An [invalid request](LlmErrorKind::InvalidRequest) when no user message holds a problem
    /// between `<problem>` and `</problem>`.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }

        let (problem, last) = conversation::read(request.messages()).ok_or_else(|| {
            let message = "no user message holds a problem between <problem> and </problem>";
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        })?;
        let mut turn = working::turn(problem, last);
        if let Some(call) = tools::wanted_call(&request, &turn) {
            let response = ChatResponse::new("").with_tool_calls([call]);
            return Ok(response.with_model("rule-based"));
        }

        tools::add_result(&request, &mut turn);
        let reply = writing::reply(&turn).map_err(|error| {
            LlmError::new(LlmErrorKind::Other, "the reply could not be written").with_source(error)
        })?;
        Ok(ChatResponse::new(reply).with_model("rule-based"))
    }

    /// Writes the reply piece by piece, in the time of the delay.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let response = Self::new().complete(request).await?;
        let characters: Vec<char> = response.text().chars().collect();

        let mut pieces: Vec<Delta> = characters
            .chunks(PIECE)
            .map(|piece| Delta::Text(piece.iter().collect()))
            .collect();
        let pause = self.delay / u32::try_from(pieces.len()).unwrap_or(u32::MAX).max(1);
        pieces.push(Delta::End(response));

        let slowly = stream::iter(pieces).then(move |piece| async move {
            tokio::time::sleep(pause).await;
            Ok(piece)
        });
        Ok(ReplyStream::new(slowly))
    }

    /// Only a slow reply is worth streaming.
    fn capabilities(&self) -> Capabilities {
        let tools = Capabilities::none().with(Capability::Tools);
        if self.delay.is_zero() {
            tools
        } else {
            tools.with(Capability::Streaming)
        }
    }
}

/// The number of characters of a piece.
const PIECE: usize = 6;
