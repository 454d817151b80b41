//! What a call returns, as data.

use cogwork_text::OneLine;
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;

use super::question::{Asked, Question};
use super::reasoner::Done;
use super::session::{Begun, GuidedSession};
use crate::run::Status;
use crate::shown::{Shown, Step, older};
use crate::store::{Owner, SessionHeader, SessionId, SessionStore, StoreError};

/// The maximum number of characters of a thought, unless the trace is wanted.
const THOUGHT: usize = 300;

/// The maximum length of a trace, in bytes, unless the last thought is longer. The oldest thoughts
/// are left out.
const TRACE: usize = 1024 * 1024;

/// The state of a session, and what a call has changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
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
    pub(super) solution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
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
    pub(super) number: u64,
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
    thoughts: usize,
    repairs: usize,
}

impl Before {
    pub(super) fn of(session: &Begun) -> Self {
        let done = session.done();
        Self {
            thoughts: done.steps.len(),
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
        let end = session.end();
        let questions = session.questions();
        let questions = questions.iter();

        let done = session.done();
        let best = done.best.clone().filter(|_| end.is_some());
        let repairs = done.repairs.iter().skip(before.repairs);
        Self {
            session_id: id.clone(),
            strategy: session.settings().method.as_str(),
            status: end.as_ref().map_or(Status::Open, |end| end.status),
            questions: questions
                .map(|question| QuestionView::new(question, wanted.full))
                .collect(),
            not_accepted: Vec::new(),
            repairs: repairs.cloned().collect(),
            thoughts: thoughts(&done.steps, before, wanted),
            budget: budget(session, &done, now),
            answer: best.as_ref().map(|best| best.answer.clone()),
            confidence: best.as_ref().and_then(|best| best.confidence),
            solution: best.and_then(|best| best.solution),
            end: end.map(|end| end.reason),
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

fn thoughts(steps: &[Step], before: Before, wanted: Wanted) -> Vec<ThoughtView> {
    let skipped = if wanted.trace {
        older(steps, TRACE)
    } else {
        before.thoughts
    };
    let new = steps.iter().zip(1..).skip(skipped);
    new.map(|(step, number)| {
        let stage = step.branch.as_ref().map_or_else(
            || step.stage.clone(),
            |branch| format!("{} ({branch})", step.stage),
        );
        let text = Some(step.text.clone()).filter(|text| !text.is_empty());
        let details = step.details.iter();
        let details = details.map(|(name, value)| format!("{name} = {value}"));
        let text = text
            .into_iter()
            .chain(details)
            .collect::<Vec<_>>()
            .join(" · ");

        let short = OneLine::new(&text).with_max_chars(THOUGHT);
        ThoughtView {
            number,
            stage,
            text: if wanted.trace {
                text
            } else {
                short.to_string()
            },
        }
    })
    .collect()
}

fn budget(session: &Begun, done: &Done, now: u64) -> BudgetView {
    let limits = session.budget();
    BudgetView {
        replies: session.replies(),
        max_replies: limits.replies,
        thoughts: done.steps.len(),
        max_thoughts: limits.thoughts,
        tokens: done.tokens,
        max_tokens: limits.tokens,
        seconds: session.elapsed(now) / 1_000,
        max_seconds: limits.seconds,
    }
}

/// Returns what a resource shows of a session.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let (store, owner, session) = (store.clone(), owner.clone(), session.clone());
    super::on_own_thread(async move {
        let state: GuidedSession = store.read(&owner, &session.id).await?;
        let shown = Shown::of(&session);
        let bytes = store.limits().export_bytes;
        Ok(match &state.begun {
            Some(begun) => with(shown, begun, bytes),
            None => shown,
        })
    })
    .await
}

/// Adds what was done in a session, and its newest thoughts up to this many bytes.
fn with(mut shown: Shown, begun: &Begun, bytes: usize) -> Shown {
    shown.problem = Some(begun.settings().problem.clone());
    let end = begun.end();
    let done = begun.done();
    if let Some(end) = end {
        shown
            .facts
            .push(("Outcome", end.status.as_str().to_owned()));
        shown.facts.push(("Reason", end.reason));
        shown.answer = done.best.as_ref().map(|best| best.answer.clone());
    }
    shown.with_newest(done.steps.clone(), bytes)
}
