use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use crate::load::NodeIds;
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::{FlowState, Output};

/// A prompt with slots for earlier outputs.
///
/// | slot | value |
/// |---|---|
/// | `{input}` | the input of the flow |
/// | `{last}` | the last output, or the input if there is none yet |
/// | `{node id}` | the last output of the node with this id; empty if there is none |
/// | `{node id.key}` | the value of a key of an output in JSON; empty if there is none |
///
/// `{{` and `}}` are replaced with single braces. Images and files are attached together with the
/// texts they belong to. Slots inside filled-in texts are not replaced.
///
/// ```
/// use cogwork_agents::{FlowState, Output, Template};
///
/// let template = Template::new("Review this answer to {input}: {the writer}").unwrap();
/// let mut state = FlowState::new("Why is the sky blue?");
/// state.put("the writer", Output::new("Because of {scattering}."));
/// assert_eq!(template.fill(&state).unwrap().text, "Review this answer to Why is the sky blue?: Because of {scattering}.");
///
/// assert_eq!(
///     Template::new("{").unwrap_err().to_string(),
///     "`{` is not closed; expected a slot such as `{last}`, or `{{` for a brace",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

/// An error of a template.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// An opening brace is not closed.
    #[error("`{{` is not closed; expected a slot such as `{{last}}`, or `{{{{` for a brace")]
    Open,
    /// A closing brace has no opening one.
    #[error("`}}` closes nothing; expected `}}}}` for a brace")]
    Closed,
    /// A slot has an unknown name.
    #[error("{}", unknown(slot, known))]
    UnknownSlot {
        /// The name of the slot.
        slot: String,
        /// The known names.
        known: Vec<String>,
    },
}

cogwork_text::debug_as_display!(TemplateError);

/// The error returned if a filled template is too long. Without a limit, a loop over `{a}{a}` would
/// double a text until memory runs out.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} has more than {most} bytes with its slots filled; expected fewer", most = Template::MAX_FILLED)]
pub struct FillError {
    what: Cow<'static, str>,
}

cogwork_text::debug_as_display!(FillError);

impl FillError {
    /// Sets the name of the setting.
    pub(crate) fn of(self, what: impl Into<Cow<'static, str>>) -> Self {
        Self { what: what.into() }
    }
}

fn unknown(slot: &str, known: &[String]) -> String {
    let slots = || {
        ["input", "last"]
            .into_iter()
            .chain(known.iter().map(String::as_str))
    };

    let braced = slots().map(|slot| format!("{{{slot}}}"));
    let meant = did_you_mean(nearest(slot, slots()));
    format!(
        "unknown slot `{{{}}}`; known slots: {}, and `{{{{` for a brace{meant}",
        Name(slot),
        list(braced)
    )
}

impl Default for Template {
    /// The slot `{last}`.
    fn default() -> Self {
        Self(vec![Piece::Slot("last".to_owned())])
    }
}

impl Template {
    /// The maximum number of bytes of a filled template: 1 MiB.
    pub const MAX_FILLED: usize = 1 << 20;

    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Returns an error if a brace has no counterpart.
    pub fn new(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = after
                .strip_prefix("{{")
                .or_else(|| after.strip_prefix("}}"))
            {
                plain.extend(after_brace(rest, at));
                rest = after;
                continue;
            }

            let Some(after) = after.strip_prefix('{') else {
                return Err(TemplateError::Closed);
            };

            let (slot, after) = after.split_once('}').ok_or(TemplateError::Open)?;
            if slot.contains('{') {
                return Err(TemplateError::Open);
            }

            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }

            pieces.push(Piece::Slot(slot.to_owned()));
            rest = after;
        }

        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }

        Ok(Self(pieces))
    }

    /// Parses a text whose slots are these nodes.
    pub(crate) fn for_nodes(text: &str, nodes: &NodeIds<'_>) -> Result<Self, TemplateError> {
        let template = Self::new(text)?;
        let is_known = |name: &str| matches!(name, "input" | "last") || nodes.contains(name);
        let unknown = template.0.iter().find_map(|piece| match piece {
            Piece::Slot(slot) if !names(slot).any(|(name, _)| is_known(name)) => Some(slot.clone()),
            _ => None,
        });

        match unknown {
            Some(slot) => Err(TemplateError::UnknownSlot {
                slot,
                known: nodes.iter().map(str::to_owned).collect(),
            }),
            None => Ok(template),
        }
    }

    /// Fills the slots. Each image and file of the filled-in outputs is attached once.
    ///
    /// # Errors
    ///
    /// Returns an error if the text would exceed [`MAX_FILLED`](Self::MAX_FILLED) bytes.
    pub fn fill(&self, state: &FlowState) -> Result<Output, FillError> {
        let mut filled = Output::default();

        // The slots whose images and files have already been attached. Comparing those again would
        // take time proportional to their size.
        let mut seen: HashSet<&str> = HashSet::new();

        // Parsed once, because there can be many slots of one long output.
        let mut parsed: HashMap<&str, Option<Json>> = HashMap::new();

        for piece in &self.0 {
            let (text, slot, said) = match piece {
                Piece::Text(text) => (Cow::Borrowed(text.as_str()), "", None),
                Piece::Slot(slot) => {
                    let found = names(slot).find_map(|(name, keys)| {
                        let said = output(state, name)?;
                        if keys.is_empty() {
                            return Some((Cow::Borrowed(said.text.as_str()), name, Some(said)));
                        }

                        let read = || serde_json::from_str::<Json>(&said.text).ok();
                        let parsed = parsed.entry(name).or_insert_with(read);
                        Some((value_of(parsed.as_ref(), keys).into(), name, Some(said)))
                    });
                    match found {
                        Some(found) => found,
                        None => continue,
                    }
                }
            };

            if filled.text.len().saturating_add(text.len()) > Self::MAX_FILLED {
                return Err(FillError {
                    what: Cow::Borrowed("the template"),
                });
            }

            filled.text.push_str(&text);
            filled.truncated |= said.is_some_and(|said| said.truncated);
            let new = said.filter(|_| seen.insert(slot));

            for block in new.into_iter().flat_map(|said| &said.blocks) {
                if !filled.blocks.contains(block) {
                    filled.blocks.push(block.clone());
                }
            }
        }

        Ok(filled)
    }
}

/// The maximum number of keys in a slot. Without a limit, a slot of dots would take quadratic time.
const MAX_KEYS: usize = 16;

/// Returns the names that a slot may begin with, each with the keys behind it, the longest name
/// first. Ids may contain dots.
fn names(slot: &str) -> impl Iterator<Item = (&str, &str)> {
    let dots = slot.rmatch_indices('.').take(MAX_KEYS).map(|(at, _)| at);
    let begun = dots.filter_map(|at| Some((slot.get(..at)?, slot.get(at + 1..)?)));
    std::iter::once((slot, "")).chain(begun)
}

fn output<'s>(state: &'s FlowState, name: &str) -> Option<&'s Output> {
    match name {
        "input" => Some(state.input()),
        "last" => Some(state.last()),
        node => state.output(node),
    }
}

/// Returns the text of the value behind these keys.
fn value_of(output: Option<&Json>, keys: &str) -> String {
    let value = keys.split('.').fold(output, |value, key| {
        let value = value?;
        let place = key.parse::<usize>().ok();
        value.get(key).or_else(|| value.get(place?))
    });

    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Returns the character at this offset.
fn after_brace(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}
