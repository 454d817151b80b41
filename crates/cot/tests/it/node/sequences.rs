//! Random sequences of replies: every run ends within its limits, and nothing is lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, CutShort, EarlyEnd, Reasoning};
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Usage, async_trait,
};
use cogwork_typed::ask::{Limits, Spent, Try};
use proptest::prelude::*;

use crate::node::support::{
    EARLY, FIRST, LAST, PROSE, SECOND, assert_survives_saving, cot_error, run_alone,
};

/// Gives the replies in a circle, each after a second, and keeps what it gave.
#[derive(Clone, Default)]
pub(crate) struct Circle {
    replies: Arc<Vec<Answer>>,
    calls: Arc<Mutex<usize>>,
    given: Arc<Mutex<Vec<String>>>,
    /// Whether it follows `max_tokens`, and counts tokens as they are estimated.
    is_obedient: bool,
}

/// A reply, or none; the tokens it took, if said; whether it was cut off.
pub(crate) type Answer = (Option<String>, Option<u64>, bool);

/// What an obedient model writes at most if it isn't told how much it may.
const UNTOLD: u32 = 8_192;

impl Circle {
    pub(crate) fn new(replies: Vec<Answer>) -> Self {
        Self {
            replies: Arc::new(replies),
            ..Self::default()
        }
    }

    pub(crate) fn obedient(self) -> Self {
        Self {
            is_obedient: true,
            ..self
        }
    }
}

#[async_trait]
impl LlmClient for Circle {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let call = {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            *calls - 1
        };

        tokio::time::sleep(Duration::from_secs(1)).await;
        let (reply, tokens, cut_off) = self.replies[call % self.replies.len()].clone();
        let text = reply.ok_or_else(|| LlmError::new(LlmErrorKind::Server, "on fire"))?;
        self.given.lock().unwrap().push(text.clone());

        let most = request.max_tokens().unwrap_or(UNTOLD);
        let usage = tokens.map(|tokens| match self.is_obedient {
            true => Usage::new(request.estimated_tokens(), tokens.min(most.into())),
            false => Usage::new(tokens, 1),
        });

        let response = ChatResponse::new(text);
        let response = usage.into_iter().fold(response, ChatResponse::with_usage);
        Ok(match cut_off {
            true => response.with_finish_reason(FinishReason::Length),
            false => response,
        })
    }
}

fn answer() -> impl Strategy<Value = Answer> {
    let text = prop_oneof![
        4 => prop::sample::select(vec![FIRST, SECOND]).prop_map(str::to_owned),
        1 => Just(LAST.to_owned()),
        2 => Just(EARLY.to_owned()),
        2 => prop::sample::select(vec!["", " \n", PROSE, "```yaml\n", "planning: &a [*a]"]).prop_map(str::to_owned),
        2 => (0..SECOND.len()).prop_map(|end| SECOND[..end].to_owned()),
        1 => any::<String>(),
    ];
    (
        prop::option::weighted(0.9, text),
        prop::option::of(0_u64..50),
        prop::bool::weighted(0.1),
    )
}

fn policy() -> impl Strategy<Value = EarlyEnd> {
    prop::sample::select(vec![EarlyEnd::Ask, EarlyEnd::Accept, EarlyEnd::Refuse])
}

fn limits() -> impl Strategy<Value = Limits> {
    let ranges = (0_u32..6, 0_u64..40_000, 0_u64..30, any::<bool>());
    ranges.prop_map(|(thoughts, tokens, seconds, conclude)| {
        let limits = Limits::default()
            .with_thoughts(thoughts)
            .with_tokens(tokens)
            .with_conclude(conclude);
        limits.with_time(Duration::from_secs(seconds))
    })
}

/// The texts in the order they came, from the thoughts and from a last turn without one.
fn all_replies(reasoning: &Reasoning, failed: &[Try]) -> Vec<String> {
    let kept = reasoning.thoughts().iter().map(|thought| &thought.trace);
    let unfinished = reasoning.cut_short().map(|end| &end.trace);
    let tries = kept.chain(unfinished).flat_map(|trace| &trace.tries);
    tries.chain(failed).map(|made| made.reply.clone()).collect()
}

proptest! {
    #[test]
    fn a_run_ends_within_its_limits_and_keeps_every_reply(
        answers in prop::collection::vec(answer(), 1..12),
        policy in policy(),
        limits in limits(),
        asks_again in 0_u32..4,
    ) {
        let client = Circle::new(answers);
        let node = ChainOfThought::new(client.clone()).with_limits(limits).with_asks_again(asks_again).with_early_end(policy);
        let (reasoning, outcome) = run_alone(node);

        // An end has an answer, and an error is none.
        prop_assert_eq!(outcome.is_ok(), reasoning.solution().is_some());
        let failed = outcome.as_ref().err().map(cot_error);
        let tries = failed.map_or(&[][..], |error| &error.trace().tries);

        // Nothing is lost.
        prop_assert_eq!(all_replies(&reasoning, tries), client.given.lock().unwrap().clone());
        let mut spent = Spent::default();
        for thought in reasoning.thoughts() {
            spent += thought.trace.spent;
        }
        if let Some(cut_short) = reasoning.cut_short() {
            prop_assert!(limits.concludes());
            spent += cut_short.trace.spent;
        }
        prop_assert_eq!(spent, reasoning.spent());

        // Thoughts are numbered, and only the last one concludes.
        for (number, thought) in (1..).zip(reasoning.thoughts()) {
            prop_assert_eq!(thought.thought_number, number);
            let last = number as usize == reasoning.thoughts().len();
            let is_concluded = outcome.is_ok()
                && reasoning.cut_short().is_none_or(CutShort::is_concluded);
            prop_assert_eq!(!thought.next_thought_needed, last && is_concluded);
        }

        // Limits hold.
        prop_assert!(reasoning.thoughts().len() <= limits.thoughts.unwrap() as usize);
        let calls_a_turn = asks_again as usize + 2;
        prop_assert!(*client.calls.lock().unwrap() <= (reasoning.thoughts().len() + 1) * 2 * calls_a_turn);
        let time = spent.time + failed.map_or(Duration::ZERO, |error| error.trace().spent.time);
        prop_assert!(time <= limits.time.unwrap());
        if let Some(last) = reasoning.thoughts().last() {
            let before = spent.tokens() - last.trace.spent.tokens();
            prop_assert!(before < limits.tokens.unwrap());
        }

        // An error is one line, says which thought it is about, and costs are kept for who goes on.
        if let Some(error) = failed {
            prop_assert_eq!(error.thought_number() as usize, reasoning.thoughts().len() + 1);
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
            let mut charged = reasoning.clone();
            charged.charge(error);
            spent += error.trace().spent;
            prop_assert_eq!(charged.spent(), spent);
        }

        // And the state can be saved wherever it stopped.
        assert_survives_saving(&reasoning);
    }
}
