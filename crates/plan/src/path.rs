use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::excerpt::excerpt;

/// The position of a step: `2.1` is the first sub-step of the second step. Numbers start at 1.
///
/// Paths are ordered like the steps in the document: a step, its sub-steps, the next step.
/// Serialised as text.
///
/// ```
/// use cogwork_plan::StepPath;
///
/// let path: StepPath = "2.1".parse()?;
/// assert_eq!(path.indices(), [2, 1]);
/// assert!("2".parse::<StepPath>()? < path && path < "10".parse()?);
/// # Ok::<(), cogwork_plan::StepPathError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepPath {
    /// Contains at least one number and no zeros.
    indices: Vec<usize>,
}

impl StepPath {
    /// Returns the numbers, starting with the top level. There is at least one, and each is at
    /// least 1.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Creates a path from indices starting at 0.
    pub(crate) fn from_positions(positions: impl IntoIterator<Item = usize>) -> Self {
        Self {
            indices: positions.into_iter().map(|position| position + 1).collect(),
        }
    }

    /// Returns the indices, starting at 0, of the parents from the top level down and of the step.
    pub(crate) fn positions(&self) -> Option<(impl Iterator<Item = usize>, usize)> {
        let (last, parents) = self.indices.split_last()?;
        Some((parents.iter().map(|index| index - 1), last - 1))
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.indices
            .iter()
            .enumerate()
            .try_for_each(|(level, index)| {
                let dot = if level == 0 { "" } else { "." };
                write!(f, "{dot}{index}")
            })
    }
}

/// The error for a text or a list of numbers that isn't a [`StepPath`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} isn't a step path; expected numbers from 1 joined by dots, as in 2.1")]
pub struct StepPathError {
    text: String,
}

cogwork_text::debug_as_display!(StepPathError);

impl FromStr for StepPath {
    type Err = StepPathError;

    fn from_str(text: &str) -> Result<Self, StepPathError> {
        let number = |part: &str| {
            // `parse` would also accept "+1".
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse()
                .ok()
                .filter(|&index: &usize| digits && index > 0)
        };

        let indices = text.split('.').map(number).collect::<Option<Vec<_>>>();
        indices
            .map(|indices| Self { indices })
            .ok_or_else(|| StepPathError {
                text: excerpt(text),
            })
    }
}

impl TryFrom<Vec<usize>> for StepPath {
    type Error = StepPathError;

    fn try_from(indices: Vec<usize>) -> Result<Self, StepPathError> {
        let path = Self { indices };
        if path.indices.is_empty() || path.indices.contains(&0) {
            return Err(StepPathError {
                text: excerpt(&path.to_string()),
            });
        }

        Ok(path)
    }
}

impl Serialize for StepPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StepPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = StepPath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step path, as in \"2.1\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StepPath, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}
