use bytes::Bytes;
use cogwork_flow::BoxError;
use cogwork_flow::engine::{Json, StepError, WorkError};
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::{Deserialize, Serialize};
use serde::{Deserialize as SerdeDeserialize, Serialize as SerdeSerialize};

/// The result of a call, as it is recorded.
#[derive(SerdeSerialize, SerdeDeserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tried {
    Done(Json),
    Failed { attempts: u32, error: String },
}

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
            // On record like an outcome: the engine would otherwise repeat the call by its own
            // rules.
            Err(error) => Self::Failed {
                attempts: error.attempts,
                // It is kept in Restate's journal.
                error: shortened(&error.to_string()),
            },
        }
    }
}

impl From<Tried> for Result<Json, StepError> {
    fn from(tried: Tried) -> Self {
        match tried {
            Tried::Done(outcome) => Ok(outcome),
            Tried::Failed { attempts, error } => {
                let error = error.into();
                Err(WorkError { attempts, error }.into())
            }
        }
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
