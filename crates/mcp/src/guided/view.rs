//! What a call returns, as data.

use cogwork_text::OneLine;
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;

use super::progress::{Done, End, EndKind, Thought, newest};
use super::question::{Asked, Question};
use super::session::Begun;
use crate::store::SessionId;

/// The maximum number of characters of a thought, unless the trace is wanted.
const THOUGHT: usize = 300;

/// The maximum length of a trace, in bytes, unless the last thought is longer. The oldest thoughts
/// are left out.
const TRACE: usize = 1024 * 1024;

/// The state of a session, and what a call has changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    #[schemars(with = "String")]
    pub(super) session_id: SessionId,
    pub(super) strategy: &'static str,
    pub(super) status: Status,
    pub(super) questions: Vec<QuestionView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) not_accepted: Vec<NotAccepted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) repairs: Vec<String>,
    pub(super) thoughts: Vec<ThoughtView>,
    pub(super) budget: BudgetView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conclusion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// Questions wait for replies.
    Open,
    Answered,
    /// The answer is the best one so far.
    Stopped,
    Failed,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct QuestionView {
    pub(super) id: String,
    pub(super) kind: QuestionKind,
    /// The question whose reply could not be used, so that this one is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked_again: Option<String>,
    /// What is wrong with that reply, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// The messages to reply to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) messages: Vec<MessageView>,
    /// The number of earlier messages that aren't repeated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) earlier_messages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum QuestionKind {
    Model,
    Tool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct MessageView {
    pub(super) role: &'static str,
    pub(super) text: String,
}

/// A reply that changed nothing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct NotAccepted {
    pub(super) question: String,
    pub(super) problem: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ThoughtView {
    pub(super) number: usize,
    pub(super) stage: String,
    pub(super) text: String,
}

/// What was spent, and the limits.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BudgetView {
    pub(super) replies: u32,
    pub(super) max_replies: u32,
    pub(super) thoughts: usize,
    pub(super) max_thoughts: u32,
    pub(super) tokens: u64,
    pub(super) max_tokens: u64,
    pub(super) seconds: u64,
    pub(super) max_seconds: u64,
}

/// What a call wants to see.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// Whole conversations, and not only what is new.
    pub(super) full: bool,
    /// All thoughts in full.
    pub(super) trace: bool,
}

/// How far a session was before a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) thoughts: usize,
    pub(super) repairs: usize,
}

impl Before {
    pub(super) fn of(done: &Done) -> Self {
        Self {
            thoughts: done.thoughts.len(),
            repairs: done.repairs.len(),
        }
    }
}

impl View {
    pub(super) fn new(
        id: &SessionId,
        session: &Begun,
        before: Before,
        wanted: Wanted,
        now: u64,
    ) -> Self {
        let done = session.done();
        let end = session.end();
        let questions = session.questions();
        let questions = questions.iter();
        let budget = budget(session, &done, now);
        let best = done.best.filter(|_| end.is_some());

        Self {
            session_id: id.clone(),
            strategy: session.settings().method.as_str(),
            status: Status::of(end.as_ref()),
            questions: questions
                .map(|question| QuestionView::new(question, wanted.full))
                .collect(),
            not_accepted: Vec::new(),
            repairs: done.repairs.into_iter().skip(before.repairs).collect(),
            thoughts: thoughts(&done.thoughts, before, wanted),
            budget,
            answer: best.as_ref().map(|best| best.text.clone()),
            confidence: best.as_ref().and_then(|best| best.confidence),
            conclusion: best.and_then(|best| best.conclusion),
            end: end.map(|end| end.reason),
        }
    }
}

impl Status {
    fn of(end: Option<&End>) -> Self {
        match end.map(|end| end.kind) {
            None => Self::Open,
            Some(EndKind::Answered) => Self::Answered,
            Some(EndKind::Stopped) => Self::Stopped,
            Some(EndKind::Failed) => Self::Failed,
        }
    }
}

impl QuestionView {
    fn new(question: &Question, full: bool) -> Self {
        let refusal = question.refusal.as_ref();
        let mut view = Self {
            id: question.id.clone(),
            kind: QuestionKind::Model,
            asked_again: refusal.map(|refused| refused.question.clone()),
            problem: refusal.map(|refused| refused.problem.clone()),
            messages: Vec::new(),
            earlier_messages: 0,
            max_tokens: None,
            tool: None,
            input: None,
        };

        match &question.asked {
            Asked::Model {
                messages,
                known,
                max_tokens,
            } => {
                let left_out = if full { 0 } else { *known };
                let shown = messages.iter().skip(left_out);
                view.messages = shown
                    .map(|message| MessageView {
                        role: message.role().as_str(),
                        text: message.text().to_owned(),
                    })
                    .collect();
                view.earlier_messages = left_out;
                view.max_tokens = *max_tokens;
            }
            Asked::Tool { name, input } => {
                view.kind = QuestionKind::Tool;
                view.tool = Some(name.clone());
                view.input = Some(input.clone());
            }
        }
        view
    }
}

fn thoughts(all: &[Thought], before: Before, wanted: Wanted) -> Vec<ThoughtView> {
    let skipped = if wanted.trace {
        newest(all, TRACE)
    } else {
        before.thoughts
    };
    let new = all.iter().enumerate().skip(skipped);
    new.map(|(index, thought)| ThoughtView {
        number: index.saturating_add(1),
        stage: thought.stage.clone(),
        text: if wanted.trace {
            thought.text.clone()
        } else {
            OneLine::new(&thought.text)
                .with_max_chars(THOUGHT)
                .to_string()
        },
    })
    .collect()
}

fn budget(session: &Begun, done: &Done, now: u64) -> BudgetView {
    let limits = session.budget();
    BudgetView {
        replies: session.replies(),
        max_replies: limits.replies,
        thoughts: done.thoughts.len(),
        max_thoughts: limits.thoughts,
        tokens: done.tokens,
        max_tokens: limits.tokens,
        seconds: session.elapsed(now) / 1_000,
        max_seconds: limits.seconds,
    }
}
