//! OpenAI: Responses without state on the server, and Chat Completions, which has no tools any more.

use serde_json::{Value, json};

use super::chat::{Chat, OPENAI, PLAIN, openai_error};
use super::{Dialect, End, Refused, Replies, Reply, Turn, events, halves, list};

pub(crate) const TOOLS_REFUSED: &str = "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

pub(crate) struct OpenAi {
    chat: Chat,
    /// Whether Chat Completions refuses tools, as OpenAI's do since GPT-5.4, and Responses refuse a
    /// temperature.
    is_gpt: bool,
    replies: Replies,
}

impl OpenAi {
    pub(crate) fn gpt() -> Self {
        Self {
            chat: Chat::new(OPENAI),
            is_gpt: true,
            replies: Replies::default(),
        }
    }

    pub(crate) fn xai() -> Self {
        Self {
            chat: Chat::new(PLAIN),
            is_gpt: false,
            ..Self::gpt()
        }
    }

    fn check_responses(&self, request: &Value) -> Result<(), Refused> {
        let refused = [
            "max_tokens",
            "max_completion_tokens",
            "messages",
            "stop",
            "seed",
            "stream_options",
        ];
        let temperature = self.is_gpt.then_some("temperature");
        let mut refused = refused.into_iter().chain(temperature);
        if let Some(name) = refused.find(|name| request.get(*name).is_some()) {
            let message =
                format!("Unsupported parameter: '{name}' is not supported with this model.");
            return Err(openai_error(&message, Some(name)));
        }
        if request["store"] != false {
            let message = "Zero data retention is on for this organization: store must be false.";
            return Err(openai_error(message, Some("store")));
        }
        let missing = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";
        let checked = self.replies.check(request, None);
        checked.map_err(|_| openai_error(missing, Some("input")))
    }
}

impl Dialect for OpenAi {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        if path == "/v1/responses" {
            return self.check_responses(request);
        }
        if self.is_gpt && request.get("tools").is_some() {
            return Err(openai_error(TOOLS_REFUSED, Some("reasoning_effort")));
        }
        self.chat.check(path, request)
    }

    fn answer(&mut self, path: &str, request: &Value, reply: Reply) -> Value {
        if path != "/v1/responses" {
            return self.chat.answer(path, request, reply);
        }

        let number = self.replies.next();
        let mut output = Vec::new();
        if let Some(thinking) = &reply.thinking {
            let summary = json!([{"type": "summary_text", "text": thinking}]);
            let summary = if thinking.is_empty() {
                json!([])
            } else {
                summary
            };
            output.push(
                json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": summary,
                               "encrypted_content": format!("OPAQUEgAAA{number}")}),
            );
        }
        if !reply.text.is_empty() {
            let content = match reply.end {
                End::Refused => json!({"type": "refusal", "refusal": reply.text}),
                _ => json!({"type": "output_text", "text": reply.text, "annotations": []}),
            };
            output.push(
                json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
                               "phase": "final_answer", "content": [content]}),
            );
        }
        for ((name, arguments), place) in reply.calls.iter().zip(1..) {
            output.push(
                json!({"type": "function_call", "id": format!("fc_{number}_{place}"),
                               "call_id": format!("call_{number}_{place}"), "name": name,
                               "arguments": arguments.to_string()}),
            );
        }

        self.replies.add(request, &json!(output));
        for item in &mut output {
            item["status"] = json!("completed");
        }

        let is_cut = reply.end == End::Cut;
        json!({
            "id": format!("resp_{number}"), "model": request["model"], "output": output,
            "status": if is_cut { "incomplete" } else { "completed" },
            "incomplete_details": is_cut.then(|| json!({"reason": "max_output_tokens"})),
        })
    }

    fn stream(&self, path: &str, answer: &Value) -> String {
        if path != "/v1/responses" {
            return self.chat.stream(path, answer);
        }

        let mut all = vec![json!({"type": "response.created", "response": {"output": []}})];
        for (index, item) in list(&answer["output"]).iter().enumerate() {
            let mut begun = item.clone();
            begun["status"] = json!("in_progress");
            let (kind, text) = match item["type"].as_str().unwrap() {
                "reasoning" => {
                    // Only the last event has the valid one.
                    begun["encrypted_content"] = json!("partial");
                    begun["summary"] = json!([]);
                    (
                        "response.reasoning_summary_text.delta",
                        &item["summary"][0]["text"],
                    )
                }
                "message" => ("response.output_text.delta", &item["content"][0]["text"]),
                _ => ("response.function_call_arguments.delta", &item["arguments"]),
            };
            let event = |kind: &str, name: &str, value: Value| json!({"type": kind, "output_index": index, name: value});

            all.push(event("response.output_item.added", "item", begun));
            let halves = halves(text.as_str().unwrap_or_default());
            all.extend(halves.map(|half| event(kind, "delta", json!(half))));
            all.push(event("response.output_item.done", "item", item.clone()));
        }

        let kind = format!("response.{}", answer["status"].as_str().unwrap());
        all.push(json!({"type": kind, "response": answer}));
        events(&all)
    }
}

/// The items as turns: those of one reply belong together.
pub(super) fn turns(items: &[Value]) -> Vec<Turn> {
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

        let messages = run.iter().map(|item| &item["content"]);
        let texts = messages.filter_map(|it| it.as_str().or(it[0]["text"].as_str()));
        let calls = run.iter().filter(|item| item["type"] == "function_call");
        let calls = calls.map(|call| json!([call["call_id"], call["name"], call["arguments"]]));
        let plain = json!([texts.collect::<String>(), calls.collect::<Vec<_>>()]);
        let is_returned = run.iter().any(|item| item.get("id").is_some());
        (plain, is_returned.then(|| json!(run)))
    })
    .collect()
}
