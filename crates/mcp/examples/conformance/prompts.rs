//! Prompts by their names.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    ListPromptsResult,
};
use serde_json::{Value, json};

use crate::asking::{field, form, reply, requests};
use crate::contents::{complete, image_block, resource_block, text_block, wire};

const ASKING: &str = "test_input_required_result_prompt";

pub(crate) fn list() -> Result<ListPromptsResult, ErrorData> {
    let argument = |name| json!({"name": name, "description": "An argument", "required": true});
    let prompt = |name, arguments| json!({"name": name, "description": "A prompt of the suite", "arguments": arguments});
    wire(json!({"prompts": [
        prompt("test_simple_prompt", json!([])),
        prompt("test_prompt_with_arguments", json!([argument("arg1"), argument("arg2")])),
        prompt("test_prompt_with_embedded_resource", json!([argument("resourceUri")])),
        prompt("test_prompt_with_image", json!([])),
        prompt(ASKING, json!([])),
    ]}))
}

pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        let value = arguments.and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default()
    };

    match request.name.as_str() {
        "test_simple_prompt" => messages(&[text_block("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let first = argument("arg1");
            let second = argument("arg2");
            let text = format!("Prompt with arguments: arg1='{first}', arg2='{second}'");
            messages(&[text_block(text)])
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = resource_block(argument("resourceUri"), "text/plain", text);
            let please = text_block("Please process the embedded resource above.");
            messages(&[resource, please])
        }
        "test_prompt_with_image" => {
            messages(&[image_block(), text_block("Please analyze the image above.")])
        }
        ASKING => asking(request),
        _ => Err(ErrorData::invalid_params("no such prompt", None)),
    }
}

/// Returns a prompt that needs input first.
fn asking(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let replies = request.input_responses.as_ref();
    let context = reply(replies, "user_context").and_then(|reply| field(reply, "context"));
    if let Some(context) = context {
        return messages(&[text_block(format!("Use the context: {context}"))]);
    }

    let properties = json!({"context": {"type": "string"}});
    let question = "What context should the prompt use?";
    let input = requests([("user_context", form(question, properties, &["context"]))])?;
    Ok(InputRequiredResult::from_input_requests(input).into())
}

fn messages(contents: &[Value]) -> Result<GetPromptResponse, ErrorData> {
    let contents = contents.iter();
    let messages: Vec<_> = contents
        .map(|content| json!({"role": "user", "content": content}))
        .collect();
    let result: GetPromptResult = wire(complete(json!({"messages": messages})))?;
    Ok(result.into())
}
