//! Chat Completions, as many hosts serve it. They differ in what they want back.

use serde_json::{Map, Value, json};

use super::{Dialect, End, Refused, Replies, Reply, Turn, events, halves, list};

/// What distinguishes a host.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    /// Adds what the host wants back to a message.
    pub(crate) adds: fn(&mut Value, &str, usize),
    /// How the host refuses a message without it.
    pub(crate) missing: &'static str,
    /// The fields that the host refuses, and how.
    pub(crate) refuses: &'static [(&'static str, &'static str)],
    pub(crate) error: fn(&str, Option<&str>) -> Refused,
    /// What the host accepts with calls of other models, and where. It wants something with each.
    stand_in: Option<(&'static str, &'static str)>,
    /// Whether messages may have only the fields of the standard.
    pub(crate) is_pedantic: bool,
}

const MAX_TOKENS: (&str, &str) = (
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
);
const TEMPERATURE: (&str, &str) = (
    "temperature",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
);

pub(crate) const PLAIN: Host = Host {
    adds: |_, _, _| {},
    missing: "",
    refuses: &[],
    error: openai_error,
    stand_in: None,
    is_pedantic: false,
};

pub(crate) const OPENAI: Host = Host {
    refuses: &[MAX_TOKENS, TEMPERATURE],
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
    refuses: &[("stream_options", "")],
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
    let code = match message.split_once(' ').map(|(first, _)| first) {
        Some("Unsupported") if message.contains("value:") => "unsupported_value",
        _ => "unsupported_parameter",
    };
    let error = json!({
        "message": message, "type": "invalid_request_error", "param": parameter, "code": code,
    });
    Refused(400, json!({"error": error}))
}

pub(crate) struct Chat {
    host: Host,
    replies: Replies,
    sent: usize,
}

impl Chat {
    pub(crate) fn new(host: Host) -> Self {
        Self {
            host,
            replies: Replies::default(),
            sent: 0,
        }
    }
}

impl Dialect for Chat {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        let host = &self.host;
        if path != "/v1/chat/completions" {
            return Err((host.error)("Not found", None));
        }

        for (field, message) in host.refuses {
            if request.get(field).is_some() {
                return Err((host.error)(message, Some(field)));
            }
        }

        if host.is_pedantic {
            let fields = list(&request["messages"])
                .iter()
                .filter_map(Value::as_object);
            let known = [
                "role",
                "content",
                "tool_calls",
                "tool_call_id",
                "name",
                "prefix",
            ];
            let unknown = fields
                .flat_map(Map::keys)
                .find(|name| !known.contains(&name.as_str()));
            if let Some(unknown) = unknown {
                return Err((host.error)(unknown, None));
            }
        }

        let (head, mut turns) = (head(request), turns(request));
        let missing = || Err((host.error)(host.missing, None));
        for (place, message) in list(&request["messages"]).iter().enumerate() {
            let is_foreign = !self.replies.has(&head, &turns[..=place]);
            if let (Some((place_in, text)), true) = (host.stand_in, is_foreign)
                && message.get("tool_calls").is_some()
            {
                let sent = turns[place].1.take().unwrap_or_default();
                if sent.pointer(place_in).is_none_or(|sent| sent != text) {
                    return missing();
                }
            }
        }

        match self.replies.check(&head, &turns) {
            Ok(()) => Ok(()),
            Err(_) => missing(),
        }
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        self.sent += 1;
        let calls = reply
            .calls
            .iter()
            .zip(1..)
            .map(|((name, arguments), number)| {
                json!({"id": format!("call_{}_{number}", self.sent), "type": "function",
                   "function": {"name": name, "arguments": arguments.to_string()}})
            });
        let mut message = json!({"role": "assistant", "content": reply.text});
        if !reply.calls.is_empty() {
            message["tool_calls"] = calls.collect();
            if reply.text.is_empty() {
                message["content"] = Value::Null;
            }
        }
        if let Some(thinking) = &reply.thinking {
            (self.host.adds)(&mut message, thinking, self.sent);
        }

        let mut turns = turns(request);
        turns.push(turn(&message));
        self.replies.add(&head(request), &turns);

        let reason = match reply.end {
            End::Cut => "length",
            _ if reply.calls.is_empty() => "stop",
            _ => "tool_calls",
        };
        json!({
            "id": format!("chatcmpl-{}", self.sent), "object": "chat.completion", "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": 100, "completion_tokens": 50,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
        })
    }

    fn stream(&self, _: &str, answer: &Value) -> String {
        let choice = &answer["choices"][0];
        let chunk = |delta: Value, reason: Value| {
            json!({"id": answer["id"], "object": "chat.completion.chunk", "model": answer["model"],
                   "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        };

        let deltas = deltas(&choice["message"]).into_iter();
        let mut chunks: Vec<_> = deltas.map(|delta| chunk(delta, Value::Null)).collect();
        chunks.push(chunk(json!({}), choice["finish_reason"].clone()));
        chunks.push(json!({"id": answer["id"], "choices": [], "usage": answer["usage"]}));
        format!("{}data: [DONE]\n\n", events(&chunks))
    }
}

fn head(request: &Value) -> Value {
    json!([request["model"], request["tools"]])
}

fn turns(request: &Value) -> Vec<Turn> {
    list(&request["messages"]).iter().map(turn).collect()
}

fn turn(message: &Value) -> Turn {
    if message["role"] != "assistant" {
        return (message.clone(), None);
    }

    let names = [
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "extra_content",
    ];
    let given = |value: &&Value| !value.is_null();
    let mut returned: Map<String, Value> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), message.get(name).filter(given)?.clone())))
        .collect();

    let content = &message["content"];
    let mut text = content.as_str().unwrap_or_default().to_owned();
    if let Some((_, answer)) = text.split_once("</think>") {
        returned.insert("content".to_owned(), content.clone());
        text = answer.trim_start().to_owned();
    }
    if content.is_array() {
        returned.insert("content".to_owned(), content.clone());
        let texts = list(content)
            .iter()
            .filter_map(|part| part["text"].as_str());
        text = texts.collect();
    }

    let calls = list(&message["tool_calls"]).iter();
    let extra: Vec<Value> = calls
        .clone()
        .map(|call| call["extra_content"].clone())
        .collect();
    if extra.iter().any(|extra| !extra.is_null()) {
        returned.insert("calls".to_owned(), Value::Array(extra));
    }
    let calls: Vec<Value> = calls
        .map(|call| json!([call["function"]["name"], call["function"]["arguments"]]))
        .collect();

    let returned = Some(Value::Object(returned)).filter(|fields| fields != &json!({}));
    (json!([text, calls]), returned)
}

/// The pieces of a message, as small as servers send them.
fn deltas(message: &Value) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": null})];
    for name in ["reasoning_content", "reasoning"] {
        if let Some(text) = message[name].as_str() {
            deltas.extend(halves(text).map(|half| json!({name: half, "content": null})));
        }
    }

    if let Some(details) = message["reasoning_details"].as_array() {
        if details.is_empty() {
            deltas.push(json!({"reasoning_details": []}));
        }
        for detail in details {
            let name = ["text", "data"]
                .into_iter()
                .find(|name| detail[name].is_string())
                .unwrap();
            let [first, second] = halves(detail[name].as_str().unwrap());
            let (mut begin, mut end) = (detail.clone(), detail.clone());
            begin[name] = json!(first);
            end[name] = json!(second);
            if begin.get("signature").is_some() {
                begin["signature"] = Value::Null;
            }
            deltas.push(json!({"reasoning_details": [begin]}));
            deltas.push(json!({"reasoning_details": [end]}));
        }
    }

    for part in list(&message["content"]) {
        let is_thinking = part["type"] == "thinking";
        let text = if is_thinking {
            &part["thinking"][0]["text"]
        } else {
            &part["text"]
        };
        for half in halves(text.as_str().unwrap()) {
            let thinking =
                json!([{"type": "thinking", "thinking": [{"type": "text", "text": half}]}]);
            deltas.push(json!({"content": if is_thinking { thinking } else { json!(half) }}));
        }
    }
    if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
        deltas.extend(halves(text).map(|half| json!({"content": half})));
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
