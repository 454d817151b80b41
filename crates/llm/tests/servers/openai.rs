//! OpenAI: Responses without state on the server, and Chat Completions, which has no tools any more.

use serde_json::{Value, json};

use super::chat::{Chat, OPENAI, PLAIN, openai_error};
use super::{
    Dialect, End, Refused, Replies, Reply, Turn, Wrong, events, halves, list, loose_strict_tool,
};

pub(crate) const TOOLS_REFUSED: &str = "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

pub(crate) struct OpenAi {
    chat: Chat,
    /// Whether Chat Completions refuses tools, as OpenAI's do since GPT-5.4.
    refuses_tools: bool,
    /// Whether the model refuses a temperature.
    refuses_temperature: bool,
    replies: Replies,
    sent: usize,
}

impl OpenAi {
    pub(crate) fn gpt() -> Self {
        Self {
            chat: Chat::new(OPENAI),
            refuses_tools: true,
            refuses_temperature: true,
            replies: Replies::default(),
            sent: 0,
        }
    }

    pub(crate) fn xai() -> Self {
        Self {
            chat: Chat::new(PLAIN),
            refuses_tools: false,
            refuses_temperature: false,
            ..Self::gpt()
        }
    }

    fn check_settings(&self, request: &Value) -> Result<(), Refused> {
        let unsupported = |name: &str| {
            let message =
                format!("Unsupported parameter: '{name}' is not supported with this model.");
            Err(openai_error(&message, Some(name)))
        };
        for name in [
            "max_tokens",
            "max_completion_tokens",
            "messages",
            "stop",
            "seed",
            "stream_options",
        ] {
            if request.get(name).is_some() {
                return unsupported(name);
            }
        }
        if self.refuses_temperature && request.get("temperature").is_some() {
            return unsupported("temperature");
        }
        if request["store"] != false {
            let message = "Zero data retention is on for this organization: store must be false.";
            return Err(openai_error(message, Some("store")));
        }
        if let Some(tool) = loose_strict_tool(request, "parameters") {
            let message = format!(
                "Invalid schema for function '{tool}': In context=(), 'additionalProperties' is required to be supplied and to be false."
            );
            return Err(openai_error(&message, Some("tools[0].parameters")));
        }

        Ok(())
    }

    fn check_items(&self, request: &Value) -> Result<(), Refused> {
        let input = list(&request["input"]);
        for (place, item) in input.iter().enumerate() {
            let id = &item["id"];
            let next = input.get(place + 1).map(|next| &next["type"]);
            let is_alone = item["type"] == "reasoning"
                && !next.is_some_and(|kind| kind == "message" || kind == "function_call");
            if item.get("status").is_some() {
                let name = format!("input[{place}].status");
                return Err(openai_error(
                    &format!("Unknown parameter: '{name}'."),
                    Some(&name),
                ));
            }
            if is_alone {
                let message = format!(
                    "Item {id} of type 'reasoning' was provided without its required following item."
                );
                return Err(openai_error(&message, Some("input")));
            }
        }

        match self.replies.check(&head(request), &turns(input)) {
            Ok(()) => Ok(()),
            Err(Wrong::Missing(_)) => {
                let message = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";
                Err(openai_error(message, Some("input")))
            }
            Err(Wrong::Changed(_)) => {
                let message = "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.";
                Err(openai_error(message, None))
            }
        }
    }
}

impl Dialect for OpenAi {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        if path == "/v1/responses" {
            self.check_settings(request)?;
            return self.check_items(request);
        }
        if self.refuses_tools && request.get("tools").is_some() {
            return Err(openai_error(TOOLS_REFUSED, Some("reasoning_effort")));
        }

        self.chat.check(path, request)
    }

    fn answer(&mut self, path: &str, request: &Value, reply: Reply) -> Value {
        if path != "/v1/responses" {
            return self.chat.answer(path, request, reply);
        }

        self.sent += 1;
        let number = self.sent;
        let mut output = Vec::new();
        if let Some(thinking) = &reply.thinking {
            let summary = json!([{"type": "summary_text", "text": thinking}]);
            let summary = if thinking.is_empty() {
                json!([])
            } else {
                summary
            };
            output.push(json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": summary,
                               "encrypted_content": format!("OPAQUEgAAA{number}"), "status": "completed"}));
        }
        if !reply.text.is_empty() {
            let content = match reply.end {
                End::Refused => json!({"type": "refusal", "refusal": reply.text}),
                _ => {
                    json!({"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []})
                }
            };
            output.push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
                               "phase": "final_answer", "status": "completed", "content": [content]}));
        }
        for ((name, arguments), place) in reply.calls.iter().zip(1..) {
            output.push(
                json!({"type": "function_call", "id": format!("fc_{number}_{place}"),
                               "call_id": format!("call_{number}_{place}"), "name": name,
                               "arguments": arguments.to_string(), "status": "completed"}),
            );
        }

        let mut items = list(&request["input"]).to_vec();
        items.extend(output.iter().cloned().map(|mut item| {
            item.as_object_mut().unwrap().remove("status");
            item
        }));
        self.replies.add(&head(request), &turns(&items));

        let is_cut = reply.end == End::Cut;
        json!({
            "id": format!("resp_{number}"), "object": "response", "model": request["model"],
            "status": if is_cut { "incomplete" } else { "completed" },
            "incomplete_details": is_cut.then(|| json!({"reason": "max_output_tokens"})),
            "error": null, "output": output,
            "usage": {
                "input_tokens": 100, "output_tokens": 50,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "output_tokens_details": {"reasoning_tokens": 20},
            },
        })
    }

    fn stream(&self, path: &str, answer: &Value) -> String {
        if path != "/v1/responses" {
            return self.chat.stream(path, answer);
        }

        let mut all = vec![
            json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
        ];
        for (index, item) in list(&answer["output"]).iter().enumerate() {
            let mut begun = item.clone();
            begun["status"] = json!("in_progress");
            if item["type"] == "reasoning" {
                // Only the last event has the valid one.
                begun["encrypted_content"] = json!("partial");
                begun["summary"] = json!([]);
            }
            all.push(
                json!({"type": "response.output_item.added", "output_index": index, "item": begun}),
            );

            let (kind, text) = match item["type"].as_str().unwrap() {
                "reasoning" => (
                    "response.reasoning_summary_text.delta",
                    &item["summary"][0]["text"],
                ),
                "message" => ("response.output_text.delta", &item["content"][0]["text"]),
                _ => ("response.function_call_arguments.delta", &item["arguments"]),
            };
            let halves = halves(text.as_str().unwrap_or_default());
            all.extend(
                halves.map(|half| json!({"type": kind, "output_index": index, "delta": half})),
            );
            all.push(
                json!({"type": "response.output_item.done", "output_index": index, "item": item}),
            );
        }

        let kind = format!("response.{}", answer["status"].as_str().unwrap());
        all.push(json!({"type": kind, "response": answer}));
        events(&all)
    }
}

fn head(request: &Value) -> Value {
    json!([request["model"], request["tools"], request["instructions"]])
}

/// The items as turns: those of one reply belong together.
fn turns(items: &[Value]) -> Vec<Turn> {
    let is_said = |item: &Value| {
        item["role"] == "assistant"
            || item["type"] == "reasoning"
            || item["type"] == "function_call"
    };
    let runs = items.chunk_by(|one, other| is_said(one) && is_said(other));
    runs.map(|run| {
        if !is_said(&run[0]) {
            return (run[0].clone(), None);
        }

        let texts = run
            .iter()
            .filter(|item| item["role"] == "assistant")
            .map(|item| {
                let content = &item["content"];
                content
                    .as_str()
                    .or(content[0]["text"].as_str())
                    .unwrap_or_default()
            });
        let calls = run.iter().filter(|item| item["type"] == "function_call");
        let calls: Vec<_> = calls
            .map(|call| json!([call["call_id"], call["name"], call["arguments"]]))
            .collect();
        let is_returned = run.iter().any(|item| item.get("id").is_some());
        let plain = json!([texts.collect::<String>(), calls]);
        (plain, is_returned.then(|| json!(run)))
    })
    .collect()
}
