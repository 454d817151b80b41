//! Vectors in a cassette: each is one line of numbers.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Embeddings, LlmError, Usage};

/// Recorded embeddings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vectors {
    vectors: Vec<Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// The numbers of a vector, as a text with spaces between them.
struct Line(Vec<f32>);

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: Vec<String> = self.0.iter().map(f32::to_string).collect();
        serializer.serialize_str(&numbers.join(" "))
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = String::deserialize(deserializer)?;
        let numbers = line.split_whitespace().map(|number| {
            number.parse().map_err(|_| {
                let shown = cogwork_text::Name(number);
                D::Error::custom(format_args!(
                    "`{shown}` is not a number; expected numbers with spaces between them"
                ))
            })
        });

        Ok(Self(numbers.collect::<Result<_, _>>()?))
    }
}

impl From<&Embeddings> for Vectors {
    fn from(embeddings: &Embeddings) -> Self {
        let lines = embeddings.vectors().iter().cloned().map(Line);
        Self {
            vectors: lines.collect(),
            usage: embeddings.usage(),
            model: embeddings.model().map(str::to_owned),
        }
    }
}

impl Vectors {
    /// Returns the embeddings of so many texts.
    pub(super) fn embeddings(self, texts: usize) -> Result<Embeddings, LlmError> {
        let lines = self.vectors.into_iter().map(|line| line.0);
        let mut embeddings = Embeddings::new(lines)?.checked_for(texts)?;

        if let Some(usage) = self.usage {
            embeddings = embeddings.with_usage(usage);
        }
        Ok(match self.model {
            Some(model) => embeddings.with_model(model),
            None => embeddings,
        })
    }
}
