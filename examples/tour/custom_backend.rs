//! A custom backend: anything that answers a conversation can implement `LlmClient`.
//! This one counts words; yours would call a model.
//!
//! ```text
//! answer: The text has 9 words.
//! asked: 1 request, its last message ends with "Reply with the YAML block only."
//! ```

use std::error::Error;

use cogwork::cot::{ChainOfThought, Reasoning, Reply};
use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
use cogwork::plan::{Plan, Step};

struct WordCounter;

#[async_trait]
impl LlmClient for WordCounter {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map_or("", |message| message.text());
        let problem = asked
            .split("<problem>")
            .nth(1)
            .and_then(|rest| rest.split("</problem>").next());
        let answer = format!(
            "The text has {} words.",
            problem.unwrap_or_default().split_whitespace().count()
        );
        let plan = Plan::from(vec![
            Step::done("Count the words", answer.clone()),
            Step::done("Conclusion", answer.clone()),
        ]);
        let reply = Reply {
            current_thinking: answer,
            planning: plan,
            next_thought_needed: false,
        };

        Ok(ChatResponse::new(reply.to_string()))
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let flow = ChainOfThought::new(WordCounter).into_flow();
    let mut reasoning = Reasoning::new("the quick brown fox jumps over the lazy dog");
    flow.run(&mut reasoning).await?;
    println!("answer: {}", reasoning.answer().unwrap_or("none"));

    // The scripted client records the requests, so they can be inspected without a network.
    let script = cogwork::llm::ScriptedClient::new([WordCounter
        .complete(ChatRequest::default())
        .await?
        .into_text()]);
    ChainOfThought::new(script.clone())
        .into_flow()
        .run(&mut Reasoning::new("one two"))
        .await?;
    let requests = script.requests();
    let first = requests.first().ok_or("no request")?;
    let last = first.messages().last().map_or("", |message| message.text());

    println!(
        "asked: {} request, its last message ends with {:?}",
        requests.len(),
        last.lines().last().unwrap_or("")
    );

    Ok(())
}
