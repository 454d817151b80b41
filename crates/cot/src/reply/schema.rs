//! The JSON Schemas by which a server is asked to hold a reply to its form, made from the types.
//!
//! A step is derived once, as a schema that refers to itself, and written out level by level: recursion
//! has no longest reply, and servers refuse it (Anthropic, Ollama) or fail in the middle of a reply (vLLM).

use cogwork_plan::{Plan, Status, Step};
use schemars::schema_for;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::parts::Reply;

/// Levels of steps in [`Reply::flat_json_schema`].
pub(crate) const FLAT_LEVELS: usize = 3;

/// How large a reply can become under [`Reply::json_schema`]: bounds that keep the longest one within a
/// limit of tokens.
///
/// A text counts one token for each character, the most that a tokenizer makes of plain English, and four
/// times what it commonly does. What stands around the texts (keys, brackets, statuses, and the blanks of
/// JSON written with two a level) counts one token for three characters. A fifth of the limit,
/// and at most 1,900 characters (llama.cpp takes no bound of 2,000), goes to `current_thinking`. The rest
/// goes to the plan: of several shapes, the largest in which each description, result and mark may have
/// at least 40 characters, and at most 200.
///
/// Letters beyond ASCII may take a tokenizer of another language several tokens each; a reply made of
/// them alone can pass the limit, and is then asked for again, as any that is cut off.
///
/// ```
/// use cogwork_cot::ReplyBounds;
///
/// let bounds = ReplyBounds::for_tokens(4096);
/// assert_eq!((bounds.levels(), bounds.steps(), bounds.sub_steps()), (2, 6, 2));
/// assert_eq!((bounds.thinking(), bounds.text()), (819, 44));
/// assert!(bounds.longest_reply_tokens() <= 4096);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyBounds {
    thinking: usize,
    text: usize,
    shape: Shape,
}

/// How many steps a plan may have, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    levels: usize,
    steps: usize,
    sub_steps: usize,
}

/// From the largest plan to the smallest.
const SHAPES: [Shape; 12] = [
    shape(3, 8, 3),
    shape(2, 10, 4),
    shape(3, 6, 2),
    shape(2, 8, 3),
    shape(2, 6, 3),
    shape(2, 6, 2),
    shape(2, 5, 2),
    shape(2, 4, 2),
    shape(1, 8, 0),
    shape(1, 6, 0),
    shape(1, 4, 0),
    shape(1, 3, 0),
];

const fn shape(levels: usize, steps: usize, sub_steps: usize) -> Shape {
    Shape {
        levels,
        steps,
        sub_steps,
    }
}

/// Tokens of a reply where the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;
/// Tokens below which no plan fits.
const LEAST_TOKENS: usize = 512;
const MOST_THINKING: usize = 1900;
const TEXT: std::ops::RangeInclusive<usize> = 40..=200;
/// Texts of a step: description, result and mark.
const TEXTS: usize = 3;
/// Characters around the texts that make a token.
const CHARACTERS_A_TOKEN: usize = 3;

impl Default for ReplyBounds {
    /// Those of 8,192 tokens: what holds where a request sets no limit.
    fn default() -> Self {
        Self::for_tokens(DEFAULT_TOKENS)
    }
}

impl ReplyBounds {
    /// The bounds under which the longest reply takes at most so many tokens. Below 512 they are those
    /// of 512, since no plan fits into less.
    pub fn for_tokens(tokens: u32) -> Self {
        let tokens = usize::try_from(tokens)
            .unwrap_or(usize::MAX)
            .max(LEAST_TOKENS);
        let thinking = (tokens / 5).min(MOST_THINKING);
        let left = tokens - thinking;
        let fitted = SHAPES.map(|shape| {
            let around = shape.tokens_around();
            let text = left.saturating_sub(around) / (TEXTS * shape.len());
            Self {
                thinking,
                text: text.min(*TEXT.end()),
                shape,
            }
        });

        let [.., smallest] = fitted;
        fitted
            .into_iter()
            .find(|bounds| TEXT.contains(&bounds.text))
            .unwrap_or(smallest)
    }

    /// The most characters of `current_thinking`.
    pub fn thinking(&self) -> usize {
        self.thinking
    }

    /// The most characters of a description, a result and a mark, each.
    pub fn text(&self) -> usize {
        self.text
    }

    /// The most levels of steps.
    pub fn levels(&self) -> usize {
        self.shape.levels
    }

    /// The most steps of the first level.
    pub fn steps(&self) -> usize {
        self.shape.steps
    }

    /// The most steps into which a step may be broken.
    pub fn sub_steps(&self) -> usize {
        self.shape.sub_steps
    }

    /// The tokens of the longest reply, counted as said above.
    pub fn longest_reply_tokens(&self) -> usize {
        self.thinking + TEXTS * self.text * self.shape.len() + self.shape.tokens_around()
    }

    /// Whether a reply within the bounds can hold a plan.
    pub(crate) fn hold(&self, plan: &Plan) -> bool {
        let fits = |text: &str| text.chars().nth(self.text).is_none();
        plan.steps().len() <= self.shape.steps
            && plan.walk().all(|entry| {
                let Step {
                    description,
                    result,
                    mark,
                    sub_steps,
                    ..
                } = entry.step;

                let texts = [Some(description), result.as_ref(), mark.as_ref()];
                entry.depth <= self.shape.levels
                    && sub_steps.len() <= self.shape.sub_steps
                    && texts.into_iter().flatten().all(|text| fits(text))
            })
    }
}

impl Shape {
    /// Steps of the largest plan.
    fn len(self) -> usize {
        (0..self.levels)
            .fold((0, self.steps), |(sum, level), _| {
                (sum + level, level * self.sub_steps)
            })
            .0
    }

    /// Tokens around the texts of the longest reply.
    fn tokens_around(self) -> usize {
        let empty = Reply {
            current_thinking: String::new(),
            planning: Plan::from(self.largest(self.levels, self.steps)),
            next_thought_needed: false,
        };

        // A plan of three levels can be written.
        let around =
            serde_json::to_string_pretty(&empty).map_or(usize::MAX, |text| text.chars().count());
        around.div_ceil(CHARACTERS_A_TOKEN)
    }

    fn largest(self, levels: usize, steps: usize) -> Vec<Step> {
        if levels == 0 {
            return Vec::new();
        }

        let step = Step {
            description: String::new(),
            status: Status::VerificationNeeded,
            result: Some(String::new()),
            mark: Some(String::new()),
            sub_steps: self.largest(levels - 1, self.sub_steps),
        };

        vec![step; steps]
    }
}

impl Reply {
    /// The JSON Schema of a reply within bounds, as text: every length and count has a limit, and each
    /// level of steps refers to the next by `$ref`. What may be left out may also be null.
    ///
    /// For llama.cpp, vLLM, Ollama, and servers like them. The properties stand in the order in which
    /// they are to be written, which these servers keep.
    ///
    /// ```
    /// use cogwork_cot::{Reply, ReplyBounds};
    ///
    /// let schema = Reply::json_schema(ReplyBounds::for_tokens(2000));
    /// assert!(schema.contains(r#""current_thinking":{"type":"string","description":"#));
    /// assert!(schema.contains(r#""maxLength":400"#));
    /// ```
    pub fn json_schema(bounds: ReplyBounds) -> String {
        let (mut reply, step) = derived();
        let steps = |most: usize, least: usize, height: usize| {
            let mut steps =
                json!({"maxItems": most, "items": {"$ref": format!("#/$defs/Step{height}")}});
            if least > 0 {
                insert(&mut steps, "", "minItems", least);
            }

            steps
        };

        let mut definitions = Map::new();
        for height in 0..bounds.shape.levels {
            let mut step = step.clone();
            insert(
                &mut step,
                "/properties/description",
                "maxLength",
                bounds.text,
            );

            for optional in ["result", "mark"] {
                // Beside a list of types the bound would be passed over by node-llama-cpp.
                let at = format!("/properties/{optional}");
                let text = json!({"type": "string", "maxLength": bounds.text});
                remove(&mut step, &at, &["type"]);
                insert(&mut step, &at, "anyOf", vec![text, json!({"type": "null"})]);
            }

            match height.checked_sub(1) {
                None => remove(&mut step, "/properties", &["sub_steps"]),
                Some(beneath) => {
                    merge(
                        &mut step,
                        "/properties/sub_steps",
                        steps(bounds.shape.sub_steps, 0, beneath),
                    );
                }
            }

            // Named by the levels beneath, so that each stands behind those it refers to: Ollama binds
            // them in their order.
            definitions.insert(format!("Step{height}"), step);
        }

        merge(
            &mut reply,
            "/properties/planning",
            steps(bounds.shape.steps, 1, bounds.shape.levels - 1),
        );

        let thinking = json!({"minLength": 1, "maxLength": bounds.thinking});
        merge(&mut reply, "/properties/current_thinking", thinking);
        insert(&mut reply, "", "$defs", definitions);

        written(&reply)
    }

    /// The JSON Schema of a reply for servers that take only a part of JSON Schema, such as the strict
    /// mode of OpenAI and the structured output of Anthropic, as text: no references, no bounds, nothing
    /// else allowed, every property required; a result or a mark that is not there is null. Steps
    /// stand in three levels, the last of which cannot be broken down.
    ///
    /// ```
    /// let schema = cogwork_cot::Reply::flat_json_schema();
    /// assert_eq!(schema.matches(r#""sub_steps":{"#).count(), 2);
    /// assert!(!schema.contains("$ref"));
    /// ```
    pub fn flat_json_schema() -> String {
        let (mut reply, step) = derived();
        let mut flat = Value::Null;
        for height in 0..FLAT_LEVELS {
            let mut upper = step.clone();
            if height == 0 {
                remove(&mut upper, "/properties", &["sub_steps"]);
            } else {
                insert(&mut upper, "/properties/sub_steps", "items", flat);
            }

            let properties = upper.pointer("/properties").and_then(Value::as_object);
            let mut required: Vec<String> = properties
                .map(|known| known.keys().cloned().collect())
                .unwrap_or_default();
            required.sort_by_key(|name| place(name));
            insert(&mut upper, "", "required", required);
            flat = upper;
        }

        insert(&mut reply, "/properties/planning", "items", flat);
        written(&reply)
    }
}

/// The schemas of a reply and of a step, which refers to itself, without what describes the types.
fn derived() -> (Value, Value) {
    let mut reply = schema_for!(Reply).to_value();
    let mut step = reply.pointer("/$defs/Step").cloned().unwrap_or_default();
    remove(
        &mut reply,
        "",
        &["$schema", "$defs", "title", "description"],
    );

    remove(&mut step, "", &["description"]);
    remove(&mut step, "/properties/sub_steps", &["default"]);
    (reply, step)
}

fn insert(value: &mut Value, at: &str, key: &str, new: impl Into<Value>) {
    if let Some(object) = value.pointer_mut(at).and_then(Value::as_object_mut) {
        object.insert(key.to_owned(), new.into());
    }
}

fn merge(value: &mut Value, at: &str, new: Value) {
    if let Value::Object(new) = new {
        new.into_iter()
            .for_each(|(key, new)| insert(value, at, &key, new));
    }
}

fn remove(value: &mut Value, at: &str, keys: &[&str]) {
    if let Some(object) = value.pointer_mut(at).and_then(Value::as_object_mut) {
        object.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

fn written(schema: &Value) -> String {
    // Values of JSON go into JSON.
    serde_json::to_string(&InOrder(schema)).unwrap_or_default()
}

/// Keys that stand before all others. A model writes properties in the order of the schema: it has to
/// think before it plans, and to say how far a step is before what came of it.
const ORDER: [&str; 9] = [
    "current_thinking",
    "planning",
    "next_thought_needed",
    "type",
    "description",
    "status",
    "result",
    "mark",
    "sub_steps",
];

fn place(key: &str) -> usize {
    ORDER
        .iter()
        .position(|known| *known == key)
        .unwrap_or(ORDER.len())
}

/// Written with its keys in order. serde_json keeps an order only with a feature that would change every
/// map of the program.
struct InOrder<'v>(&'v Value);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_by_key(|(key, _)| place(key));
                let mut map = serializer.serialize_map(Some(entries.len()))?;

                for (key, value) in entries {
                    map.serialize_entry(key, &InOrder(value))?;
                }

                map.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(InOrder)),
            value => value.serialize(serializer),
        }
    }
}
