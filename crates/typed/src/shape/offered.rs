//! The form that is asked for, which says less than the one that is read: servers support only part
//! of JSON Schema, and the longest reply has to fit into the maximum number of tokens.

use super::{Bounds, Choice, Form, Object, Others, Property, Shape, Text};

/// The keys of an entry of a map, which servers only support as a list of entries.
pub(crate) const ENTRY: [&str; 2] = ["name", "value"];

/// The maximum number of integers that are listed. Servers support lists of values, but not every
/// one supports a minimum and a maximum.
const MAX_INTEGERS: f64 = 32.0;

/// The maximum number of characters of a text. llama.cpp doesn't support a bound of 2,000.
const MAX_FIELD: usize = 1900;

/// The maximum number of characters of a text in a list or an object.
const MAX_ITEM: usize = 400;

/// The least number of characters of such a text.
const MIN_ITEM: usize = 24;

/// How many times as long as a text in a list other texts are.
const FIELD_TO_ITEM: usize = 4;

/// The maximum number of items of a list: the largest that leaves enough room for texts is used.
const ITEMS: [usize; 8] = [20, 12, 8, 6, 4, 3, 2, 1];

/// The number of characters per token outside of texts.
const CHARACTERS_A_TOKEN: usize = 3;

impl Form {
    /// Returns the form that is asked for.
    pub(crate) fn offered(&self) -> Self {
        self.mapped(|shape| shape.offered())
    }

    /// Returns the form that is asked for, with bounds of texts and lists, so that the longest reply
    /// takes at most this many tokens. Returns `None` if there is none.
    ///
    /// Each character of a text counts as one token, and everything else as one token per three
    /// characters.
    pub(crate) fn offered_within(&self, tokens: usize) -> Option<Self> {
        let offered = self.offered();

        ITEMS.into_iter().find_map(|items| {
            let listed = offered.mapped(|shape| shape.limited(items, None, Place::Root));
            let longest = Size::of(&listed, &listed.root, Place::Root, 0);
            let texts = Texts::fit(longest, tokens)?;
            Some(offered.mapped(|shape| shape.limited(items, Some(texts), Place::Root)))
        })
    }

    fn mapped(&self, change: impl Fn(&Shape) -> Shape) -> Self {
        let definitions = self.definitions.iter();
        Self {
            root: change(&self.root),
            definitions: definitions
                .map(|(name, shape)| (name.clone(), change(shape)))
                .collect(),
            description: self.description.clone(),
            fields: self.fields,
            left_out: Vec::new(),
        }
    }
}

impl Shape {
    fn offered(&self) -> Self {
        match self {
            // Lists and objects are written as JSON in a text.
            Self::Any => Self::AnyOf(vec![
                Self::Text(Text::default()),
                Self::number(),
                Self::Boolean,
                Self::Null,
            ]),
            Self::Integer(bounds) => integers(*bounds).unwrap_or(Self::Integer(Bounds::default())),
            Self::Number { bounds, .. } => integers(*bounds).unwrap_or(Self::number()),
            Self::List(items, bounds) => Self::List(Box::new(items.offered()), *bounds),
            Self::Tuple(items) => Self::Tuple(items.iter().map(Self::offered).collect()),
            Self::Map(values) => entries(values),
            Self::Object(object) => Self::Object(Object {
                properties: object.properties.iter().map(Property::offered).collect(),
                others: Others::Denied,
            }),
            Self::AnyOf(shapes) => Self::AnyOf(shapes.iter().map(Self::offered).collect()),
            shape => shape.clone(),
        }
    }

    fn number() -> Self {
        Self::Number {
            bounds: Bounds::default(),
            is_single: false,
        }
    }

    fn with_null(self, is_nullable: bool) -> Self {
        let mut shapes = match self {
            Self::AnyOf(shapes) => shapes,
            shape => vec![shape],
        };

        shapes.retain(|shape| *shape != Self::Null);
        if is_nullable {
            shapes.push(Self::Null);
        }
        match shapes.len() {
            1 => shapes.swap_remove(0),
            _ => Self::AnyOf(shapes),
        }
    }

    /// Returns the shape with at most `items` items in its lists, half as many in lists inside of
    /// lists, and with bounds of its texts.
    fn limited(&self, items: usize, texts: Option<Texts>, place: Place) -> Self {
        let inner = |shape: &Self| shape.limited(items, texts, place);
        match self {
            Self::Text(text) => Self::Text(match texts {
                Some(texts) => text.limited(texts.of(place)),
                None => text.clone(),
            }),
            Self::List(shape, bounds) => {
                let least = bounds.min.unwrap_or_default();
                let most = bounds
                    .max
                    .map_or(float(items), |most| most.min(float(items)));
                let bounds = Bounds {
                    max: Some(most.max(least)),
                    ..*bounds
                };
                let items = (items / 2).max(1);
                Self::List(Box::new(shape.limited(items, texts, Place::Inside)), bounds)
            }
            Self::Tuple(shapes) => Self::Tuple(shapes.iter().map(inner).collect()),
            Self::AnyOf(shapes) => Self::AnyOf(shapes.iter().map(inner).collect()),
            Self::Object(object) => Self::Object(Object {
                properties: object
                    .properties
                    .iter()
                    .map(|property| Property {
                        shape: property.shape.limited(items, texts, place.inner()),
                        ..property.clone()
                    })
                    .collect(),
                others: object.others.clone(),
            }),
            shape => shape.clone(),
        }
    }
}

impl Property {
    fn offered(&self) -> Self {
        let shape = self.offered.as_ref().unwrap_or(&self.shape).offered();
        let shape = match (self.is_wanted, self.is_required) {
            (true, _) => shape.with_null(false),
            (false, true) => shape,
            (false, false) => shape.with_null(true),
        };

        Self {
            shape,
            is_required: true,
            offered: None,
            ..self.clone()
        }
    }
}

impl Text {
    fn limited(&self, most: usize) -> Self {
        let most = float(most);
        Self {
            bounds: Bounds {
                min: self.bounds.min.or(Some(1.0)),
                max: Some(self.bounds.max.map_or(most, |bound| bound.min(most))),
            },
            ..self.clone()
        }
    }
}

/// Returns a list of names and values.
fn entries(values: &Shape) -> Shape {
    let [name, value] = ENTRY;
    let property = |name: &str, shape| Property {
        name: name.to_owned(),
        description: String::new(),
        shape,
        is_required: true,
        default: None,
        offered: None,
        is_wanted: false,
        kind: None,
    };
    let entry = Shape::Object(Object {
        properties: vec![
            property(name, Shape::Text(Text::default())),
            property(value, values.offered()),
        ],
        others: Others::Denied,
    });

    Shape::List(Box::new(entry), Bounds::default())
}

/// Returns the integers of a small range.
fn integers(bounds: Bounds) -> Option<Shape> {
    let min = bounds.min?.ceil();
    let max = bounds.max?.floor();
    // A range such as the one from 0 to 1 may be meant for fractions.
    if !(2.0..=MAX_INTEGERS).contains(&(max - min)) && min != max {
        return None;
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range has few integers, and larger ones have no exact float"
    )]
    let range = (min as i64)..=(max as i64);
    let choice = |integer: i64| Choice {
        value: integer.into(),
        description: String::new(),
    };
    Some(Shape::Choice(range.map(choice).collect()))
}

#[expect(clippy::cast_precision_loss, reason = "the bounds are small")]
fn float(bound: usize) -> f64 {
    bound as f64
}

/// Where a value is. Texts inside of values are shorter.
#[derive(Debug, Clone, Copy)]
enum Place {
    Root,
    Key,
    Inside,
}

impl Place {
    fn inner(self) -> Self {
        match self {
            Self::Root => Self::Key,
            Self::Key | Self::Inside => Self::Inside,
        }
    }
}

/// The maximum numbers of characters of texts.
#[derive(Debug, Clone, Copy)]
struct Texts {
    field: usize,
    item: usize,
}

impl Texts {
    fn fit(size: Size, tokens: usize) -> Option<Self> {
        let around = size.around.div_ceil(CHARACTERS_A_TOKEN);
        let left = tokens.checked_sub(around)?;
        let fields = size.fields.saturating_mul(FIELD_TO_ITEM);
        let parts = fields.saturating_add(size.items);

        let item = left / parts.max(1);
        (item >= MIN_ITEM).then(|| Self {
            field: (item * FIELD_TO_ITEM).min(MAX_FIELD),
            item: item.min(MAX_ITEM),
        })
    }

    fn of(self, place: Place) -> usize {
        match place {
            Place::Root | Place::Key => self.field,
            Place::Inside => self.item,
        }
    }
}

/// The size of the longest value of a shape.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// The number of characters outside of texts.
    around: usize,
    /// The number of texts outside of lists.
    fields: usize,
    /// The number of texts in lists.
    items: usize,
}

/// The number of characters of a number.
const NUMBER: usize = 20;

/// The number of characters around a property: quotes, a colon, a blank, a comma and a line break.
const AROUND_PROPERTY: usize = 6;

/// The number of characters after an item: a comma and a line break.
const AROUND_ITEM: usize = 2;

/// The number of characters of two brackets and a line break.
const BRACKETS: usize = 3;

/// The nesting up to which a type that contains itself is counted.
const MAX_DEPTH: usize = 8;

impl Size {
    /// Returns the size of a value at a depth of nesting. Each level is indented by two blanks.
    fn of(form: &Form, shape: &Shape, place: Place, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::default();
        }
        let indent = 2 * depth;
        let brackets = Self::around(BRACKETS + indent);
        let item = |shape: &Shape| {
            Self::of(form, shape, Place::Inside, depth + 1)
                .plus(Self::around(AROUND_ITEM + indent + 2))
        };

        match form.resolve(shape) {
            Shape::Text(_) => Self::text(place),
            Shape::Choice(choices) => {
                let lengths = choices.iter().map(|choice| choice.value.to_string().len());
                Self::around(lengths.max().unwrap_or_default())
            }
            Shape::Integer(_) | Shape::Number { .. } => Self::around(NUMBER),
            Shape::AnyOf(shapes) => shapes
                .iter()
                .map(|shape| Self::of(form, shape, place, depth))
                .fold(Self::default(), Self::longer),
            Shape::List(shape, bounds) => item(shape).times(bounds.most()).plus(brackets),
            Shape::Tuple(shapes) => shapes.iter().map(item).fold(brackets, Self::plus),
            Shape::Object(object) => {
                let property = |property: &Property| {
                    let around = property.name.len() + AROUND_PROPERTY + indent + 2;
                    Self::of(form, &property.shape, place.inner(), depth + 1)
                        .plus(Self::around(around))
                };
                let properties = object.properties.iter().map(property);
                properties.fold(brackets, Self::plus)
            }
            Shape::Boolean | Shape::Null | Shape::Any | Shape::Map(_) | Shape::Ref(_) => {
                Self::around(5)
            }
        }
    }

    fn text(place: Place) -> Self {
        let is_item = matches!(place, Place::Inside);
        Self {
            around: 2,
            fields: usize::from(!is_item),
            items: usize::from(is_item),
        }
    }

    fn around(around: usize) -> Self {
        Self {
            around,
            ..Self::default()
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, usize::saturating_add)
    }

    fn longer(self, other: Self) -> Self {
        self.with(other, usize::max)
    }

    fn times(self, times: usize) -> Self {
        let times = Self {
            around: times,
            fields: times,
            items: times,
        };
        self.with(times, usize::saturating_mul)
    }

    fn with(self, other: Self, join: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            around: join(self.around, other.around),
            fields: join(self.fields, other.fields),
            items: join(self.items, other.items),
        }
    }
}

impl Bounds {
    pub(crate) fn of_counts(least: usize, most: usize) -> Self {
        Self {
            min: Some(float(least)),
            max: Some(float(most)),
        }
    }
}
