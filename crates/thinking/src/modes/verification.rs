use async_trait::async_trait;
use cogwork_llm::{Message, Messages};
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{is_just, some};
use crate::{Draft, Hook, ThinkingError, ThinkingMode};

const NO_CHANGE: &str = "NO CHANGE";

/// Verifies the draft with questions that are answered without it: factored chain of verification
/// (Dhuliawala et al. 2023, "Chain-of-Verification Reduces Hallucination in Large Language Models",
/// arXiv:2309.11495).
///
/// The model asks questions that would reveal mistakes in its draft. Each is answered in a separate
/// conversation, concurrently, so that no answer can repeat a mistake of the draft. Then the draft
/// is corrected where it contradicts the answers. A question whose answer fails is left out and
/// reported.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
/// use cogwork_thinking::{Thinking, Verification};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["Grieg and Ibsen were born in Bergen.", // the draft
///     "1. Where was Grieg born?\n2. Where was Ibsen born?",
///     "In Bergen.", "In Skien.",
///     "Grieg was born in Bergen."]);
/// let client = Thinking::new(script).with_mode(Verification::default());
/// let response = client.complete(ChatRequest::new([Message::user("Who was born in Bergen?")])).await?;
/// assert_eq!(response.text(), "Grieg was born in Bergen.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Verification {
    /// The maximum number of questions.
    #[schemars(range(min = 1, max = 16))]
    pub questions: usize,
}

impl Default for Verification {
    fn default() -> Self {
        Self { questions: 3 }
    }
}

impl Verification {
    async fn questions(&self, draft: &Draft) -> Result<Vec<String>, ThinkingError> {
        let most = self.questions.clamp(1, 16);
        let prompt = format!(
            "Write questions by which the facts in your answer can be verified, at most {most}, one per line. Each must \
             be understood by someone who has not read your answer.",
        );
        let reply = draft.ask(draft.aside(draft.conversation(&prompt))).await?;
        let bare = |line: &str| {
            // Models number their questions, or begin them with a dash.
            let mark = |character: char| !character.is_alphabetic();
            line.trim_start_matches(mark)
                .trim()
                .trim_end_matches('*')
                .to_owned()
        };

        let questions = reply
            .text()
            .lines()
            .map(bare)
            .filter(|line| line.ends_with(['?', '？']));

        let questions: Vec<_> = questions.take(most).collect();
        match questions.is_empty() {
            true => Err(ThinkingError::unexpected(
                reply.text(),
                "questions, one per line",
            )),
            false => Ok(questions),
        }
    }

    /// Answers the questions concurrently, and returns those with an answer as a text.
    async fn answers(draft: &mut Draft, questions: &[String]) -> Result<String, ThinkingError> {
        let answers = questions
            .iter()
            .map(|question| Self::answer(&*draft, question));
        let answers = join_all(answers).await;

        let mut known = Vec::new();
        let mut failed = None;
        for (question, answer) in questions.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    let answer = answer.trim();
                    known.push(format!("Question: {question}\nAnswer: {answer}"));
                }
                Err(error) => {
                    draft.report(&error);
                    failed = Some(error);
                }
            }
        }

        match failed {
            Some(error) if known.is_empty() => Err(error),
            _ => Ok(known.join("\n\n")),
        }
    }

    /// Answers a question with the role and the user's attachments, but without the draft.
    async fn answer(draft: &Draft, question: &str) -> Result<String, ThinkingError> {
        let mut messages = Messages::new();
        if !draft.role().is_empty() {
            messages.push(Message::system(draft.role()));
        }

        // With the attachments, which a question may be about.
        messages.push(Message::user(question).with_blocks(draft.input().blocks().iter().cloned()));
        Ok(draft.ask(draft.aside(messages)).await?.into_text())
    }
}

#[async_trait]
impl ThinkingMode for Verification {
    fn name(&self) -> &str {
        "verification"
    }

    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        some(draft)?;
        let questions = self.questions(draft).await?;
        // Without the draft, so that no answer repeats its mistakes.
        let known = Self::answers(draft, &questions).await?;
        let prompt = format!(
            "These questions were answered independently of your answer:\n\n{known}\n\nWhere your answer contradicts \
             them, correct it, and reply with the whole answer and nothing else. If nothing is to be corrected, reply \
             with {NO_CHANGE} and nothing else.",
        );

        let request = draft.answering(draft.conversation(&prompt));
        let reply = draft.ask(request).await?;
        if !is_just(reply.text(), NO_CHANGE) {
            draft.set_text(reply.into_text());
        }

        Ok(())
    }
}
