use bytes::Bytes;
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Json, StepError, WorkError};
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::{Deserialize, Serialize};
use serde::{Deserialize as SerdeDeserialize, Serialize as SerdeSerialize};

/// The result of a step, as it is recorded.
///
/// An outcome is written as `{"done":…}`, with the JSON of the outcome. It isn't parsed here.
#[derive(Debug, Clone)]
pub(crate) enum Tried {
    Done(Json),
    Failed(Failure),
}

#[derive(Debug, Clone, SerdeSerialize, SerdeDeserialize)]
pub(crate) struct Failure {
    pub(crate) attempts: u32,
    pub(crate) error: String,
}

#[derive(SerdeSerialize, SerdeDeserialize)]
struct Failed<F> {
    failed: F,
}

const BEFORE: &[u8] = b"{\"done\":";
const AFTER: &[u8] = b"}";

/// The maximum length of a recorded error, in characters.
const MAX_ERROR: usize = 10_000;

/// Cuts a text off that a provider might have filled with a whole page.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(MAX_ERROR).collect()
}

impl From<Result<Json, WorkError>> for Tried {
    fn from(tried: Result<Json, WorkError>) -> Self {
        match tried {
            Ok(outcome) => Self::Done(outcome),
            Err(error) => Self::Failed(Failure {
                attempts: error.attempts,
                error: shortened(&error.to_string()),
            }),
        }
    }
}

impl From<Tried> for Result<Json, StepError> {
    fn from(tried: Tried) -> Self {
        match tried {
            Tried::Done(outcome) => Ok(outcome),
            Tried::Failed(Failure { attempts, error }) => {
                let error = error.into();
                Err(WorkError { attempts, error }.into())
            }
        }
    }
}

impl Serialize for Tried {
    type Error = serde_json::Error;

    fn serialize(&self) -> Result<Bytes, serde_json::Error> {
        let outcome = match self {
            Self::Done(outcome) => outcome.as_str(),
            Self::Failed(failed) => return serde_json::to_vec(&Failed { failed }).map(Bytes::from),
        };

        let mut bytes = Vec::with_capacity(BEFORE.len() + outcome.len() + AFTER.len());
        bytes.extend_from_slice(BEFORE);
        bytes.extend_from_slice(outcome.as_bytes());
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
            let outcome = std::str::from_utf8(outcome).map_err(serde::de::Error::custom)?;
            return Ok(Self::Done(Json::from_record(outcome)));
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
