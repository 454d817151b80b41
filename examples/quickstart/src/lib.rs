//! The model of the examples: a real one, or a backend that follows rules, which works through arithmetic and says so.

mod arithmetic;
mod problem;
mod tools;
mod turn;

use std::env;
use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, Messages, OpenAiClient,
    ReplyStream, Role, async_trait,
};
use cogwork_plan::Plan;
use futures_util::{StreamExt, stream};
use serde::Serialize;

pub use tools::calculate;
use turn::{Last, Turn, turn};

/// Returns a client of the model that the environment names, and `offline` if it names none.
///
/// `OPENAI_MODEL` is the name of the model, `OPENAI_BASE_URL` the address of an OpenAI-compatible server (by default
/// OpenAI's), and `OPENAI_API_KEY` the key, if the server needs one.
///
/// # Errors
///
/// Returns an error that names a variable which is missing.
pub fn model(offline: impl LlmClient + 'static) -> Result<Arc<dyn LlmClient>, LlmError> {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if !is_set("OPENAI_BASE_URL") && !is_set("OPENAI_MODEL") {
        return Ok(Arc::new(offline));
    }

    let client = OpenAiClient::from_env()?;
    Ok(Arc::new(Retry::new(client, Backoff::default())))
}

/// An [`LlmClient`] without a language model, behind the examples that run offline.
///
/// It works through arithmetic problems the way the loop asks any model to: it reads the problem and the last plan out
/// of the request, evaluates the last thought, does one step, and returns the whole plan as YAML. It keeps nothing
/// between calls, so equal requests have equal replies.
///
/// - **Problems** are expressions such as `What is (17 + 4) * 3 - 15% of 80?`, which it calculates exactly, and
///   distances: `A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?` It concludes that it
///   can't answer anything else.
/// - **A mistake on purpose**: the operation in the middle comes out wrong at first. The next thought finds it, and marks
///   it `Verification Needed`; the one after repairs it. A wrong result from elsewhere is repaired in the same way.
/// - **Tools**, if the request has them: it checks its result with a tool `calculate`, which takes an `expression`, and
///   concludes with a tool `publish`, which takes an `answer`.
///
/// ```
/// use cogwork_quickstart::RuleBasedClient;
/// use cogwork_llm::{ChatRequest, LlmClient, Message};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let request = ChatRequest::new([Message::user("<problem>What is (17 + 4) * 3?</problem>")]);
/// let response = RuleBasedClient::new().complete(request).await?;
/// assert!(response.text().contains("description: Add 17 and 4"));
/// # Ok::<(), cogwork_llm::LlmError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RuleBasedClient {
    delay: Duration,
}

impl RuleBasedClient {
    /// Creates a client that replies immediately.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long each reply takes, which is then streamed, so that people can watch it. Default: zero.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

#[async_trait]
impl LlmClient for RuleBasedClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        tokio::time::sleep(self.delay).await;

        let (problem, last) = read(request.messages()).ok_or_else(|| {
            let message = "no user message has a problem between <problem> and </problem>";
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        })?;
        let mut turn = turn(problem, last);
        if let Some(call) = tools::wanted_call(&request, &turn) {
            return Ok(ChatResponse::new("")
                .with_tool_calls([call])
                .with_model(MODEL));
        }

        tools::add_result(&request, &mut turn);
        let reply = written(&turn).map_err(|error| {
            LlmError::new(LlmErrorKind::Other, "the reply could not be written").with_source(error)
        })?;
        Ok(ChatResponse::new(reply).with_model(MODEL))
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

const MODEL: &str = "rule-based";

/// The number of characters of a piece.
const PIECE: usize = 6;

/// Returns the newest problem of a conversation, and the last plan after it.
fn read(messages: &Messages) -> Option<(&str, Option<Last>)> {
    let (mut problem, mut plan, mut thoughts) = (None, None, 0);

    for message in messages.iter() {
        let text = message.text();
        match message.role() {
            Role::User => {
                if let Some(newer) = between(text, "<problem>", "</problem>") {
                    (problem, plan, thoughts) = (Some(newer), None, 0);
                }
                plan = between(text, "<plan>", "</plan>")
                    .map(|plan| (plan, thoughts))
                    .or(plan);
            }
            // A message without a text is a call of a tool.
            Role::Assistant if !text.is_empty() => thoughts += 1,
            _ => {}
        }
    }

    let last = plan.map(|(plan, thought)| Last {
        // A plan that can't be read is treated like one of another problem.
        plan: serde_yaml::from_str(plan).unwrap_or_default(),
        thought,
    });
    Some((problem?, last))
}

/// From the first opening tag to the last closing one, because a text may mention the tags itself.
fn between<'t>(text: &'t str, opening: &str, closing: &str) -> Option<&'t str> {
    let start = text.find(opening)? + opening.len();
    text.get(start..text.rfind(closing)?)
}

#[derive(Serialize)]
struct Reply<'t> {
    current_thinking: String,
    planning: &'t Plan,
    next_thought_needed: bool,
}

/// Writes a reply as the loop asks for it: YAML in a fence.
fn written(turn: &Turn) -> Result<String, serde_yaml::Error> {
    let yaml = serde_yaml::to_string(&Reply {
        // The line break at the end makes it a literal block, `|`, even if it is one line.
        current_thinking: format!("{}\n", turn.thinking),
        planning: &turn.plan,
        next_thought_needed: turn.next_thought_needed,
    })?;
    Ok(format!("```yaml\n{yaml}```"))
}
