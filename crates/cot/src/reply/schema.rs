//! The JSON Schemas of replies.

use cogwork_llm::{ChatRequest, ReplyFormat};
use cogwork_plan::Plan;
use cogwork_typed::AnswerSchema;
use cogwork_typed::ask::Format;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::types::{FlatCall, Reply, ReplyWith, ThoughtAndCalls};

/// The number of levels of steps in the flat schema.
const FLAT_LEVELS: usize = 3;

/// The maximum number of tokens of a reply if the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;

impl Reply {
    /// Returns the JSON Schema of replies of at most this many tokens, as text. Every length and
    /// count has a limit, and a plan has at most three levels. Optional properties may also be null.
    ///
    /// This schema is intended for llama.cpp, vLLM, Ollama, and similar servers. These servers
    /// preserve the order of the properties, which is the order in which the model should write
    /// them. [`AnswerSchema`] describes the limits.
    ///
    /// ```
    /// use cogwork_cot::Reply;
    ///
    /// let schema = Reply::json_schema(2000);
    /// assert!(schema.contains(r#""current_thinking":{"description":"#));
    /// assert!(schema.contains(r#""maxLength":400"#));
    /// ```
    pub fn json_schema(tokens: u32) -> String {
        written(within::<Self>(tokens))
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
        AnswerSchema::flat::<Self>(FLAT_LEVELS).to_string()
    }
}

/// The minimum number of tokens; no plan fits into fewer.
const LEAST_TOKENS: u32 = 512;

fn within<T: JsonSchema + DeserializeOwned>(tokens: u32) -> Option<AnswerSchema> {
    let tokens = tokens.max(LEAST_TOKENS);
    AnswerSchema::within::<T>(usize::try_from(tokens).unwrap_or(usize::MAX))
}

fn written(schema: Option<AnswerSchema>) -> String {
    schema
        .as_ref()
        .map_or_else(String::new, ToString::to_string)
}

fn tokens(request: &ChatRequest) -> u32 {
    request.max_tokens().unwrap_or(DEFAULT_TOKENS)
}

/// Returns whether a reply in this format can contain the plan.
pub(crate) fn fits(plan: &Plan, format: Format, request: &ChatRequest) -> bool {
    let schema = match format {
        Format::Schema => within::<Reply>(tokens(request)),
        Format::FlatSchema => Some(AnswerSchema::flat::<Reply>(FLAT_LEVELS)),
        _ => return true,
    };

    schema.is_some_and(|schema| {
        schema.holds(&Reply {
            current_thinking: "…".to_owned(),
            planning: plan.clone(),
            next_thought_needed: true,
        })
    })
}

/// Returns what a request for a reply in this format asks of the server. `tools` are those that the
/// model may call in its reply.
pub(crate) fn reply_format(
    format: Format,
    request: &ChatRequest,
    tools: &[String],
) -> Option<ReplyFormat> {
    let tokens = tokens(request);
    let schema = match format {
        Format::Schema if tools.is_empty() => Reply::json_schema(tokens),
        Format::Schema => {
            let calls = within::<ThoughtAndCalls>(tokens);
            let calls = written(calls.map(|calls| calls.with_choices("name", tools)));
            format!(r#"{{"anyOf":[{},{calls}]}}"#, Reply::json_schema(tokens))
        }
        Format::FlatSchema if tools.is_empty() => Reply::flat_json_schema(),
        Format::FlatSchema => {
            let schema = AnswerSchema::flat::<ReplyWith<FlatCall>>(FLAT_LEVELS);
            schema.with_choices("name", tools).to_string()
        }
        Format::Json => return Some(ReplyFormat::Json),
        _ => return None,
    };
    Some(ReplyFormat::schema("reply", schema))
}
