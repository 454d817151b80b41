//! The JSON Schemas of replies, derived from the types.
//!
//! A step is derived once, as a recursive schema, and then expanded level by level. A recursive
//! schema doesn't limit the reply, and servers reject it (Anthropic, Ollama) or fail in the middle
//! of a reply (vLLM).

use cogwork_plan::{Plan, Status, Step};
use schemars::schema_for;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::parts::Reply;

/// The number of levels of steps in [`Reply::flat_json_schema`].
pub(crate) const FLAT_LEVELS: usize = 3;

/// The bounds of a reply in [`Reply::json_schema`], which keep even the longest reply within a
/// token limit.
///
/// Each character of a text counts as one token, which is the maximum for plain English and four
/// times the usual number. Everything else (keys, brackets, statuses, and indentation by two
/// spaces) counts as one token per three characters. `current_thinking` gets a fifth of the limit,
/// but at most 1,900 characters, because llama.cpp does not support a bound of 2,000. The rest is
/// for the plan. Its shape is the largest of several in which each description, result and mark can
/// have at least 40 characters; they can have at most 200.
///
/// A character outside ASCII may take several tokens, so a reply with many of these characters can
/// exceed the limit. The model is then asked again, as for every reply that is cut off.
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

/// The maximum number of steps on each level of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    levels: usize,
    steps: usize,
    sub_steps: usize,
}

/// The available shapes, largest first.
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

/// The maximum number of tokens of a reply if the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;
/// The minimum number of tokens; no plan fits into fewer.
const LEAST_TOKENS: usize = 512;
const MOST_THINKING: usize = 1900;
const TEXT: std::ops::RangeInclusive<usize> = 40..=200;
/// The number of texts of a step: description, result and mark.
const TEXTS: usize = 3;
/// The number of characters per token outside of texts.
const CHARACTERS_A_TOKEN: usize = 3;

impl Default for ReplyBounds {
    /// Creates the bounds for 8,192 tokens, which are used if a request sets no limit.
    fn default() -> Self {
        Self::for_tokens(DEFAULT_TOKENS)
    }
}

impl ReplyBounds {
    /// Creates the bounds for a maximum number of tokens. Values below 512 are treated as 512,
    /// because no plan fits into fewer tokens.
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

    /// Returns the maximum number of characters of `current_thinking`.
    pub fn thinking(&self) -> usize {
        self.thinking
    }

    /// Returns the maximum number of characters of a description, a result, or a mark.
    pub fn text(&self) -> usize {
        self.text
    }

    /// Returns the maximum number of levels of steps.
    pub fn levels(&self) -> usize {
        self.shape.levels
    }

    /// Returns the maximum number of steps on the first level.
    pub fn steps(&self) -> usize {
        self.shape.steps
    }

    /// Returns the maximum number of sub-steps of a step.
    pub fn sub_steps(&self) -> usize {
        self.shape.sub_steps
    }

    /// Returns the number of tokens of the longest reply, counted as described above.
    pub fn longest_reply_tokens(&self) -> usize {
        self.thinking + TEXTS * self.text * self.shape.len() + self.shape.tokens_around()
    }

    /// Returns whether a reply within the bounds can contain `plan`.
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
    /// The number of steps of the largest plan.
    fn len(self) -> usize {
        (0..self.levels)
            .fold((0, self.steps), |(sum, level), _| {
                (sum + level, level * self.sub_steps)
            })
            .0
    }

    /// The number of tokens of the longest reply outside of its texts.
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
    /// Returns the JSON Schema of a reply within bounds, as text. Every length and count has a
    /// limit, and each level of steps refers to the next by `$ref`. Optional properties may also be
    /// null.
    ///
    /// This schema is intended for llama.cpp, vLLM, Ollama, and similar servers. These servers
    /// preserve the order of the properties, which is the order in which the model should write
    /// them.
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
                // node-llama-cpp would ignore the bound next to a list of types.
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

            // Named by the levels below, so that each follows those it refers to: Ollama binds
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

    /// Returns the JSON Schema of a reply, as text, for servers that support only part of JSON
    /// Schema, such as the strict mode of OpenAI and the structured output of Anthropic. The schema
    /// has no references or bounds, every property is required, and a missing result or mark is
    /// null. There are three levels of steps.
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

/// The maximum number of tool calls of a reply in a schema.
const MOST_CALLS: usize = 16;

/// Returns the schema of a reply within bounds, or of tool calls instead, as text. The input of a
/// call is any object.
pub(crate) fn reply_or_calls(bounds: ReplyBounds, tools: &[String]) -> String {
    let mut reply: Value = serde_json::from_str(&Reply::json_schema(bounds)).unwrap_or_default();
    let thinking = reply.pointer("/properties/current_thinking").cloned();
    let definitions = reply.get("$defs").cloned();
    remove(&mut reply, "", &["$defs"]);

    let mut calls = calls(tools, json!({"type": "object"}));
    merge(
        &mut calls,
        "",
        json!({"minItems": 1, "maxItems": MOST_CALLS}),
    );
    let calls = json!({
        "type": "object",
        "properties": {"current_thinking": thinking, "tool_calls": calls},
        "required": ["current_thinking", "tool_calls"],
        "additionalProperties": false,
    });

    written(&json!({"anyOf": [reply, calls], "$defs": definitions}))
}

/// Returns the schema of a reply for servers that support only part of JSON Schema. The reply has a
/// list of tool calls, which may be empty. The input of a call is JSON as text, because these
/// servers don't support arbitrary objects.
pub(crate) fn flat_reply_with_calls(tools: &[String]) -> String {
    let mut reply: Value = serde_json::from_str(&Reply::flat_json_schema()).unwrap_or_default();
    let input = json!({"type": "string", "description": "The input as a JSON object, as text."});
    let mut calls = calls(tools, input);
    let description = "The tools to call first. If there are any, planning is empty.";
    insert(&mut calls, "", "description", description);

    insert(&mut reply, "/properties", "tool_calls", calls);
    let required = [
        "current_thinking",
        "tool_calls",
        "planning",
        "next_thought_needed",
    ];
    insert(&mut reply, "", "required", required.to_vec());
    written(&reply)
}

fn calls(tools: &[String], input: Value) -> Value {
    let call = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "enum": tools}, "input": input},
        "required": ["name", "input"],
        "additionalProperties": false,
    });
    json!({"type": "array", "items": call})
}

/// Returns the schemas of a reply and of a step, which refers to itself, without the descriptions
/// of the types.
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

/// The keys that come first. A model writes properties in the order of the schema, and it should
/// think before it plans, and give the status of a step before its result.
const ORDER: [&str; 12] = [
    "current_thinking",
    "tool_calls",
    "planning",
    "next_thought_needed",
    "type",
    "description",
    "status",
    "result",
    "mark",
    "sub_steps",
    "name",
    "input",
];

fn place(key: &str) -> usize {
    ORDER
        .iter()
        .position(|known| *known == key)
        .unwrap_or(ORDER.len())
}

/// A schema whose keys are written in order. serde_json only preserves the order with a feature
/// that would affect every map of the program.
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
