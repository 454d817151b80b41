//! What reflection gains and what it costs. The backend counts letters as models do at first sight, a double
//! letter as one; asked to look again, it spells the word.
//!
//! ```text
//!               without  with reflection
//! r strawberry        2                3
//! s mississippi       2                4
//! a banana            3                3
//! l parallel          2                3
//! o tomorrow          3                3
//! right               2                5
//! calls               5               10
//! tokens             30              165
//! ```

use std::error::Error;

use cogwork::llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, Message, Role, Usage, async_trait,
};
use cogwork::thinking::{Reflection, Thinking};

/// Answers `How many L in WORD?`.
struct Hasty;

#[async_trait]
impl LlmClient for Hasty {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let texts = |role| {
            request
                .messages()
                .iter()
                .filter(move |message| message.role() == role)
        };

        let question = texts(Role::User).next().map_or("", Message::text);
        let mut words = question.trim_end_matches('?').split(' ').skip(2);
        let letter = words.next().unwrap_or_default();
        let word = words.nth(1).unwrap_or_default();

        let answer = match texts(Role::Assistant).next_back() {
            None => at_first_sight(letter, word).to_string(),
            Some(draft) => {
                let spelt = word.matches(letter).count().to_string();
                if draft.text() == spelt {
                    "RIGHT".to_owned()
                } else {
                    spelt
                }
            }
        };

        let read: usize = request
            .messages()
            .iter()
            .map(|message| message.text().split(' ').count())
            .sum();

        Ok(ChatResponse::new(answer).with_usage(Usage::new(read as u64, 1)))
    }
}

/// Counts a double letter as one.
fn at_first_sight(letter: &str, word: &str) -> usize {
    word.replace(&letter.repeat(2), letter)
        .matches(letter)
        .count()
}

/// The results of the questions so far.
#[derive(Default)]
struct Sum {
    right: u32,
    calls: u32,
    tokens: u64,
}

async fn ask(
    client: &Thinking,
    letter: &str,
    word: &str,
    sum: &mut Sum,
) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(format!("How many {letter} in {word}?"))]);
    let generation = client.generate(request).await?;
    sum.right += u32::from(generation.response.text() == word.matches(letter).count().to_string());
    sum.calls += generation.report.spent.calls;
    sum.tokens += generation.report.spent.tokens();

    Ok(generation.response.into_text())
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let reflection = Reflection {
        verdict: Some("RIGHT".to_owned()),
        ..Reflection::new("Spell the word letter by letter, and count again.")
    };
    let plain = Thinking::new(Hasty);
    let reflecting = Thinking::new(Hasty).with_mode(reflection);
    let mut without = Sum::default();
    let mut with = Sum::default();

    println!("{:13} {:>7}  {:>15}", "", "without", "with reflection");
    let questions = [
        ("r", "strawberry"),
        ("s", "mississippi"),
        ("a", "banana"),
        ("l", "parallel"),
        ("o", "tomorrow"),
    ];

    for (letter, word) in questions {
        let first = ask(&plain, letter, word, &mut without).await?;
        let second = ask(&reflecting, letter, word, &mut with).await?;
        println!("{letter} {word:11} {first:>7}  {second:>15}");
    }

    println!("{:13} {:>7}  {:>15}", "right", without.right, with.right);
    println!("{:13} {:>7}  {:>15}", "calls", without.calls, with.calls);
    println!("{:13} {:>7}  {:>15}", "tokens", without.tokens, with.tokens);

    Ok(())
}
