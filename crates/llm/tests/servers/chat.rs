//! Chat Completions, as many hosts serve it. They differ in what they want back.

use serde_json::{Value, json};

use super::{Dialect, End, Refused, Replies, Reply, StandIn, events, halves, list};

/// What distinguishes a host.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    /// Adds what the host wants back to a message.
    pub(crate) adds: fn(&mut Value, &str, usize),
    /// How the host refuses a message without it, if it does.
    pub(crate) missing: &'static str,
    /// What the host refuses wherever it is: a field, and how.
    pub(crate) refuses: &'static [&'static str],
    pub(crate) error: fn(&str, Option<&str>) -> Refused,
    pub(crate) stand_in: StandIn,
    /// Whether messages may have only the fields of the standard.
    pub(crate) is_pedantic: bool,
}

pub(crate) const PLAIN: Host = Host {
    adds: |_, _, _| {},
    missing: "",
    refuses: &[],
    error: openai_error,
    stand_in: None,
    is_pedantic: false,
};

pub(crate) const OPENAI: Host = Host {
    refuses: &[
        "max_tokens: Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "temperature: Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        "seed: Unsupported parameter: 'seed' is not supported with this model.",
        "stop: Unsupported parameter: 'stop' is not supported with this model.",
    ],
    ..PLAIN
};

pub(crate) const GEMINI: Host = Host {
    adds: |message, _, number| {
        let signature = json!({"google": {"thought_signature": format!("OPAQUE+/={number}")}});
        match message.pointer_mut("/tool_calls/0") {
            Some(call) => call["extra_content"] = signature,
            None => message["extra_content"] = signature,
        }
    },
    missing: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:weather` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
    error: |message, _| {
        let error = json!({"code": 400, "message": message, "status": "INVALID_ARGUMENT"});
        Refused(400, json!([{"error": error}]))
    },
    stand_in: Some((
        "/calls/0/google/thought_signature",
        "skip_thought_signature_validator",
    )),
    ..PLAIN
};

pub(crate) const DEEPSEEK: Host = Host {
    adds: |message, thinking, _| message["reasoning_content"] = json!(thinking),
    missing: "The reasoning_content in the thinking mode must be passed back to the API.",
    stand_in: Some(("/reasoning_content", "")),
    ..PLAIN
};

/// Kimi, GLM and llama.cpp.
pub(crate) const KIMI: Host = Host {
    missing: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    ..DEEPSEEK
};

/// Groq and vLLM.
pub(crate) const GROQ: Host = Host {
    adds: |message, thinking, _| message["reasoning"] = json!(thinking),
    missing: "messages.2: property 'reasoning' is missing",
    ..PLAIN
};

pub(crate) const OPENROUTER: Host = Host {
    adds: |message, thinking, number| {
        message["reasoning"] = Value::Null;
        message["reasoning_details"] = json!([]);
        if !thinking.is_empty() {
            message["reasoning"] = json!(thinking);
            message["reasoning_details"] = json!([
                {"type": "reasoning.text", "text": thinking, "signature": format!("OPAQUE{number}"),
                 "format": "anthropic-claude-v1", "index": 0, "id": null},
                {"type": "reasoning.encrypted", "data": format!("OPAQUEgAAA{number}"),
                 "format": "openai-responses-v1", "index": 1, "id": format!("rs_{number}")},
            ]);
        }
    },
    missing: "messages.1.content.0: Invalid `signature` in `thinking` block",
    ..PLAIN
};

pub(crate) const MINIMAX: Host = Host {
    adds: |message, thinking, _| {
        let text = message["content"].as_str().unwrap_or_default();
        message["content"] = json!(format!("<think>\n{thinking}\n</think>\n\n{text}"));
    },
    missing: "invalid params, the thinking of the last message must be returned in content (2013)",
    ..PLAIN
};

pub(crate) const MISTRAL: Host = Host {
    adds: |message, thinking, _| {
        let text = message["content"].clone();
        let thinking = json!([{"type": "text", "text": thinking}]);
        let thinking = json!({"type": "thinking", "thinking": thinking});
        message["content"] = match text.as_str() {
            None | Some("") => json!([thinking]),
            Some(_) => json!([thinking, {"type": "text", "text": text}]),
        };
    },
    missing: "Expected the thinking of the previous assistant message",
    refuses: &["stream_options: "],
    error: |message, field| {
        let place = field.map_or(json!(["body", "messages", 1, message]), |field| {
            json!(["body", field])
        });
        let detail = json!({"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"});
        Refused(422, json!({"detail": [detail]}))
    },
    is_pedantic: true,
    ..PLAIN
};

pub(crate) fn openai_error(message: &str, parameter: Option<&str>) -> Refused {
    let code = match message.starts_with("Unsupported value:") {
        true => "unsupported_value",
        false => "unsupported_parameter",
    };
    let error = json!({
        "message": message, "type": "invalid_request_error", "param": parameter, "code": code,
    });
    Refused(400, json!({"error": error}))
}

pub(crate) struct Chat {
    host: Host,
    replies: Replies,
}

impl Chat {
    pub(crate) fn new(host: Host) -> Self {
        let replies = Replies {
            may_lose: host.missing.is_empty(),
            ..Replies::default()
        };
        Self { host, replies }
    }
}

impl Dialect for Chat {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        let host = &self.host;
        if path != "/v1/chat/completions" {
            return Err((host.error)("Not found", None));
        }

        let text = request.to_string();
        for refused in host.refuses {
            let (field, message) = refused.split_once(": ").unwrap();
            if text.contains(&format!("\"{field}\":")) {
                return Err((host.error)(message, Some(field)));
            }
        }

        let messages = list(&request["messages"]).iter();
        let mut fields = messages.flat_map(|message| message.as_object().unwrap().keys());
        let known = ["role", "content", "tool_calls", "tool_call_id"];
        if host.is_pedantic
            && let Some(unknown) = fields.find(|name| !known.contains(&name.as_str()))
        {
            return Err((host.error)(unknown, None));
        }

        let checked = self.replies.check(request, host.stand_in);
        checked.map_err(|_| (host.error)(host.missing, None))
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        let number = self.replies.next();
        let mut message = json!({"role": "assistant", "content": reply.text});
        let calls = reply.calls.iter().zip(1..);
        let calls = calls.map(|((name, arguments), place)| {
            json!({"id": format!("call_{number}_{place}"), "type": "function",
                   "function": {"name": name, "arguments": arguments.to_string()}})
        });
        if !reply.calls.is_empty() {
            message["tool_calls"] = calls.collect();
        }
        if reply.text.is_empty() && !reply.calls.is_empty() {
            message["content"] = Value::Null;
        }
        if let Some(thinking) = &reply.thinking {
            (self.host.adds)(&mut message, thinking, number);
        }
        self.replies.add(request, &message);

        let reason = match reply.end {
            End::Cut => "length",
            _ if reply.calls.is_empty() => "stop",
            _ => "tool_calls",
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        json!({"id": format!("chatcmpl-{number}"), "model": request["model"], "choices": [choice]})
    }

    fn stream(&self, _: &str, answer: &Value) -> String {
        let choice = &answer["choices"][0];
        let mut deltas = deltas(&choice["message"]);
        deltas.push(json!({}));
        let last = deltas.len() - 1;
        let chunks = deltas.iter().enumerate().map(|(place, delta)| {
            let reason = if place == last {
                &choice["finish_reason"]
            } else {
                &Value::Null
            };
            let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
            json!({"id": answer["id"], "model": answer["model"], "choices": [choice]})
        });
        format!("{}data: [DONE]\n\n", events(&chunks.collect::<Vec<_>>()))
    }
}

/// The pieces of a message, as small as servers send them.
fn deltas(message: &Value) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": null})];
    for name in ["reasoning_content", "reasoning", "content"] {
        if let Some(text) = message[name].as_str() {
            deltas.extend(halves(text).map(|half| json!({name: half})));
        }
    }

    if message["reasoning_details"] == json!([]) {
        deltas.push(json!({"reasoning_details": []}));
    }
    for detail in list(&message["reasoning_details"]) {
        let mut pieces = [detail.clone(), detail.clone()];
        let name = ["text", "data"]
            .into_iter()
            .find(|name| detail[*name].is_string());
        let halves = halves(detail[name.unwrap()].as_str().unwrap());
        for (piece, half) in pieces.iter_mut().zip(halves) {
            piece[name.unwrap()] = json!(half);
        }
        if detail.get("signature").is_some() {
            pieces[0]["signature"] = Value::Null;
        }
        deltas.extend(pieces.map(|piece| json!({"reasoning_details": [piece]})));
    }

    for part in list(&message["content"]) {
        let thinking = part["thinking"][0]["text"].as_str();
        let halves = halves(thinking.or(part["text"].as_str()).unwrap());
        deltas.extend(halves.map(|half| match thinking {
            Some(_) => {
                let thinking = json!([{"type": "text", "text": half}]);
                json!({"content": [{"type": "thinking", "thinking": thinking}]})
            }
            None => json!({"content": half}),
        }));
    }

    for (index, call) in list(&message["tool_calls"]).iter().enumerate() {
        let mut begin = call.clone();
        begin["index"] = json!(index);
        begin["function"]["arguments"] = json!("");
        deltas.push(json!({"tool_calls": [begin]}));
        let arguments = halves(call["function"]["arguments"].as_str().unwrap());
        deltas.extend(arguments.map(
            |half| json!({"tool_calls": [{"index": index, "function": {"arguments": half}}]}),
        ));
    }

    if let Some(extra) = message.get("extra_content") {
        deltas.push(json!({"content": "", "extra_content": extra}));
    }
    deltas
}
