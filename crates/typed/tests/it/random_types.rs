//! Valid answers of random types that are damaged: what is read equals what was meant, or it is
//! refused with a place.

use std::borrow::Cow;
use std::cell::RefCell;

use cogwork_typed::{AnswerProblem, AnswerReader, ReadAnswer};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::damage::{Damage, check_problem, damage, damaged, harmless, text};

/// The keys of objects. They differ in their letters.
const KEYS: [&str; 10] = [
    "name",
    "first_name",
    "total",
    "is_open",
    "items",
    "kind",
    "answer",
    "value",
    "next_step",
    "text",
];

const VARIANTS: [&str; 6] = ["new", "in_transit", "Delivered", "OnHold", "N/A", "true"];

#[derive(Debug, Clone)]
enum Type {
    Boolean,
    Integer,
    Number,
    Text,
    Variants(Vec<&'static str>),
    Optional(Box<Self>),
    List(Box<Self>),
    Pair(Box<Self>, Box<Self>),
    Map(Box<Self>),
    Object(Vec<(&'static str, Self)>),
}

impl Type {
    /// Returns the schema as schemars writes it for such a type.
    fn schema(&self) -> Value {
        match self {
            Self::Boolean => json!({"type": "boolean"}),
            Self::Integer => json!({"type": "integer", "format": "int32"}),
            Self::Number => json!({"type": "number", "format": "double"}),
            Self::Text => json!({"type": "string"}),
            Self::Variants(names) => json!({"type": "string", "enum": names}),
            Self::Optional(inner) => json!({"anyOf": [inner.schema(), {"type": "null"}]}),
            Self::List(inner) => json!({"type": "array", "items": inner.schema()}),
            Self::Pair(first, second) => json!({
                "type": "array",
                "prefixItems": [first.schema(), second.schema()],
                "minItems": 2,
                "maxItems": 2,
            }),
            Self::Map(inner) => json!({"type": "object", "additionalProperties": inner.schema()}),
            Self::Object(fields) => {
                let properties = fields
                    .iter()
                    .map(|(name, field)| ((*name).to_owned(), field.schema()));
                let properties: Map<String, Value> = properties.collect();

                let required = fields.iter().filter(|(_, field)| !field.is_optional());
                let required: Vec<&str> = required.map(|(name, _)| *name).collect();
                json!({"type": "object", "properties": properties, "required": required})
            }
        }
    }

    fn is_optional(&self) -> bool {
        matches!(self, Self::Optional(_))
    }

    /// Returns the value that a derived `Deserialize` would accept, with every field.
    fn accept(&self, value: Value) -> Result<Value, String> {
        let expected = || format!("expected {self:?}");
        match (self, value) {
            (Self::Boolean, value @ Value::Bool(_))
            | (Self::Text, value @ Value::String(_))
            | (Self::Optional(_), value @ Value::Null) => Ok(value),
            (Self::Integer, Value::Number(number)) if number.is_i64() => Ok(number.into()),
            (Self::Number, Value::Number(number)) => Ok(json!(number.as_f64())),
            (Self::Variants(names), Value::String(name)) if names.contains(&name.as_str()) => {
                Ok(name.into())
            }
            (Self::Optional(inner), value) => inner.accept(value),
            (Self::List(inner), Value::Array(items)) => {
                let items = items.into_iter().map(|item| inner.accept(item));
                items.collect()
            }
            (Self::Pair(first, second), Value::Array(items)) => {
                let [one, two] = <[Value; 2]>::try_from(items).map_err(|_| expected())?;
                Ok(json!([first.accept(one)?, second.accept(two)?]))
            }
            (Self::Map(inner), Value::Object(entries)) => {
                let entries = entries.into_iter();
                let entries = entries.map(|(key, value)| Ok((key, inner.accept(value)?)));
                let entries: Result<Map<String, Value>, String> = entries.collect();
                Ok(entries?.into())
            }
            (Self::Object(fields), Value::Object(mut entries)) => {
                let fields = fields.iter().map(|(name, field)| {
                    let value = match entries.remove(*name) {
                        Some(value) => value,
                        None if field.is_optional() => Value::Null,
                        None => return Err(format!("`{name}` is missing")),
                    };
                    Ok(((*name).to_owned(), field.accept(value)?))
                });
                let fields: Result<Map<String, Value>, String> = fields.collect();
                Ok(fields?.into())
            }
            _ => Err(expected()),
        }
    }

    fn value(&self) -> BoxedStrategy<Value> {
        match self {
            Self::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Self::Integer => any::<i32>().prop_map(Value::from).boxed(),
            Self::Number => (-1_000_000..1_000_000_i32)
                .prop_map(|number| json!(f64::from(number) / 100.0))
                .boxed(),
            Self::Text => text().prop_map(Value::from).boxed(),
            Self::Variants(names) => select(names.clone()).prop_map(Value::from).boxed(),
            Self::Optional(inner) => prop_oneof![Just(Value::Null), inner.value()].boxed(),
            Self::List(inner) => vec(inner.value(), 0..4).prop_map(Value::from).boxed(),
            Self::Pair(first, second) => (first.value(), second.value())
                .prop_map(|(first, second)| json!([first, second]))
                .boxed(),
            Self::Map(inner) => btree_map("[A-Z]{1,3}", inner.value(), 0..4)
                .prop_map(|entries| json!(entries))
                .boxed(),
            Self::Object(fields) => {
                let values: Vec<_> = fields.iter().map(|(_, field)| field.value()).collect();
                let names: Vec<String> = fields.iter().map(|(name, _)| (*name).into()).collect();
                values
                    .prop_map(move |values| {
                        let fields: Map<_, _> = names.iter().cloned().zip(values).collect();
                        Value::from(fields)
                    })
                    .boxed()
            }
        }
    }
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Boolean),
        Just(Type::Integer),
        Just(Type::Number),
        Just(Type::Text),
        subsequence(VARIANTS.to_vec(), 2..=4).prop_map(Type::Variants),
    ];

    leaf.prop_recursive(3, 12, 4, |inner| {
        let optional = inner.clone().prop_map(|inner| match inner {
            optional @ Type::Optional(_) => optional,
            inner => Type::Optional(Box::new(inner)),
        });
        let field = prop_oneof![3 => inner.clone(), 1 => optional];
        let list = inner.clone().prop_map(|item| Type::List(Box::new(item)));
        let map = inner.clone().prop_map(|value| Type::Map(Box::new(value)));
        let pair = (inner.clone(), inner)
            .prop_map(|(first, second)| Type::Pair(Box::new(first), Box::new(second)));

        prop_oneof![3 => object(field), 1 => list, 1 => map, 1 => pair]
    })
}

fn object(field: impl Strategy<Value = Type> + Clone) -> impl Strategy<Value = Type> {
    let names = subsequence(KEYS.to_vec(), 1..=4);
    let fields = names.prop_flat_map(move |names| {
        let fields = vec(field.clone(), names.len());
        fields.prop_map(move |fields| names.iter().copied().zip(fields).collect())
    });
    fields.prop_map(Type::Object)
}

fn typed_value() -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(|of| {
        let value = of.value();
        (Just(of), value)
    })
}

thread_local! {
    /// The type that [`Answer`] is.
    static TYPE: RefCell<Type> = const { RefCell::new(Type::Boolean) };
}

/// A value of the current type.
#[derive(Debug, PartialEq, Serialize)]
struct Answer(Value);

impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let schema = TYPE.with_borrow(Type::schema);
        Schema::try_from(schema).unwrap()
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let accepted = TYPE.with_borrow(|of| of.accept(value));
        accepted.map(Self).map_err(D::Error::custom)
    }
}

struct Damaged {
    meant: Answer,
    reply: String,
    read: Result<ReadAnswer<Answer>, AnswerProblem>,
}

impl Damaged {
    fn new(of: &Type, value: Value, damage: &Damage, is_pretty: bool) -> Self {
        TYPE.set(of.clone());

        let written = match of {
            Type::Object(_) => value.clone(),
            _ => json!({ "answer": value }),
        };
        let json = if is_pretty {
            serde_json::to_string_pretty(&written).unwrap()
        } else {
            written.to_string()
        };

        let reply = damaged(&written, &json, damage, &KEYS);
        Self {
            read: AnswerReader::new().read(&reply),
            reply,
            meant: Answer(of.accept(value).unwrap()),
        }
    }

    /// Returns whether the damage made another valid answer, as `[1,2]` without its comma is.
    fn means_another(&self, of: &Type) -> bool {
        valid(of, &self.reply).is_some_and(|value| value != self.meant.0)
    }

    /// Returns whether only a closing bracket is missing from an answer. A bracket that is written
    /// twice, as in `[[]`, may also be two of which one isn't closed.
    fn lacks_a_bracket_of(&self, of: &Type, answer: &Answer) -> bool {
        let mut places = self.reply.char_indices();

        places.any(|(at, _)| {
            let (before, after) = self.reply.split_at(at);
            let closed = ["]", "}"].map(|bracket| format!("{before}{bracket}{after}"));
            closed
                .iter()
                .any(|json| valid(of, json).as_ref() == Some(&answer.0))
        })
    }
}

/// Returns the value of an answer that is valid JSON of the right type.
fn valid(of: &Type, json: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(json).ok()?;
    let value = match of {
        Type::Object(_) => value,
        _ => value["answer"].clone(),
    };

    of.accept(value).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_was_meant((of, value) in typed_value(), damage in damage(), is_pretty: bool) {
        // Another object around a map is an entry of it.
        prop_assume!(!matches!(damage, Damage::Wrapper) || matches!(of, Type::Object(_)));

        let damaged = Damaged::new(&of, value, &damage, is_pretty);
        prop_assume!(!damaged.means_another(&of));

        match &damaged.read {
            Ok(read) if read.value == damaged.meant => {}
            Ok(read) => {
                let is_other = damaged.lacks_a_bracket_of(&of, &read.value);
                prop_assert!(is_other, "{:?} of {}", read.value, damaged.reply);
            }
            Err(problem) => check_problem(problem),
        }
    }

    #[test]
    fn harmless_damage_is_repaired(
        (of, value) in typed_value(),
        damage in harmless(),
        is_pretty: bool,
    ) {
        let damaged = Damaged::new(&of, value, &damage, is_pretty);

        match damaged.read {
            Ok(read) => prop_assert_eq!(read.value, damaged.meant, "{}", damaged.reply),
            Err(problem) => prop_assert!(false, "{problem}: {}", damaged.reply),
        }
    }
}
