use std::any::Any;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use cogwork_flow::journal::{StepError, WorkError};
use cogwork_flow::wrap::FailedAttempt;
use cogwork_flow::{BoxError, RunError};
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::{Deserialize, Serialize};
use serde::{Deserialize as SerdeDeserialize, Serialize as SerdeSerialize};

/// The result of one attempt, as it is recorded.
///
/// An outcome is written as `{"done":…}`, with the JSON of the outcome, which is empty if it cannot
/// be recorded. It isn't parsed here.
#[derive(Debug, Clone)]
pub(crate) enum Tried {
    Done(Vec<u8>),
    Failed(Failure),
}

#[derive(Debug, Clone, SerdeSerialize, SerdeDeserialize)]
pub(crate) struct Failure {
    pub(crate) attempts: NonZeroU32,
    pub(crate) error: String,
    /// The delay before the next attempt, in milliseconds, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    again_in: Option<u64>,
}

#[derive(SerdeSerialize, SerdeDeserialize)]
struct Failed<F> {
    failed: F,
}

const BEFORE: &[u8] = b"{\"done\":";
const AFTER: &[u8] = b"}";

/// The maximum length of a recorded error, in characters.
const MAX_ERROR: usize = 10_000;

impl Failure {
    fn new(attempts: NonZeroU32, error: impl ToString, again_in: Option<Duration>) -> Self {
        let millis = |delay: Duration| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);

        Self {
            attempts,
            error: shortened(&error.to_string()),
            again_in: again_in.map(millis),
        }
    }

    pub(crate) fn again_in(&self) -> Option<Duration> {
        self.again_in.map(Duration::from_millis)
    }
}

/// Cuts a text off that a provider might have filled with a whole page.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(MAX_ERROR).collect()
}

impl Tried {
    /// Returns the result of an attempt that panicked, which isn't repeated.
    pub(crate) fn panicked(attempts: NonZeroU32, panic: &(dyn Any + Send)) -> Self {
        let text = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.as_str(),
            (None, Some(text)) => text,
            (None, None) => "without a message",
        };

        Self::Failed(Failure::new(attempts, format!("it panicked: {text}"), None))
    }
}

impl From<Result<Vec<u8>, WorkError>> for Tried {
    fn from(tried: Result<Vec<u8>, WorkError>) -> Self {
        match tried {
            Ok(outcome) => Self::Done(outcome),
            Err(error) => {
                let attempts = error.attempts();
                let again_in = error.again_in();
                Self::Failed(Failure::new(attempts, error, again_in))
            }
        }
    }
}

impl From<Result<Vec<u8>, FailedAttempt<RunError>>> for Tried {
    fn from(tried: Result<Vec<u8>, FailedAttempt<RunError>>) -> Self {
        let FailedAttempt { error, again_in } = match tried {
            Ok(outcome) => return Self::Done(outcome),
            Err(failed) => failed,
        };

        let attempts = error.attempts().and_then(NonZeroU32::new);
        let whole = error.to_string();

        // The run adds the location of the item again.
        let text = error
            .into_source()
            .map_or(whole, |source| source.to_string());
        Self::Failed(Failure::new(
            attempts.unwrap_or(NonZeroU32::MIN),
            text,
            again_in,
        ))
    }
}

impl From<Tried> for Result<Vec<u8>, StepError> {
    fn from(tried: Tried) -> Self {
        match tried {
            Tried::Done(outcome) => Ok(outcome),
            Tried::Failed(failure) => Err(StepError::failed(failure.attempts, failure.error)),
        }
    }
}

impl Serialize for Tried {
    type Error = serde_json::Error;

    fn serialize(&self) -> Result<Bytes, serde_json::Error> {
        let outcome = match self {
            Self::Done(outcome) => outcome,
            Self::Failed(failed) => return serde_json::to_vec(&Failed { failed }).map(Bytes::from),
        };

        let mut bytes = Vec::with_capacity(BEFORE.len() + outcome.len() + AFTER.len());
        bytes.extend_from_slice(BEFORE);
        bytes.extend_from_slice(outcome);
        bytes.extend_from_slice(AFTER);
        Ok(Bytes::from(bytes))
    }
}

impl Deserialize for Tried {
    type Error = serde_json::Error;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, serde_json::Error> {
        let outcome = bytes
            .strip_prefix(BEFORE)
            .and_then(|rest| rest.strip_suffix(AFTER));
        if let Some(outcome) = outcome {
            return Ok(Self::Done(outcome.to_vec()));
        }

        let Failed { failed } = serde_json::from_slice(bytes)?;
        Ok(Self::Failed(failed))
    }
}

/// Bytes that are already JSON.
pub(crate) struct RawJson(pub(crate) Bytes);

impl RawJson {
    pub(crate) fn of(value: &impl SerdeSerialize) -> Result<Self, BoxError> {
        Ok(Self(serde_json::to_vec(value)?.into()))
    }
}

impl Serialize for RawJson {
    type Error = std::convert::Infallible;

    fn serialize(&self) -> Result<Bytes, Self::Error> {
        Ok(self.0.clone())
    }
}

impl Deserialize for RawJson {
    type Error = std::convert::Infallible;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, Self::Error> {
        Ok(Self(bytes.clone()))
    }
}

/// The result of handlers that write their output as JSON themselves.
pub(crate) type Handled = Result<RawJson, HandlerError>;
