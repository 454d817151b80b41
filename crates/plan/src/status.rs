use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::excerpt::excerpt;

/// The status of a step.
///
/// ```
/// use cogwork_plan::Status;
///
/// assert_eq!("Verification Needed".parse(), Ok(Status::VerificationNeeded));
/// assert_eq!(Status::Done.to_string(), "Done");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// To be done.
    Pending,
    /// Done. The result contains the outcome.
    Done,
    /// Done, but in doubt. The mark contains the reason.
    VerificationNeeded,
}

impl Status {
    /// Returns the serialised form: `Pending`, `Done` or `Verification Needed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Done => "Done",
            Self::VerificationNeeded => "Verification Needed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error for text that isn't a [`Status`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown status {text:?}, expected Pending, Done or Verification Needed")]
pub struct UnknownStatus {
    text: String,
}

cogwork_text::debug_as_display!(UnknownStatus);

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        [Self::Pending, Self::Done, Self::VerificationNeeded]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| UnknownStatus {
                text: excerpt(text),
            })
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Status;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status: Pending, Done or Verification Needed")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Status, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Name)
    }
}
