//! Questions to the client: requests during a call up to 2025-11-25, and results that ask for input
//! since 2026-07-28.

#![allow(deprecated, reason = "the suite calls what is deprecated, too")]

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientResult, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::contents::{text_result, wire};
use crate::fixture::Fixture;

pub(crate) fn form(message: &str, properties: Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

pub(crate) fn name_form(message: &str) -> Value {
    form(message, json!({"name": {"type": "string"}}), &["name"])
}

fn sampling(prompt: &str) -> Value {
    let content = json!({"type": "text", "text": prompt});
    let messages = json!([{"role": "user", "content": content}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

fn roots() -> Value {
    json!({"method": "roots/list"})
}

/// Sends a request to the client during a call, and returns its result.
async fn ask_now(request: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let request: ServerRequest = wire(request)?;
    let result = context.peer.send_request(request).await;
    let result: ClientResult =
        result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    serde_json::to_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Calls a tool that asks during the call.
pub(crate) async fn legacy_tool(
    name: &str,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        let value = arguments.and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };

    match name {
        "test_sampling" => {
            let answer = ask_now(sampling(&argument("prompt")), context).await?;
            let text = answer.pointer("/content/text").and_then(Value::as_str);
            text_result(format!("LLM response: {}", text.unwrap_or_default()))
        }
        "test_elicitation" => {
            let properties = json!({
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            });
            let request = form(&argument("message"), properties, &["username", "email"]);
            let answer = ask_now(request, context).await?;
            text_result(format!("User response: {}", shown(&answer)))
        }
        "test_elicitation_sep1034_defaults" => {
            let properties = json!({
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active",
                },
                "verified": {"type": "boolean", "default": true},
            });
            let answer = ask_now(form("Check the defaults", properties, &[]), context).await?;
            text_result(format!("Elicitation completed: {}", shown(&answer)))
        }
        _ => {
            let answer = ask_now(form("Choose", choices(), &[]), context).await?;
            text_result(format!("Elicitation completed: {}", shown(&answer)))
        }
    }
}

/// All kinds of choices.
fn choices() -> Value {
    let plain = json!({"type": "string", "enum": ["option1", "option2", "option3"]});
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "untitledSingle": plain,
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": plain},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}

fn shown(answer: &Value) -> String {
    let action = answer.get("action").and_then(Value::as_str);
    let content = answer.get("content").unwrap_or(&Value::Null);
    format!("action={}, content={content}", action.unwrap_or_default())
}

/// The requests of a result that asks for input, by their keys.
pub(crate) fn requests<const N: usize>(
    requests: [(&str, Value); N],
) -> Result<InputRequests, ErrorData> {
    let requests = requests.into_iter();
    requests
        .map(|(key, request)| Ok((key.to_owned(), wire::<InputRequest>(request)?)))
        .collect()
}

/// Returns what the client replied under a key, if it is an object.
pub(crate) fn reply<'a>(replies: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    let reply = replies?.get(key)?;
    reply.is_object().then_some(reply)
}

fn is_accepted(reply: &Value) -> bool {
    reply.get("action").and_then(Value::as_str) == Some("accept")
}

/// Returns a field of the form that the user filled in.
pub(crate) fn field<'a>(reply: &'a Value, name: &str) -> Option<&'a str> {
    let content = reply.get("content").filter(|_| is_accepted(reply))?;
    content.get(name)?.as_str()
}

impl Fixture {
    /// Calls a tool whose first result asks for input.
    pub(crate) fn asking_tool(
        &self,
        name: &str,
        request: &CallToolRequestParams,
        client: Option<&ClientCapabilities>,
    ) -> Result<CallToolResponse, ErrorData> {
        let replies = request.input_responses.as_ref();
        let state = request.request_state.as_deref();

        match name {
            "elicitation" => match reply(replies, "user_name").and_then(|it| field(it, "name")) {
                Some(name) => text_result(format!("Hello, {name}!")),
                None => asked([("user_name", name_form("What is your name?"))], None),
            },
            "sampling" => match reply(replies, "capital_question") {
                Some(reply) => text_result(format!("The model replied: {reply}")),
                None => {
                    let question = sampling("What is the capital of France?");
                    asked([("capital_question", question)], None)
                }
            },
            "list_roots" => match reply(replies, "client_roots") {
                Some(reply) => text_result(format!("The roots: {reply}")),
                None => asked([("client_roots", roots())], None),
            },
            "request_state" | "tampered_state" => match state {
                Some(state) => {
                    self.states.open(state)?;
                    text_result("state-ok")
                }
                None => {
                    let confirm = json!({"ok": {"type": "boolean"}});
                    let confirm = form("Please confirm", confirm, &["ok"]);
                    asked([("confirm", confirm)], Some(self.states.seal("confirm")))
                }
            },
            "multiple_inputs" => self.several_inputs(replies, state),
            "multi_round" => self.rounds(replies, state),
            _ => {
                let can_elicit = client.is_some_and(|client| client.elicitation.is_some());
                match can_elicit {
                    true => asked([("user_name", name_form("What is your name?"))], None),
                    false => asked([("question", sampling("Say something."))], None),
                }
            }
        }
    }

    fn several_inputs(
        &self,
        replies: Option<&InputResponses>,
        state: Option<&str>,
    ) -> Result<CallToolResponse, ErrorData> {
        let keys = ["user_name", "greeting", "client_roots"];
        if keys.iter().all(|key| reply(replies, key).is_some()) {
            self.states.open(state.unwrap_or_default())?;
            return text_result("All three arrived.");
        }

        let requests = [
            ("user_name", name_form("What is your name?")),
            ("greeting", sampling("Generate a greeting")),
            ("client_roots", roots()),
        ];
        asked(requests, Some(self.states.seal("three")))
    }

    fn rounds(
        &self,
        replies: Option<&InputResponses>,
        state: Option<&str>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state = state.map(|state| self.states.open(state)).transpose()?;
        match state {
            None => {
                let first = name_form("Step 1: What is your name?");
                asked([("step1", first)], Some(self.states.seal("round 1")))
            }
            Some("round 1") if reply(replies, "step1").is_some() => {
                let color = json!({"color": {"type": "string"}});
                let second = form("Step 2: What is your favorite color?", color, &["color"]);
                asked([("step2", second)], Some(self.states.seal("round 2")))
            }
            Some("round 2") if reply(replies, "step2").is_some() => text_result("Both arrived."),
            Some(_) => Err(ErrorData::invalid_params("a reply is missing", None)),
        }
    }
}

/// Returns a result that asks for input.
pub(crate) fn asked<const N: usize>(
    input: [(&str, Value); N],
    state: Option<String>,
) -> Result<CallToolResponse, ErrorData> {
    let result = InputRequiredResult::new(Some(requests(input)?), state);
    Ok(result.into())
}
