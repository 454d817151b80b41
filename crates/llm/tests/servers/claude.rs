//! Claude, with adaptive thinking, the prefix check and a prompt cache.

use serde_json::{Value, json};

use super::{Dialect, End, Refused, Replies, Reply, events, halves, list};

/// The number of blocks that the server looks back for an entry of its cache.
const LOOK_BACK: usize = 20;
/// The number of bytes of a token.
const TOKEN: usize = 4;

#[derive(Default)]
pub(crate) struct Claude {
    /// Whether the model is of the time before adaptive thinking.
    is_old: bool,
    replies: Replies,
    /// The beginnings that are cached, in blocks.
    cached: Vec<Vec<String>>,
}

impl Claude {
    pub(crate) fn older() -> Self {
        Self {
            is_old: true,
            ..Self::default()
        }
    }

    /// Thinking may be left out, as it may be on the real server, where the model then thinks again.
    pub(crate) fn forgiving() -> Self {
        let mut server = Self::default();
        server.replies.may_lose = true;
        server
    }

    fn check_settings(&self, request: &Value) -> Result<(), Refused> {
        let has = |name: &str| request.get(name).is_some();
        let choice = &request["tool_choice"]["type"];

        let message = if !has("max_tokens") {
            "max_tokens: Field required"
        } else if self.is_old && has("cache_control") {
            "cache_control: Extra inputs are not permitted"
        } else if self.is_old && request["thinking"]["type"] == "adaptive" {
            "adaptive thinking is not supported on this model"
        } else if !self.is_old && has("temperature") {
            "`temperature` is not supported for this model."
        } else if !self.is_old && (choice == "any" || choice == "tool") {
            "tool_choice: type \"tool\" and \"any\" are not supported for this model."
        } else {
            return Ok(());
        };
        error(message)
    }

    fn check_roles(&self, request: &Value) -> Result<(), Refused> {
        let messages = list(&request["messages"]);
        let has_role = |place: usize, role| messages.get(place).is_none_or(|it| it["role"] == role);
        for place in (0..messages.len()).filter(|place| has_role(*place, "system")) {
            let follows_user = place > 0 && has_role(place - 1, "user");
            let precedes_reply = has_role(place + 1, "assistant");
            let message = match follows_user && precedes_reply {
                _ if self.is_old => "is not supported on this model",
                false => "must follow a user turn and be last or before an assistant turn",
                true => continue,
            };
            return error(&format!("messages.{place}.role: role 'system' {message}"));
        }

        Ok(())
    }

    fn check_blocks(&self, request: &Value) -> Result<(), Refused> {
        let Err(place) = self.replies.check(request, None) else {
            return Ok(());
        };
        let content = &request["messages"][place]["content"];
        let text = match content.to_string().contains("thinking") {
            true => {
                "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
            }
            false => "Expected `thinking` or `redacted_thinking`, but found `text`.",
        };
        error(&format!("messages.{place}.content.0: {text}"))
    }

    /// Returns the tokens that are read from the cache, and those that are written to it.
    fn cache(&mut self, request: &Value) -> (usize, usize) {
        let settings = ["tool_choice", "thinking", "output_config"].map(|name| &request[name]);
        let mut all = vec![
            request["tools"].to_string(),
            request["system"].to_string(),
            json!(settings).to_string(),
        ];
        for message in list(&request["messages"]) {
            let (role, content) = (&message["role"], &message["content"]);
            let blocks = content
                .as_array()
                .map_or(std::slice::from_ref(content), Vec::as_slice);
            all.extend(blocks.iter().map(|block| format!("{role}{block}")));
        }

        let size =
            |blocks: &[String]| -> usize { blocks.iter().map(|block| block.len() / TOKEN).sum() };
        let known = self.cached.iter().filter(|known| all.starts_with(known));
        let near = known.filter(|known| all.len() - known.len() <= LOOK_BACK);
        let read = near.map(|known| size(known)).max().unwrap_or_default();
        let written = size(&all) - read;
        self.cached.push(all);
        (read, written)
    }
}

impl Dialect for Claude {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        if path != "/v1/messages" {
            return error("Not Found");
        }
        self.check_settings(request)?;
        self.check_roles(request)?;
        self.check_blocks(request)
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        let number = self.replies.next();
        let content = content(&reply, number);
        let message = json!({"role": "assistant", "content": content});
        self.replies.add(request, &message);

        let (read, written) = match request.get("cache_control") {
            Some(_) => self.cache(request),
            None => (0, 0),
        };
        let reason = match reply.end {
            End::Paused => "pause_turn",
            End::Refused => "refusal",
            End::Cut => "max_tokens",
            End::Done if reply.calls.is_empty() => "end_turn",
            End::Done => "tool_use",
        };
        let details = json!({"type": "refusal", "category": "reasoning_extraction"});
        json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": request["model"], "content": content, "stop_reason": reason,
            "stop_details": (reply.end == End::Refused).then_some(details),
            "usage": {
                "input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
                "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 20},
            },
        })
    }

    fn stream(&self, _: &str, answer: &Value) -> String {
        let mut begun = answer.clone();
        begun["content"] = json!([]);
        begun["stop_reason"] = Value::Null;
        begun["stop_details"] = Value::Null;
        let mut all = vec![
            json!({"type": "message_start", "message": begun}),
            json!({"type": "ping"}),
        ];

        for (index, block) in list(&answer["content"]).iter().enumerate() {
            let (begun, deltas) = pieces(block);
            all.push(
                json!({"type": "content_block_start", "index": index, "content_block": begun}),
            );
            let delta =
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
            all.extend(deltas.into_iter().map(delta));
            all.push(json!({"type": "content_block_stop", "index": index}));
        }

        let (reason, details) = (&answer["stop_reason"], &answer["stop_details"]);
        let end = json!({"stop_reason": reason, "stop_details": details});
        all.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 50}}));
        all.push(json!({"type": "message_stop"}));
        events(&all)
    }
}

/// Thinking, redacted thinking, and a block of an unknown type between two texts.
fn content(reply: &Reply, number: usize) -> Vec<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let mut content = Vec::new();
    match &reply.thinking {
        Some(thinking) => {
            let (signature, data) = (format!("OPAQUE+/={number}"), format!("OPAQUEm8K{number}"));
            content.push(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
            content.push(json!({"type": "redacted_thinking", "data": data}));
            let [first, second] = halves(&reply.text);
            let unknown = json!({"type": "glimpse", "id": format!("OPAQUE{number}"), "score": 1.1});
            content.extend([text(&first), unknown, text(&second)]);
        }
        None => content.push(text(&reply.text)),
    }
    content.retain(|block| block["text"] != "");

    for ((name, arguments), place) in reply.calls.iter().zip(1..) {
        let id = format!("toolu_{number}_{place}");
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}));
    }
    content
}

/// The beginning of a block in a stream, and the rest of it.
fn pieces(block: &Value) -> (Value, Vec<Value>) {
    let mut begun = block.clone();
    let mut deltas = Vec::new();
    for (name, kind) in [
        ("text", "text_delta"),
        ("thinking", "thinking_delta"),
        ("signature", "signature_delta"),
    ] {
        if let Some(text) = block[name].as_str() {
            begun[name] = json!("");
            deltas.extend(halves(text).map(|half| json!({"type": kind, name: half})));
        }
    }

    if let Some(input) = block.get("input") {
        begun["input"] = json!({});
        let halves = halves(&input.to_string());
        deltas.extend(halves.map(|half| json!({"type": "input_json_delta", "partial_json": half})));
    }
    (begun, deltas)
}

fn error(message: &str) -> Result<(), Refused> {
    let error = json!({"type": "invalid_request_error", "message": message});
    Err(Refused(
        400,
        json!({"type": "error", "error": error, "request_id": "req_1"}),
    ))
}
