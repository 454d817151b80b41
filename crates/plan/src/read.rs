//! Deserialises plans. Written by hand, since a derived implementation would read to any depth
//! before it could be checked, would reject numbers as text, and would reject `null`.

use std::fmt;

use cogwork_text::Name;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use crate::excerpt::excerpt;
use crate::plan::too_deep;
use crate::read_text::ReadText;
use crate::{MAX_DEPTH, Plan, Status, Step};

const KEYS: &[&str] = &["description", "status", "result", "mark", "sub_steps"];

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ReadSteps {
            depth: 1,
            optional: false,
        }
        .deserialize(deserializer)
        .map(Plan::from)
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ReadStep { depth: 1 }.deserialize(deserializer)
    }
}

/// Reads the steps of one level. The level is known while reading, so that text that is too deep is
/// refused before all of it is read.
struct ReadSteps {
    depth: usize,
    /// Whether `null` is an empty list.
    optional: bool,
}

impl<'de> DeserializeSeed<'de> for ReadSteps {
    type Value = Vec<Step>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Step>, D::Error> {
        // Not `deserialize_seq`, because readers would then return their own error, which quotes
        // the whole text.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadSteps {
    type Value = Vec<Step>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of plan steps")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Step>, A::Error> {
        let mut steps = Vec::new();
        while let Some(step) = list.next_element_seed(ReadStep { depth: self.depth })? {
            steps.push(step);
        }

        Ok(steps)
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<Step>, E> {
        if self.optional {
            Ok(Vec::new())
        } else {
            Err(E::invalid_type(Unexpected::Unit, &self))
        }
    }

    fn visit_none<E: Error>(self) -> Result<Vec<Step>, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Step>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Step>, E> {
        Err(E::invalid_type(Unexpected::Str(&excerpt(text)), &self))
    }
}

struct ReadStep {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for ReadStep {
    type Value = Step;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Step, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadStep {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan step with description and status")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Step, A::Error> {
        if self.depth > MAX_DEPTH {
            return Err(A::Error::custom(too_deep()));
        }

        let mut description = None;
        let mut status = None;
        let mut result = None;
        let mut mark = None;
        let mut sub_steps = Vec::new();
        let mut seen = Vec::with_capacity(KEYS.len());

        while let Some(key) = map.next_key_seed(ReadKey { seen: &mut seen })? {
            match key {
                "description" => {
                    let text: Option<String> = map.next_value_seed(ReadText)?;

                    // A `null` description is an error, not the text "null".
                    let null = || A::Error::custom("description is null, expected a text");
                    description = Some(text.ok_or_else(null)?);
                }
                "status" => status = Some(map.next_value::<Status>()?),
                "result" => result = map.next_value_seed(ReadText)?,
                "mark" => mark = map.next_value_seed(ReadText)?,
                // `ReadKey` returns no other key.
                _ => {
                    sub_steps = map.next_value_seed(ReadSteps {
                        depth: self.depth + 1,
                        optional: true,
                    })?
                }
            }
        }

        Ok(Step {
            description: description.ok_or_else(|| A::Error::missing_field("description"))?,
            status: status.ok_or_else(|| A::Error::missing_field("status"))?,
            result,
            mark,
            sub_steps,
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Step, E> {
        Err(E::invalid_type(Unexpected::Str(&excerpt(text)), &self))
    }
}

/// Reads one of [`KEYS`]. A repeated key is refused here, so that the error points to it.
struct ReadKey<'a> {
    seen: &'a mut Vec<&'static str>,
}

impl<'de> DeserializeSeed<'de> for ReadKey<'_> {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for ReadKey<'_> {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of a plan step")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        let Some(&key) = KEYS.iter().find(|key| **key == text) else {
            return Err(E::unknown_field(&Name(text).to_string(), KEYS));
        };

        if self.seen.contains(&key) {
            return Err(E::duplicate_field(key));
        }

        self.seen.push(key);
        Ok(key)
    }
}
