//! Claude, with adaptive thinking, the prefix check and a prompt cache.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    Dialect, End, Refused, Replies, Reply, Turn, Wrong, events, halves, list, loose_strict_tool,
};

/// The number of blocks that the server looks back for an entry of its cache.
const LOOK_BACK: usize = 20;
/// The number of bytes of a token.
const TOKEN: usize = 4;

#[derive(Default)]
pub(crate) struct Claude {
    /// Whether the model is of the time before adaptive thinking.
    is_old: bool,
    may_lose_thinking: bool,
    replies: Replies,
    /// For each signature, everything before it.
    bound: HashMap<String, String>,
    /// The beginnings that are cached, in blocks.
    cached: Vec<Vec<String>>,
    sent: usize,
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
        Self {
            may_lose_thinking: true,
            ..Self::default()
        }
    }

    fn check_settings(&self, request: &Value) -> Result<(), Refused> {
        let has = |name: &str| request.get(name).is_some();
        if !has("max_tokens") {
            return Err(error("max_tokens: Field required"));
        }
        if self.is_old && has("cache_control") {
            return Err(error("cache_control: Extra inputs are not permitted"));
        }
        if self.is_old && request["thinking"]["type"] == "adaptive" {
            return Err(error("adaptive thinking is not supported on this model"));
        }
        if !self.is_old && has("temperature") {
            return Err(error("`temperature` is not supported for this model."));
        }
        let choice = &request["tool_choice"]["type"];
        if !self.is_old && (choice == "any" || choice == "tool") {
            return Err(error(
                "tool_choice: type \"tool\" and \"any\" are not supported for this model.",
            ));
        }
        match loose_strict_tool(request, "input_schema") {
            Some(tool) => Err(error(&format!(
                "tools.{tool}.custom.input_schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
            ))),
            None => Ok(()),
        }
    }

    fn check_roles(&self, request: &Value) -> Result<(), Refused> {
        let roles: Vec<&str> = list(&request["messages"])
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();

        for (place, role) in roles
            .iter()
            .enumerate()
            .filter(|(_, role)| **role == "system")
        {
            if self.is_old {
                let text =
                    format!("messages.{place}.role: role '{role}' is not supported on this model");
                return Err(error(&text));
            }
            let follows_user = place > 0 && roles[place - 1] == "user";
            let precedes_reply = roles.get(place + 1).is_none_or(|role| *role == "assistant");
            if !(follows_user && precedes_reply) {
                let text =
                    "role 'system' must follow a user turn and be last or before an assistant turn";
                return Err(error(&format!("messages.{place}: {text}")));
            }
        }

        let is_prefill = roles.last() == Some(&"assistant")
            && !self.replies.has(&head(request), &turns(request));
        if is_prefill && !self.is_old {
            return Err(error(
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            ));
        }
        Ok(())
    }

    fn check_blocks(&self, request: &Value) -> Result<(), Refused> {
        let messages = list(&request["messages"]);
        for (place, message) in messages.iter().enumerate() {
            for (number, block) in blocks(message).iter().enumerate() {
                let wrong = format!(
                    "messages.{place}.content.{number}: Invalid `signature` in `thinking` block"
                );
                let Some(signature) = signature(block) else {
                    continue;
                };
                match self.bound.get(signature) {
                    None => return Err(error(&wrong)),
                    Some(prefix) if *prefix != before(request, place) => {
                        let advice = "The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";
                        return Err(error(&format!("{wrong}. {advice}")));
                    }
                    Some(_) => {}
                }
            }
        }

        match self.replies.check(&head(request), &turns(request)) {
            Err(Wrong::Missing(_)) if self.may_lose_thinking => Ok(()),
            Err(Wrong::Missing(place)) => Err(error(&format!(
                "messages.{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."
            ))),
            Err(Wrong::Changed(place)) => Err(error(&format!(
                "messages.{place}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
            ))),
            Ok(()) => Ok(()),
        }
    }

    /// Returns the tokens that are read from the cache, and those that are written to it.
    fn cache(&mut self, request: &Value) -> (usize, usize) {
        let settings = json!([
            request["tool_choice"],
            request["thinking"],
            request["output_config"]
        ]);
        let messages = list(&request["messages"]).iter();
        let mut all = vec![
            request["tools"].to_string(),
            request["system"].to_string(),
            settings.to_string(),
        ];
        for message in messages {
            let role = &message["role"];
            all.extend(blocks(message).iter().map(|block| format!("{role}{block}")));
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
            return Err(Refused(
                404,
                json!({"type": "error", "error": {"type": "not_found_error", "message": "Not Found"}}),
            ));
        }

        self.check_settings(request)?;
        self.check_roles(request)?;
        self.check_blocks(request)
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        self.sent += 1;
        let content = content(&reply, self.sent);
        let message = json!({"role": "assistant", "content": content});
        for signature in content.iter().filter_map(signature) {
            let before = before(request, list(&request["messages"]).len());
            self.bound.insert(signature.to_owned(), before);
        }

        let mut turns = turns(request);
        turns.push(turn(&message));
        self.replies.add(&head(request), &turns);

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
        let details =
            json!({"type": "refusal", "category": "reasoning_extraction", "explanation": null});
        json!({
            "id": format!("msg_{}", self.sent), "type": "message", "role": "assistant",
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
            let deltas = deltas.into_iter();
            all.extend(deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            all.push(json!({"type": "content_block_stop", "index": index}));
        }

        let end =
            json!({"stop_reason": answer["stop_reason"], "stop_details": answer["stop_details"]});
        all.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 50}}));
        all.push(json!({"type": "message_stop"}));
        events(&all)
    }
}

/// Thinking, redacted thinking, and a block of an unknown type between two texts.
fn content(reply: &Reply, number: usize) -> Vec<Value> {
    let mut content = Vec::new();
    let [first, second] = halves(&reply.text);
    let text = |text: &str| json!({"type": "text", "text": text});

    if let Some(thinking) = &reply.thinking {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": format!("OPAQUE+/={number}")}));
        content.push(json!({"type": "redacted_thinking", "data": format!("OPAQUEm8K{number}")}));
    }
    match &reply.thinking {
        Some(_) if !first.is_empty() => {
            let unknown = json!({"type": "glimpse", "id": format!("OPAQUE{number}"), "score": 1.1});
            content.extend([text(&first), unknown, text(&second)]);
        }
        _ if reply.text.is_empty() => {}
        _ => content.push(text(&reply.text)),
    }
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
    let mut split = |name: &str, kind: &str| {
        let text = block[name].as_str().unwrap_or_default();
        begun[name] = json!("");
        let halves = halves(text).into_iter().filter(|half| !half.is_empty());
        deltas.extend(halves.map(|half| json!({"type": kind, name: half})));
    };

    match block["type"].as_str().unwrap() {
        "text" => split("text", "text_delta"),
        "thinking" => {
            split("thinking", "thinking_delta");
            split("signature", "signature_delta");
        }
        "tool_use" => {
            begun["input"] = json!({});
            let halves = halves(&block["input"].to_string());
            deltas.extend(
                halves.map(|half| json!({"type": "input_json_delta", "partial_json": half})),
            );
        }
        _ => {}
    }
    (begun, deltas)
}

fn error(message: &str) -> Refused {
    let error = json!({"type": "invalid_request_error", "message": message});
    Refused(
        400,
        json!({"type": "error", "error": error, "request_id": "req_1"}),
    )
}

fn signature(block: &Value) -> Option<&str> {
    match block["type"].as_str() {
        Some("thinking") => block["signature"].as_str(),
        Some("redacted_thinking") => block["data"].as_str(),
        _ => None,
    }
}

/// Everything before a message.
fn before(request: &Value, place: usize) -> String {
    let messages = list(&request["messages"]).iter().take(place);
    let messages: Vec<_> = messages
        .map(|message| json!([message["role"], blocks(message)]))
        .collect();
    json!([request["system"], request["tools"], messages]).to_string()
}

fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        content => list(content).to_vec(),
    }
}

fn head(request: &Value) -> Value {
    json!([request["model"], request["tools"], request["system"]])
}

fn turns(request: &Value) -> Vec<Turn> {
    list(&request["messages"]).iter().map(turn).collect()
}

fn turn(message: &Value) -> Turn {
    let blocks = blocks(message);
    if message["role"] != "assistant" {
        return (json!([message["role"], blocks]), None);
    }

    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let texts: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    let calls: Vec<_> = calls
        .map(|call| json!([call["id"], call["name"], call["input"]]))
        .collect();
    let is_plain = |block: &Value| block["type"] == "text" || block["type"] == "tool_use";
    let is_returned = !blocks.iter().all(is_plain);

    (json!([texts, calls]), is_returned.then(|| json!(blocks)))
}
