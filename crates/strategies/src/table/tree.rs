//! The tree of a text, read within a budget.
//!
//! It keeps unknown and duplicate keys, so that all problems can be reported rather than only the
//! first.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The maximum length of a text with tables, in bytes.
pub const MAX_TABLE_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// Returns a description of the type, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// The values and bytes that may still be created. YAML aliases can expand a short text enormously,
/// so the size of the result is limited, and not only that of the text.
pub(super) struct Budget {
    values: usize,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            values: 50_000,
            bytes: 4 * MAX_TABLE_BYTES,
        }
    }
}

impl Budget {
    fn take<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let too_large = || E::custom("the tables are too large; expected fewer or smaller ones");
        self.values = self.values.checked_sub(1).ok_or_else(too_large)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_large)?;

        Ok(())
    }
}

/// The maximum depth: strategies, strategy, stages, stage, parameters, parameter, and nested types.
const MAX_DEPTH: usize = 16;

pub(super) struct ReadTree<'b> {
    budget: &'b mut Budget,
    depth: usize,
}

impl<'b> ReadTree<'b> {
    pub(super) fn new(budget: &'b mut Budget) -> Self {
        Self { budget, depth: 0 }
    }

    fn below<E: Error>(&mut self) -> Result<ReadTree<'_>, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format!(
                "the tables nest deeper than {MAX_DEPTH} levels; expected fewer"
            )));
        }

        Ok(ReadTree {
            budget: self.budget,
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for ReadTree<'_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadTree<'_> {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        self.budget.take(0).map(|()| Tree::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Tree, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        self.budget.take(0).map(|()| Tree::Bool(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        self.budget.take(0).map(|()| Tree::Number(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds of parameters are doubles"
    )]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        self.visit_f64(value as f64)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds of parameters are doubles"
    )]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
        self.budget
            .take(text.len())
            .map(|()| Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Tree, A::Error> {
        self.budget.take(0)?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self.below()?)? {
            items.push(item);
        }

        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Tree, A::Error> {
        self.budget.take(0)?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key_seed(self.below()?)? {
            let key = match key {
                Tree::Text(key) => key,
                Tree::Number(key) => key.to_string(),
                Tree::Bool(key) => key.to_string(),
                other => {
                    return Err(A::Error::custom(format!(
                        "a key is {}; expected a text",
                        other.kind()
                    )));
                }
            };
            entries.push((key, map.next_value_seed(self.below()?)?));
        }

        Ok(Tree::Map(entries))
    }
}
