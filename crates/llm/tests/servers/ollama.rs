//! Ollama's own API.

use serde_json::{Value, json};

use super::{Dialect, Refused, Replies, Reply, halves, list};

#[derive(Default)]
pub(crate) struct Ollama {
    replies: Replies,
}

impl Dialect for Ollama {
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
        if path != "/api/chat" {
            return Err(Refused(404, json!({"error": "404 page not found"})));
        }

        // The API has no tool choice: a conversation goes on without tools.
        if request.get("tools").is_none() {
            return Ok(());
        }
        let checked = self.replies.check(request, None);
        checked.map_err(|_| Refused(400, json!({"error": "message thinking does not match"})))
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        let number = self.replies.next();
        let mut message = json!({"role": "assistant", "content": reply.text});
        if let Some(thinking) = reply.thinking.filter(|text| !text.is_empty()) {
            message["thinking"] = json!(thinking);
        }
        if !reply.calls.is_empty() {
            let calls = reply.calls.iter().zip(0..);
            let calls = calls.map(|((name, arguments), index)| {
                let function = json!({"index": index, "name": name, "arguments": arguments});
                json!({"id": format!("call_{number}_{index}"), "function": function})
            });
            message["tool_calls"] = calls.collect();
        }

        self.replies.add(request, &message);
        json!({"model": request["model"], "message": message, "done": true, "done_reason": "stop"})
    }

    fn stream(&self, _: &str, answer: &Value) -> String {
        let message = &answer["message"];
        let mut messages = Vec::new();
        for name in ["thinking", "content"] {
            let halves = halves(message[name].as_str().unwrap_or_default());
            messages.extend(halves.map(|half| json!({"role": "assistant", name: half})));
        }
        let calls = list(&message["tool_calls"]).iter();
        messages.extend(calls.map(|call| json!({"content": "", "tool_calls": [call]})));

        let pieces = messages
            .iter()
            .map(|message| json!({"message": message, "done": false}));
        let mut last = answer.clone();
        last["message"] = json!({"role": "assistant", "content": ""});
        pieces
            .chain([last])
            .map(|piece| format!("{piece}\n"))
            .collect()
    }
}
