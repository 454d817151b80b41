//! Usual calls, which are carried out at once.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::{self, BoxFuture, FutureExt};
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answer::Answer;
use super::coerce::MAX_INTEGER;
use super::definition::NAME;
use super::history::History;
use super::thought::Thought;
use super::tool::SequentialThinking;
use crate::connection::Connection;
use crate::store::{Change, Changing, SessionId, SessionKind, StoreError, Stored};
use crate::wire::{QuickResult, QuickTool, Storing};

/// Calls of one client.
pub(crate) struct QuickThoughts {
    tool: SequentialThinking,
    connection: Arc<Connection>,
    requests: Arc<Semaphore>,
    batch: Option<Batch>,
}

/// Thoughts of one session that are stored together.
struct Batch {
    /// The id that the client chose.
    named: Option<SessionId>,
    session: Changing<History>,
    /// The places of the calls among all requests to the server.
    permit: OwnedSemaphorePermit,
}

/// Arguments without anything that has to be coerced or refused.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UsualArguments<'a> {
    #[serde(borrow)]
    thought: Cow<'a, str>,
    next_thought_needed: bool,
    thought_number: u64,
    total_thoughts: u64,
    #[serde(default, deserialize_with = "not_null")]
    is_revision: Option<bool>,
    #[serde(default, deserialize_with = "not_null")]
    revises_thought: Option<u64>,
    #[serde(default, deserialize_with = "not_null")]
    branch_from_thought: Option<u64>,
    #[serde(default, borrow, deserialize_with = "not_null")]
    branch_id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "not_null")]
    needs_more_thoughts: Option<bool>,
    #[serde(default, borrow)]
    session_id: Option<Cow<'a, str>>,
}

/// The result of a call.
pub(crate) enum Outcome {
    Recorded(Answer),
    Failed(StoreError),
}

/// A result with an error, in the order in which rmcp writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed {
    content: [Text; 1],
    is_error: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct Text {
    text: String,
}

impl SequentialThinking {
    /// Returns the tool for calls that are carried out at once, unless thoughts are logged.
    pub(crate) fn quick(
        &self,
        connection: &Arc<Connection>,
        requests: &Arc<Semaphore>,
    ) -> Option<QuickThoughts> {
        let quick = || QuickThoughts {
            tool: self.clone(),
            connection: Arc::clone(connection),
            requests: Arc::clone(requests),
            batch: None,
        };
        (!self.has_log()).then(quick)
    }
}

impl QuickThoughts {
    /// Returns the thoughts that a thought of this session is stored with.
    fn batch(&mut self, named: Option<SessionId>) -> Option<&mut Batch> {
        let permit = Arc::clone(&self.requests).try_acquire_owned().ok()?;
        match &mut self.batch {
            Some(batch) if batch.named == named => batch.permit.merge(permit),
            // Those are stored first.
            Some(_) => return None,
            None => self.batch = Some(self.new_batch(named, permit)?),
        }
        self.batch.as_mut()
    }

    fn new_batch(&self, named: Option<SessionId>, permit: OwnedSemaphorePermit) -> Option<Batch> {
        let unnamed = || self.connection.current(SessionKind::Sequential);
        let id = named.clone().or_else(unnamed)?;
        let owner = self.connection.owner();
        Some(Batch {
            session: self.tool.sessions().changing(owner, &id)?,
            named,
            permit,
        })
    }

    fn carry_out(&mut self, arguments: UsualArguments<'_>) -> Option<Outcome> {
        let max_bytes = self.tool.sessions().store().limits().thought_bytes;
        if !arguments.is_usual(max_bytes) {
            return None;
        }

        let named = arguments.session()?;
        let thought = arguments.into_thought();
        let is_strict = self.tool.is_strict();
        let session = &mut self.batch(named)?.session;
        if is_strict && session.state().check(&thought).is_err() {
            return None;
        }

        let change = Change {
            is_complete: Some(!thought.next_thought_needed),
            text: thought.thought.clone(),
            ..Change::default()
        };
        let answer = session.change(&thought, change, |history| {
            history.record(&thought);
            Answer::new(&thought, history)
        })?;
        tracing::debug!(tool = NAME, "the tool was called");
        Some(Outcome::Recorded(answer))
    }

    /// Lets other calls use a session that none of these calls has changed.
    fn release_unchanged(&mut self) {
        let batch = self.batch.take_if(|batch| batch.session.is_unchanged());
        if let Some(batch) = batch {
            batch.session.release();
        }
    }
}

impl QuickTool for QuickThoughts {
    const NAME: &'static str = NAME;

    type Arguments<'a> = UsualArguments<'a>;

    type Result = Outcome;

    fn call(&mut self, arguments: UsualArguments<'_>) -> Option<Outcome> {
        let result = self.carry_out(arguments);
        if result.is_none() {
            self.release_unchanged();
        }
        result
    }

    fn store(&mut self) -> BoxFuture<'static, Storing<Outcome>> {
        let Some(batch) = self.batch.take() else {
            return future::ready(Storing::Done).boxed();
        };

        let permit = batch.permit;
        let stored = batch.session.store();
        let storing = async move {
            let stored = stored.await;
            drop(permit);
            match stored {
                Ok(Stored::Done) => Storing::Done,
                Ok(Stored::Behind) => Storing::Again,
                Err(error) => Storing::Failed(Outcome::Failed(error)),
            }
        };
        storing.boxed()
    }
}

impl UsualArguments<'_> {
    /// Returns whether all values are within their bounds.
    fn is_usual(&self, max_bytes: usize) -> bool {
        let references = [self.revises_thought, self.branch_from_thought];
        let numbers = [self.thought_number, self.total_thoughts];
        let mut numbers = numbers.into_iter().chain(references.into_iter().flatten());

        let branch = self.branch_id.as_deref().unwrap_or_default();
        self.thought.len() <= max_bytes
            && branch.len() <= max_bytes
            && numbers.all(|number| (1..=MAX_INTEGER).contains(&number))
    }

    /// Returns the id of the session that the client chose, if any, or `None` if it isn't valid.
    fn session(&self) -> Option<Option<SessionId>> {
        match self.session_id.as_deref() {
            Some(id) => SessionId::named(id).map(Some),
            None => Some(None),
        }
    }

    fn into_thought(self) -> Thought {
        Thought {
            thought: self.thought.into_owned(),
            thought_number: self.thought_number,
            total_thoughts: self.total_thoughts.max(self.thought_number),
            next_thought_needed: self.next_thought_needed,
            is_revision: self.is_revision,
            revises_thought: self.revises_thought,
            branch_from_thought: self.branch_from_thought,
            branch_id: self.branch_id.map(Cow::into_owned),
            needs_more_thoughts: self.needs_more_thoughts,
        }
    }
}

impl QuickResult for Outcome {
    fn write(&self, json: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Self::Recorded(answer) => answer.write_result(json),
            Self::Failed(error) => serde_json::to_writer(json, &Failed::new(error)),
        }
    }
}

impl Failed {
    fn new(error: &StoreError) -> Self {
        Self {
            content: [Text {
                text: error.to_string(),
            }],
            is_error: true,
        }
    }
}

/// Reads a value that isn't null, which the original doesn't take for a missing one.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
