//! Schemas whose values end: within a limit of tokens, or with a limited nesting.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::Keywords;
use super::{Bounds, Choice, Form, Object, Property, Shape, Text, Words};
use crate::fit::Fitter;
use crate::syntax::json::{self, Dialect};

/// A JSON Schema for servers, without references and recursion.
///
/// [`within`](Self::within) a limit of tokens, every text and list has a bound, so that even the
/// longest value fits. Each character of a text counts as one token, which is the maximum for plain
/// English and four times the usual number, and what is around a text in a list as 25. The texts
/// that are in no list share a fifth of the limit, but have at most 1,900 characters each, because
/// llama.cpp does not support a bound of 2,000. The rest is for the texts in lists, which have 40 to
/// 200 characters. There may be as many items as leave room for 40: at most 10, two fifths of that
/// in lists inside lists, and at most three levels of a type inside itself.
///
/// A character outside ASCII may take several tokens, so a value with many of these characters can
/// exceed the limit.
///
/// ```
/// use cogwork_typed::AnswerSchema;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Note { text: String, tags: Vec<String> }
///
/// let schema = AnswerSchema::within::<Note>(1000);
/// assert_eq!(schema.to_string(), r#"{"type":"object","properties":{"text":{"type":"string","maxLength":200},"tags":{"type":"array","items":{"type":"string","maxLength":55},"maxItems":10}},"required":["text","tags"],"additionalProperties":false}"#);
/// assert!(schema.holds(&Note { text: "x".repeat(200), tags: Vec::new() }));
/// assert!(!schema.holds(&Note { text: "x".repeat(201), tags: Vec::new() }));
/// ```
#[derive(Debug, Clone)]
pub struct AnswerSchema {
    form: Form,
    keywords: Keywords,
}

/// What a value may contain.
#[derive(Debug, Clone, Copy, Default)]
struct Room {
    /// The levels of a type inside itself.
    levels: usize,
    /// The items of a list. Lists inside lists have two fifths of them.
    items: Option<usize>,
    /// The characters of a text that is in no list.
    text: Option<usize>,
    /// The characters of a text in a list.
    text_in_list: Option<usize>,
}

/// The minimum number of tokens of a value with lists.
const LEAST_TOKENS: usize = 512;
const MOST_LEVELS: usize = 3;
const ITEMS: [usize; 6] = [10, 8, 6, 5, 4, 3];
const MOST_TEXT: usize = 1_900;
const TEXT_IN_LIST: std::ops::RangeInclusive<usize> = 40..=200;
/// The tokens of the keys, brackets, other values and indentation around a text.
const AROUND_TEXT: usize = 25;

impl AnswerSchema {
    /// Creates a schema whose longest value fits into a number of tokens. Fewer than 512 count as
    /// 512.
    pub fn within<T: JsonSchema + DeserializeOwned>(tokens: usize) -> Self {
        let form = Form::of::<T>();
        let rooms = (1..=MOST_LEVELS).flat_map(|levels| ITEMS.map(|items| (levels, items)));

        let mut fitted: Vec<(usize, Room)> = rooms
            .map(|(levels, items)| form.room(levels, items, tokens.max(LEAST_TOKENS)))
            .collect();
        fitted.sort_by_key(|(texts, _)| *texts);

        let smallest = fitted.first().copied();
        let largest = fitted
            .into_iter()
            .rfind(|(_, room)| room.text_in_list >= Some(*TEXT_IN_LIST.start()));
        let room = largest.or(smallest).map(|(_, room)| room);
        Self {
            form: form.in_room(room.unwrap_or_default()),
            keywords: Keywords::All,
        }
    }

    /// Creates a schema for the strict mode of OpenAI, without bounds and with this many levels of a
    /// type that contains itself.
    pub fn flat<T: JsonSchema + DeserializeOwned>(levels: usize) -> Self {
        let room = Room {
            levels,
            ..Room::default()
        };
        Self {
            form: Form::of::<T>().in_room(room),
            keywords: Keywords::Strict,
        }
    }

    /// Allows only some texts as the values of all properties of a name.
    #[must_use]
    pub fn with_choices(mut self, property: &str, texts: &[String]) -> Self {
        let choices = texts.iter().map(|text| Choice {
            value: Value::from(text.as_str()),
            description: String::new(),
        });
        self.form
            .root
            .set(property, &Shape::Choice(choices.collect()));
        self
    }

    /// Returns whether a value matches the schema exactly.
    pub fn holds(&self, value: &impl Serialize) -> bool {
        let text = serde_json::to_string(value).unwrap_or_default();
        let tree = json::read(&text, 1, Dialect::Json).tree;
        let words = Words::default();

        let mut fitter = Fitter::new(&self.form, &words, text.len());
        fitter.fit(&self.form.root, &tree).is_exact()
    }
}

impl std::fmt::Display for AnswerSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.form.with(self.keywords))
    }
}

impl Form {
    /// Returns the number of texts if lists have this many items, and the lengths that are left for
    /// them.
    fn room(&self, levels: usize, items: usize, tokens: usize) -> (usize, Room) {
        let mut room = Room {
            levels,
            items: Some(items),
            ..Room::default()
        };
        let (texts, in_lists) = self.in_room(room).root.count_texts(false);

        let fifth = (tokens / 5).min(MOST_TEXT * texts);
        let each = (tokens - fifth) / in_lists.max(1);
        room.text = Some(fifth / texts.max(1));
        room.text_in_list = Some(each.saturating_sub(AROUND_TEXT).min(*TEXT_IN_LIST.end()));
        (in_lists, room)
    }

    /// Returns the form without references, with bounds where it has none.
    fn in_room(&self, room: Room) -> Self {
        Self {
            root: self.bounded(&self.root, room, false).unwrap_or(Shape::Any),
            definitions: Default::default(),
            description: self.description.clone(),
            ..self.clone()
        }
    }

    /// Returns a shape with bounds, or `None` if it has too many levels.
    fn bounded(&self, shape: &Shape, room: Room, is_in_list: bool) -> Option<Shape> {
        let bounded = |shape: &Shape| self.bounded(shape, room, is_in_list);

        Some(match shape {
            Shape::Ref(name) => {
                let definition = self.definitions.get(name)?;
                let levels = match definition.contains(name) {
                    true => room.levels.checked_sub(1)?,
                    false => room.levels,
                };
                return self.bounded(definition, Room { levels, ..room }, is_in_list);
            }
            Shape::Text(text) => {
                let most = if is_in_list {
                    room.text_in_list
                } else {
                    room.text
                };
                Shape::Text(Text {
                    bounds: text.bounds.or_at_most(most),
                    ..text.clone()
                })
            }
            Shape::List(items, bounds) => {
                let inner = room.items.map(|items| (items * 2 / 5).max(1));
                let most = if is_in_list { inner } else { room.items };
                let items = self.bounded(items, room, true)?;
                Shape::List(Box::new(items), bounds.or_at_most(most))
            }
            Shape::Map(values) => Shape::Map(Box::new(bounded(values)?)),
            Shape::Tuple(items) => Shape::Tuple(items.iter().map(bounded).collect::<Option<_>>()?),
            Shape::AnyOf(shapes) => Shape::AnyOf(shapes.iter().filter_map(bounded).collect()),
            Shape::Object(object) => {
                let mut properties = Vec::new();
                for property in &object.properties {
                    match bounded(&property.shape) {
                        Some(shape) => properties.push(Property {
                            shape,
                            ..property.clone()
                        }),
                        None if property.is_required => return None,
                        None => {}
                    }
                }
                Shape::Object(Object {
                    properties,
                    others: object.others.clone(),
                })
            }
            shape => shape.clone(),
        })
    }
}

impl Bounds {
    fn or_at_most(self, most: Option<usize>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "the bounds are small")]
        let most = most.map(|most| most as f64);
        Self {
            max: self.max.or(most),
            ..self
        }
    }
}

impl Shape {
    /// Returns whether a definition is inside the shape.
    fn contains(&self, definition: &str) -> bool {
        match self {
            Self::Ref(name) => name == definition,
            Self::List(inner, _) | Self::Map(inner) => inner.contains(definition),
            Self::Tuple(shapes) | Self::AnyOf(shapes) => {
                shapes.iter().any(|shape| shape.contains(definition))
            }
            Self::Object(object) => {
                let mut properties = object.properties.iter();
                properties.any(|property| property.shape.contains(definition))
            }
            _ => false,
        }
    }

    /// Sets the shape of all properties of a name.
    fn set(&mut self, name: &str, shape: &Self) {
        match self {
            Self::List(inner, _) | Self::Map(inner) => inner.set(name, shape),
            Self::Tuple(shapes) | Self::AnyOf(shapes) => {
                shapes.iter_mut().for_each(|inner| inner.set(name, shape));
            }
            Self::Object(object) => {
                for property in &mut object.properties {
                    match property.name == name {
                        true => property.shape = shape.clone(),
                        false => property.shape.set(name, shape),
                    }
                }
            }
            _ => {}
        }
    }

    /// Counts the texts of the largest value: those in no list, and those in lists.
    fn count_texts(&self, is_in_list: bool) -> (usize, usize) {
        let sum = |sum: (usize, usize), more: (usize, usize)| (sum.0 + more.0, sum.1 + more.1);

        match self {
            Self::Text(_) if is_in_list => (0, 1),
            Self::Text(_) => (1, 0),
            Self::List(items, bounds) => {
                let (_, texts) = items.count_texts(true);
                (0, texts * bounds.most())
            }
            Self::Object(object) => {
                let values = object.properties.iter();
                values
                    .map(|property| property.shape.count_texts(is_in_list))
                    .fold((0, 0), sum)
            }
            Self::Tuple(items) => {
                let items = items.iter().map(|item| item.count_texts(is_in_list));
                items.fold((0, 0), sum)
            }
            Self::AnyOf(shapes) => {
                let counts = shapes.iter().map(|shape| shape.count_texts(is_in_list));
                counts.max().unwrap_or_default()
            }
            _ => (0, 0),
        }
    }
}

impl Bounds {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the bounds are small numbers of items"
    )]
    pub(super) fn most(self) -> usize {
        self.max.unwrap_or_default() as usize
    }
}
