//! The JSON Schemas of replies.

use cogwork_llm::{ChatRequest, ReplyFormat};
use cogwork_plan::Plan;
use cogwork_typed::ask::Format;
use cogwork_typed::{AnswerReader, AnswerSchema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::types::{FlatCall, Reply, ReplyWith, ThoughtAndCalls};

/// The maximum number of tokens of a reply if the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;

/// The minimum number of tokens; no plan fits into fewer.
const LEAST_TOKENS: u32 = 512;

/// Returns the schema of replies of at most this many tokens, for llama.cpp, vLLM, Ollama, and similar
/// servers. Every length and count has a limit, and a plan has at most three levels. These servers
/// preserve the order of the properties, which is the order in which the model should write them.
fn within<T: JsonSchema + DeserializeOwned>(request: &ChatRequest) -> Option<AnswerSchema> {
    let tokens = request.max_tokens().unwrap_or(DEFAULT_TOKENS);
    // A schema that holds no plan would be worse than a reply that is cut off.
    let tokens = tokens.max(LEAST_TOKENS);
    AnswerReader::<T>::new().schema_within(tokens)
}

/// Returns whether a reply in this format can contain the plan.
pub(crate) fn fits(plan: &Plan, format: Format, request: &ChatRequest) -> bool {
    let schema = match format {
        Format::Schema => within::<Reply>(request),
        Format::FlatSchema => AnswerReader::<Reply>::new().flat_schema(),
        _ => return true,
    };

    schema.is_some_and(|schema| {
        schema.holds(&Reply {
            // Only the plan is repeated, so that any thinking will do.
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
    let schema = match format {
        Format::Schema if tools.is_empty() => within::<Reply>(request)?.to_string(),
        Format::Schema => {
            // Either calls or a plan, since small models write both otherwise.
            let calls = within::<ThoughtAndCalls>(request)?.with_choices("name", tools);
            format!(r#"{{"anyOf":[{},{calls}]}}"#, within::<Reply>(request)?)
        }
        Format::FlatSchema if tools.is_empty() => {
            AnswerReader::<Reply>::new().flat_schema()?.to_string()
        }
        Format::FlatSchema => {
            let schema = AnswerReader::<ReplyWith<FlatCall>>::new().flat_schema()?;
            schema.with_choices("name", tools).to_string()
        }
        Format::Json => return Some(ReplyFormat::Json),
        _ => return None,
    };
    Some(ReplyFormat::schema("reply", schema))
}
