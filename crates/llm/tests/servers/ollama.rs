//! Ollama's own API.

use serde_json::{Value, json};

use super::{Dialect, Refused, Replies, Reply, Turn, halves, list};

#[derive(Default)]
pub(crate) struct Ollama {
    replies: Replies,
    sent: usize,
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

        let checked = self.replies.check(&head(request), &turns(request));
        checked.map_err(|_| Refused(400, json!({"error": "message thinking does not match"})))
    }

    fn answer(&mut self, _: &str, request: &Value, reply: Reply) -> Value {
        self.sent += 1;
        let mut message = json!({"role": "assistant", "content": reply.text});
        if let Some(thinking) = reply.thinking.filter(|text| !text.is_empty()) {
            message["thinking"] = json!(thinking);
        }
        if !reply.calls.is_empty() {
            let calls = reply
                .calls
                .iter()
                .zip(0..)
                .map(|((name, arguments), index)| {
                    json!({"id": format!("call_{}_{index}", self.sent),
                       "function": {"index": index, "name": name, "arguments": arguments}})
                });
            message["tool_calls"] = calls.collect();
        }

        let mut turns = turns(request);
        turns.push(turn(&message));
        self.replies.add(&head(request), &turns);
        json!({
            "model": request["model"], "message": message, "done": true, "done_reason": "stop",
            "prompt_eval_count": 100, "eval_count": 50,
        })
    }

    fn stream(&self, _: &str, answer: &Value) -> String {
        let message = &answer["message"];
        let mut pieces = Vec::new();
        for name in ["thinking", "content"] {
            for half in halves(message[name].as_str().unwrap_or_default()) {
                let mut piece = json!({"role": "assistant", "content": ""});
                piece[name] = json!(half);
                pieces.push(json!({"message": piece, "done": false}));
            }
        }
        for call in list(&message["tool_calls"]) {
            let piece = json!({"role": "assistant", "content": "", "tool_calls": [call]});
            pieces.push(json!({"message": piece, "done": false}));
        }

        let mut last = answer.clone();
        last["message"] = json!({"role": "assistant", "content": ""});
        pieces.push(last);
        pieces.iter().map(|piece| format!("{piece}\n")).collect()
    }
}

fn head(request: &Value) -> Value {
    json!([request["model"], request["tools"]])
}

fn turns(request: &Value) -> Vec<Turn> {
    list(&request["messages"]).iter().map(turn).collect()
}

fn turn(message: &Value) -> Turn {
    let calls = list(&message["tool_calls"]).iter();
    let calls: Vec<Value> = calls
        .map(|call| json!([call["function"]["name"], call["function"]["arguments"]]))
        .collect();
    let names = ["role", "content", "tool_name", "tool_call_id"];
    let plain = json!([names.map(|name| &message[name]), calls]);

    (plain, message.get("thinking").cloned())
}
