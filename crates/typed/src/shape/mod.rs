//! The shape of an answer: what its JSON Schema says, as far as it matters for servers, models and
//! the reading of replies.

mod bounded;
mod bounds;
mod describe;
mod fields;
mod join;
mod offered;
mod parse;
mod schema;
mod words;

pub use bounded::AnswerSchema;
pub(crate) use bounds::Bounds;
use fields::Fields;
pub(crate) use offered::ENTRY;
pub(crate) use words::Words;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The key of an answer that isn't an object by itself.
pub(crate) const ANSWER: &str = "answer";

/// The shape of a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Shape {
    /// Any value, or one that the schema describes in a way that isn't read here.
    #[default]
    Any,
    Null,
    Boolean,
    Integer(Bounds),
    Number {
        bounds: Bounds,
        /// Whether it has 32 bits.
        is_single: bool,
    },
    Text(Text),
    Choice(Vec<Choice>),
    List(Box<Shape>, Bounds),
    Tuple(Vec<Shape>),
    /// An object with any keys.
    Map(Box<Shape>),
    Object(Object),
    AnyOf(Vec<Shape>),
    /// A definition by its name.
    Ref(String),
}

/// What a text looks like. Only the bounds are checked; the others are for servers and models.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Text {
    pub(crate) bounds: Bounds,
    /// The name of a format, such as `date`.
    pub(crate) format: Option<String>,
    /// A regular expression.
    pub(crate) pattern: Option<String>,
}

impl Text {
    /// Returns whether any longer text is one.
    pub(crate) fn may_be_long(&self) -> bool {
        self.bounds.max.is_none() && self.format.is_none() && self.pattern.is_none()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) value: Value,
    pub(crate) description: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) properties: Vec<Property>,
    /// The values of other keys. Without a shape of them, they aren't part of the value.
    pub(crate) others: Option<Box<Shape>>,
    /// Whether the type refuses other keys.
    pub(crate) is_closed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) shape: Shape,
    pub(crate) is_required: bool,
    /// The value that the type takes if the key is missing.
    pub(crate) default: Option<Value>,
    /// The shape that is asked for, if it is narrower than the one that is read.
    pub(crate) offered: Option<Shape>,
    /// Whether a value is asked for even if the key may be missing.
    pub(crate) is_wanted: bool,
    /// What the value is, in other words than those for its shape.
    pub(crate) kind: Option<String>,
}

impl Property {
    /// Creates a property that every object has.
    pub(crate) fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            shape,
            is_required: true,
            default: None,
            offered: None,
            is_wanted: false,
            kind: None,
        }
    }
}

/// The key of a thought. It is written before the answer, and may be missing.
pub(crate) const THOUGHT: &str = "thought";

impl Shape {
    /// Returns the shapes directly inside it.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::List(inner, _) | Self::Map(inner) => vec![inner],
            Self::Tuple(shapes) | Self::AnyOf(shapes) => shapes.iter().collect(),
            Self::Object(object) => {
                let properties = object.properties.iter();
                let shapes = properties.map(|property| &property.shape);
                shapes.chain(object.others.as_deref()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn parts_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::List(inner, _) | Self::Map(inner) => vec![inner],
            Self::Tuple(shapes) | Self::AnyOf(shapes) => shapes.iter_mut().collect(),
            Self::Object(object) => {
                let properties = object.properties.iter_mut();
                let shapes = properties.map(|property| &mut property.shape);
                shapes.chain(object.others.as_deref_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Changes each object, from the outside in.
    fn change_objects(&mut self, change: &impl Fn(&mut Object)) {
        if let Self::Object(object) = self {
            change(object);
        }
        for part in self.parts_mut() {
            part.change_objects(change);
        }
    }
}

impl Object {
    /// Sorts the properties as the fields of their type.
    fn sort(&mut self, known: &[Fields]) {
        let names = self.properties.iter().map(|property| &property.name);
        let has_all = |fields: &&Fields| names.clone().all(|name| fields.contains(&name.as_str()));

        // schemars keeps the order of required properties only, and models write in the order of
        // the schema.
        if let Some(fields) = known.iter().find(has_all) {
            let place = |name: &str| fields.iter().position(|field| *field == name);
            self.properties
                .sort_by_key(|property| place(&property.name));
        }
    }
}

/// The shape of an answer, with its definitions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    pub(crate) root: Shape,
    pub(crate) definitions: BTreeMap<String, Shape>,
    /// What the type is for, from its doc comment.
    pub(crate) description: String,
    /// The names and aliases of the fields of the type, in their order.
    pub(crate) fields: Fields,
    /// Whether its keys are put together when a program runs. It is then asked for by the form that
    /// is [asked for](Self::asked).
    pub(crate) is_of_keys: bool,
    /// Whether the value is the JSON itself, which keeps the keys that its schema leaves open.
    pub(crate) keeps_open_keys: bool,
    /// The names of lines that are left out.
    pub(crate) left_out: Vec<String>,
    /// The keys by which a value is recognized.
    pub(crate) words: Words,
}

impl Form {
    pub(crate) fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        let settings = SchemaSettings::draft2020_12();
        // `$schema` describes the document, which no server needs.
        let settings = settings.with(|settings| settings.meta_schema = None);
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let mut form = Self::of_schema(schema.as_value());

        let fields = fields::fields::<T>();
        for shape in form.definitions.values_mut().chain([&mut form.root]) {
            shape.change_objects(&|object| object.sort(&fields));
        }
        if !form.is_wrapped() {
            form.fields = fields.first().copied().unwrap_or_default();
        }
        // The fields have further names than the schema.
        form.words = Words::of(&form);
        form
    }

    /// Creates the form of an object with these keys.
    pub(crate) fn of_keys(properties: Vec<Property>) -> Self {
        let object = Object {
            properties,
            ..Object::default()
        };
        let mut form = Self {
            root: Shape::Object(object),
            is_of_keys: true,
            ..Self::default()
        };
        form.words = Words::of(&form);
        form
    }

    /// Returns the keys of the answer, if it is an object.
    pub(crate) fn properties(&self) -> &[Property] {
        match self.resolve(&self.root) {
            Shape::Object(object) => &object.properties,
            _ => &[],
        }
    }

    /// Returns the shape that a reference leads to.
    pub(crate) fn resolve<'f>(&'f self, shape: &'f Shape) -> &'f Shape {
        let mut shape = shape;
        // A definition that only refers to itself has no shape.
        for _ in 0..=self.definitions.len() {
            match shape {
                Shape::Ref(name) => match self.definitions.get(name) {
                    Some(definition) => shape = definition,
                    None => return &Shape::Any,
                },
                shape => return shape,
            }
        }

        &Shape::Any
    }

    /// Returns all shapes, with those inside others.
    fn shapes(&self) -> Vec<&Shape> {
        let mut shapes: Vec<&Shape> = self.definitions.values().chain([&self.root]).collect();
        let mut next = 0;
        while let Some(shape) = shapes.get(next) {
            shapes.extend(shape.parts());
            next += 1;
        }
        shapes
    }

    /// Returns whether a definition is inside itself.
    pub(crate) fn is_recursive(&self, name: &str) -> bool {
        let mut shapes: Vec<&Shape> = self.definitions.get(name).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(shape) = shapes.pop() {
            match shape {
                Shape::Ref(inner) if inner == name => return true,
                // Definitions may refer to each other.
                Shape::Ref(inner) if seen.insert(inner) => {
                    shapes.extend(self.definitions.get(inner));
                }
                shape => shapes.extend(shape.parts()),
            }
        }
        false
    }

    /// Returns whether the answer is wrapped in an object, because it isn't one by itself.
    pub(crate) fn is_wrapped(&self) -> bool {
        !matches!(self.resolve(&self.root), Shape::Object(_))
    }

    /// Returns whether a value of this shape may be null.
    pub(crate) fn is_nullable(&self, shape: &Shape) -> bool {
        match self.resolve(shape) {
            Shape::Null | Shape::Any => true,
            // A nullable definition inside a nullable one adds nothing.
            Shape::AnyOf(shapes) => shapes.contains(&Shape::Null),
            _ => false,
        }
    }
}
