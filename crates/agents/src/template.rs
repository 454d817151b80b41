use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use crate::load::NodeIds;
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

/// An error of a template: a brace that has no counterpart, or too long a text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TemplateError(Cow<'static, str>);

cogwork_text::debug_as_display!(TemplateError);

impl TemplateError {
    const OPEN: Self = Self(Cow::Borrowed(
        "`{` is not closed; expected a slot such as `{last}`, or `{{` for a brace",
    ));
    const CLOSED: Self = Self(Cow::Borrowed(
        "`}` closes nothing; expected `}}` for a brace",
    ));
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

        while let Some((before, after)) = rest.find(['{', '}']).map(|at| rest.split_at(at)) {
            plain.push_str(before);
            let doubled = ["{", "}"].into_iter().find_map(|brace| {
                let after = after.strip_prefix(brace)?.strip_prefix(brace)?;
                Some((brace, after))
            });
            if let Some((brace, after)) = doubled {
                plain.push_str(brace);
                rest = after;
                continue;
            }

            let slot = after.strip_prefix('{').ok_or(TemplateError::CLOSED)?;
            let (slot, after) = slot.split_once('}').ok_or(TemplateError::OPEN)?;
            // The brace before is the one that was forgotten.
            if slot.contains('{') {
                return Err(TemplateError::OPEN);
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

    /// Returns the first slot that is none of these nodes, or a key that the output of one can't have,
    /// and the slots that there are in its place.
    pub(crate) fn unknown_slot(&self, nodes: &NodeIds<'_>) -> Option<(&str, Vec<String>)> {
        const OTHERS: [&str; 2] = ["input", "last"];

        let mut slots = self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(slot.as_str()),
            Piece::Text(_) => None,
        });
        slots.find_map(|slot| {
            let mut begun = names(slot);
            let known = begun.find(|(name, _)| OTHERS.contains(name) || nodes.contains(name));
            let Some((node, keys)) = known else {
                let known = OTHERS.into_iter().chain(nodes.iter());
                return Some((slot, known.map(str::to_owned).collect()));
            };

            let key = keys.split('.').next().filter(|key| !key.is_empty())?;
            let known = nodes.keys(node)?;
            let slots = known.iter().map(|key| format!("{node}.{key}"));
            (!known.contains(&key)).then(|| (slot, slots.collect()))
        })
    }

    /// Fills the slots. Each image and file of the filled-in outputs is attached once.
    ///
    /// # Errors
    ///
    /// Returns an error if the text would exceed [`MAX_FILLED`](Self::MAX_FILLED) bytes.
    pub fn fill(&self, state: &FlowState) -> Result<Output, TemplateError> {
        self.fill_as("the template", state)
    }

    /// Fills the slots of the template that an error calls `what`. Without a limit, a loop over
    /// `{a}{a}` would double a text until memory runs out.
    pub(crate) fn fill_as(&self, what: &str, state: &FlowState) -> Result<Output, TemplateError> {
        let mut filled = Output::default();

        // Parsed and attached once, because there can be many slots of one long output.
        let mut parsed: HashMap<&str, Option<Json>> = HashMap::new();
        let mut attached: HashSet<&str> = HashSet::new();

        for piece in &self.0 {
            let text = match piece {
                Piece::Text(text) => Cow::Borrowed(text.as_str()),
                Piece::Slot(slot) => {
                    let mut outputs = names(slot)
                        .filter_map(|(name, keys)| Some((name, keys, output(state, name)?)));
                    let Some((name, keys, output)) = outputs.next() else {
                        continue;
                    };

                    if attached.insert(name) {
                        attach(output, &mut filled);
                    }
                    match keys {
                        "" => Cow::Borrowed(output.text.as_str()),
                        keys => {
                            let read = || serde_json::from_str(&output.text).ok();
                            let json = parsed.entry(name).or_insert_with(read);
                            value_of(json.as_ref(), keys).into()
                        }
                    }
                }
            };

            let most = Self::MAX_FILLED;
            if filled.text.len().saturating_add(text.len()) > most {
                let message = format!(
                    "{what} has more than {most} bytes with its slots filled; expected fewer"
                );
                return Err(TemplateError(message.into()));
            }
            filled.text.push_str(&text);
        }

        Ok(filled)
    }
}

/// Attaches the images and files of an output, and whether it is complete.
fn attach(output: &Output, filled: &mut Output) {
    filled.include(output);
    for block in &output.blocks {
        if !filled.blocks.contains(block) {
            filled.blocks.push(block.clone());
        }
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
        // A number may be a key of an object or a place in a list.
        let place = key.parse::<usize>().ok();
        value.get(key).or_else(|| value.get(place?))
    });

    match value {
        // Models leave optional keys out or write `null`.
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
