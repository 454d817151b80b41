//! Schemas whose values end: within a limit of tokens, or with a limited nesting.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Bounds, Choice, Form, Shape, Text};
use crate::fit::Fitter;
use crate::syntax::json;

/// A JSON Schema for servers, without references and recursion. Created by an
/// [`AnswerReader`](crate::AnswerReader).
///
/// [Within](crate::AnswerReader::schema_within) a limit of tokens, every text and list has a bound,
/// so that even the longest value fits. Each character of a text counts as one token, which is the
/// maximum for plain English and four times the usual number, and everything else as one token per
/// three characters.
/// The texts that are in no list share at least a fifth of the limit, and are at least as long as
/// those in lists. They have at most 1,900 characters each, because llama.cpp does not support a
/// bound of 2,000, and those in lists at most 200. There may be as many items as leave room for 40
/// characters, or at least for 20: at most 10, two fifths of that in lists inside lists, and at most
/// three levels of a type inside itself.
///
/// A character outside ASCII may take several tokens, so a value with many of these characters can
/// exceed the limit.
///
/// ```
/// use cogwork_typed::AnswerReader;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Note { text: String, tags: Vec<String> }
///
/// let schema = AnswerReader::<Note>::new().schema_within(1000).unwrap();
/// assert_eq!(schema.to_string(), r#"{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":200},"tags":{"type":"array","items":{"type":"string","minLength":1,"maxLength":76},"maxItems":10}},"required":["text","tags"],"additionalProperties":false}"#);
/// assert!(schema.holds(&Note { text: "x".repeat(200), tags: Vec::new() }));
/// assert!(!schema.holds(&Note { text: "x".repeat(201), tags: Vec::new() }));
/// ```
#[derive(Debug, Clone)]
pub struct AnswerSchema(Form);

/// The most that a value may contain.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// The items of a list. Lists inside lists have two fifths of them.
    items: usize,
    /// The characters of a text that is in no list.
    text: usize,
    /// The characters of a text in a list.
    text_in_list: usize,
}

const MOST_LEVELS: usize = 3;
const ITEMS: [usize; 8] = [10, 8, 6, 5, 4, 3, 2, 1];
const MOST_TEXT: usize = 1_900;
const MOST_TEXT_IN_LIST: usize = 200;
/// The least length of a text that can be read well, and of one that can be read.
const LEAST_TEXT: [usize; 2] = [40, 20];
/// The number of characters per token outside of texts.
const CHARACTERS_A_TOKEN: usize = 3;

/// What the largest value contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    texts_in_lists: usize,
    texts: usize,
    /// The characters outside of texts, indented by two blanks.
    around: usize,
}

impl AnswerSchema {
    /// Allows only some texts as the values of all properties of a name.
    #[must_use]
    pub fn with_choices(mut self, property: &str, texts: &[String]) -> Self {
        let choices = texts.iter().map(|text| Choice {
            value: Value::from(text.as_str()),
            description: String::new(),
        });
        let shape = Shape::Choice(choices.collect());

        self.0.root.change_objects(&|object| {
            let properties = object.properties.iter_mut();
            properties
                .filter(|other| other.name == property)
                .for_each(|property| property.shape = shape.clone());
        });
        self
    }

    /// Returns whether a value matches the schema exactly.
    pub fn holds(&self, value: &impl Serialize) -> bool {
        let text = serde_json::to_string(value).unwrap_or_default();
        let tree = json::read(&text, 1).tree;

        let mut fitter = Fitter::new(&self.0, text.len());
        fitter.fit(&self.0.root, &tree).is_exact()
    }
}

impl std::fmt::Display for AnswerSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.schema())
    }
}

impl Form {
    /// Returns the schema whose longest value fits into a number of tokens.
    pub(crate) fn within(&self, tokens: usize) -> Option<AnswerSchema> {
        // Unrolling is the same for any number of items, so that it is done once.
        let levels = (1..=MOST_LEVELS).rev();
        let forms: Vec<Self> = levels.filter_map(|levels| self.unrolled(levels)).collect();
        let mut rooms = Vec::new();
        for form in &forms {
            for items in ITEMS {
                let room = form.room(items, tokens);
                rooms.extend(room.map(|(count, room)| (form, count, room)));
            }
        }

        let (form, _, room) = LEAST_TEXT.iter().find_map(|least| {
            let readable = rooms
                .iter()
                .filter(|(.., room)| room.text.min(room.text_in_list) >= *least);
            // Of the sizes that can be read, the one in which the model can say most.
            readable.max_by_key(|(_, count, _)| *count)
        })?;
        let mut form = (*form).clone();
        form.root.bound(*room, false);
        Some(AnswerSchema(form))
    }

    /// Returns the schema without bounds, or `None` if the answer has parts that no such schema can
    /// describe.
    pub(crate) fn flat_schema(&self) -> Option<AnswerSchema> {
        let mut form = self.unrolled(MOST_LEVELS)?;
        form.root.remove_bounds();

        let mut shapes = form.shapes().into_iter();
        let is_flat = shapes.all(|shape| match shape {
            Shape::Any | Shape::Map(_) | Shape::Tuple(_) | Shape::Ref(_) => false,
            Shape::Object(object) => object.others.is_none(),
            _ => true,
        });
        is_flat.then_some(AnswerSchema(form))
    }

    /// Returns the form without references.
    pub(crate) fn inlined(&self) -> Self {
        self.unrolled(MOST_LEVELS).unwrap_or_default()
    }

    /// Returns the number of values if lists have this many items, and the lengths that are left for
    /// texts; `None` if nothing is left.
    fn room(&self, items: usize, tokens: usize) -> Option<(Count, Room)> {
        let mut room = Room {
            items,
            text: MOST_TEXT,
            text_in_list: MOST_TEXT_IN_LIST,
        };
        let mut root = self.root.clone();
        root.bound(room, false);
        let mut count = Count::default();
        root.count(1, false, 0, &mut count);
        let left = tokens.checked_sub(count.around.div_ceil(CHARACTERS_A_TOKEN))?;

        // Without a share of its own, the thinking would be as short as the text of a step.
        let equal = left * count.texts / (count.texts + count.texts_in_lists).max(1);
        let share = equal.max(left.min(tokens / 5)).min(MOST_TEXT * count.texts);
        if let Some(each) = share.checked_div(count.texts) {
            room.text = each;
        }
        if let Some(each) = (left - share).checked_div(count.texts_in_lists) {
            room.text_in_list = each.min(MOST_TEXT_IN_LIST);
        }
        Some((count, room))
    }

    /// Returns the form without references, and with this many levels of a type inside itself;
    /// `None` if it always contains itself, so that no value ends.
    fn unrolled(&self, levels: usize) -> Option<Self> {
        let mut root = self.root.clone();
        self.unroll(&mut root, levels)?;
        Some(Self {
            root,
            definitions: BTreeMap::new(),
            ..self.clone()
        })
    }

    /// Replaces the references in a shape. Returns `None` if it needs more levels.
    fn unroll(&self, shape: &mut Shape, levels: usize) -> Option<()> {
        match shape {
            Shape::Ref(name) => {
                // Only types that contain themselves use up levels.
                let levels = levels.checked_sub(self.is_recursive(name).into())?;
                let mut definition = self.definitions.get(name)?.clone();
                self.unroll(&mut definition, levels)?;
                *shape = definition;
            }
            Shape::AnyOf(shapes) => {
                shapes.retain_mut(|shape| self.unroll(shape, levels).is_some());
                return (!shapes.is_empty()).then_some(());
            }
            Shape::Object(object) => {
                let mut has_required = true;
                object.properties.retain_mut(|property| {
                    let has_end = self.unroll(&mut property.shape, levels).is_some()
                        || (property.is_required && property.shape.end_as_list());
                    has_required &= has_end || !property.is_required;
                    has_end
                });
                if let Some(others) = &mut object.others {
                    self.unroll(others, levels)?;
                }
                return has_required.then_some(());
            }
            shape => {
                for part in shape.parts_mut() {
                    self.unroll(part, levels)?;
                }
            }
        }
        Some(())
    }
}

impl Shape {
    /// Makes a list an empty one. Returns whether it is a list that may be empty.
    fn end_as_list(&mut self) -> bool {
        match self {
            Self::List(items, bounds) if bounds.contain_count(0) => {
                **items = Self::Null;
                *bounds = Bounds::of_counts(0, 0);
                true
            }
            _ => false,
        }
    }

    /// Removes what the strict mode of OpenAI doesn't support.
    fn remove_bounds(&mut self) {
        match self {
            Self::Integer(bounds) | Self::Number { bounds, .. } | Self::List(_, bounds) => {
                *bounds = Bounds::default();
            }
            Self::Text(text) => *text = Text::default(),
            _ => {}
        }
        self.parts_mut().into_iter().for_each(Self::remove_bounds);
    }

    /// Gives bounds to the texts and lists.
    fn bound(&mut self, room: Room, is_in_list: bool) {
        match self {
            Self::Text(text) => {
                let most = match is_in_list {
                    true => room.text_in_list,
                    false => room.text,
                };
                text.bounds = text.bounds.at_most(most);
                // Small models leave texts empty if the grammar lets them.
                text.bounds.min = text.bounds.min.or(Some(1.0));
            }
            Self::List(items, bounds) => {
                items.bound(room, true);
                let inner = (room.items * 2 / 5).max(1);
                *bounds = bounds.at_most(if is_in_list { inner } else { room.items });
            }
            shape => {
                for part in shape.parts_mut() {
                    part.bound(room, is_in_list);
                }
            }
        }
    }

    /// Counts what this many of the largest value contain, on a level of indentation.
    fn count(&self, times: usize, is_in_list: bool, level: usize, sum: &mut Count) {
        // A comma, a line break, and the indentation.
        let line = |level: usize| times * (2 + 2 * level);

        match self {
            Self::Text(_) => {
                let texts = match is_in_list {
                    true => &mut sum.texts_in_lists,
                    false => &mut sum.texts,
                };
                *texts += times;
                sum.around += times * QUOTES;
            }
            Self::Choice(choices) => {
                let lengths = choices.iter().map(|choice| choice.value.to_string().len());
                sum.around += times * lengths.max().unwrap_or_default();
            }
            Self::List(items, bounds) => {
                let count = times * bounds.most();
                sum.around += line(level) + count * (2 + 2 * (level + 1));
                items.count(count, true, level + 1, sum);
            }
            Self::Tuple(items) => {
                sum.around += line(level);
                for item in items {
                    sum.around += line(level + 1);
                    item.count(times, is_in_list, level + 1, sum);
                }
            }
            Self::Object(object) => {
                sum.around += line(level);
                for property in &object.properties {
                    sum.around += times * (property.name.len() + 4) + line(level + 1);
                    property.shape.count(times, is_in_list, level + 1, sum);
                }
            }
            Self::AnyOf(shapes) => {
                // The value has one of the forms, and the largest one has to fit.
                let sums = shapes.iter().map(|shape| {
                    let mut sum = *sum;
                    shape.count(times, is_in_list, level, &mut sum);
                    sum
                });
                *sum = sums.max().unwrap_or(*sum);
            }
            _ => sum.around += times * NUMBER,
        }
    }
}

/// The number of characters around a text.
const QUOTES: usize = 2;
/// The number of characters of a number.
const NUMBER: usize = 20;
