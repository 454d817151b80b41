//! Any replies of a model lead to an end.

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, async_trait};
use cogwork_strategies::{Evaluation, Limits, Search, Solver, TreeOfThoughts};
use proptest::prelude::*;

use super::PROBLEM;

/// A model that replies at random, mostly in the requested form.
struct Random(std::sync::Mutex<u64>);

impl Random {
    fn below(&self, bound: u64) -> u64 {
        let mut state = self.0.lock().unwrap();

        // A xorshift generator. The numbers only need to be reproducible.
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;

        *state % bound
    }
}

#[async_trait]
impl LlmClient for Random {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned())
            .unwrap_or_default();

        if self.below(20) == 0 {
            return Err(LlmError::new(LlmErrorKind::Server, "overloaded"));
        }

        let some = |item: &dyn Fn(u64) -> String| {
            (0..self.below(5))
                .map(|_| item(self.below(6)))
                .collect::<Vec<_>>()
        };

        let yes = if self.below(8) == 0 { "yes" } else { "no" };
        Ok(ChatResponse::new(if asked.contains("\napproaches:") {
            let one = |n: u64| {
                format!(
                    r#"{{"id": "a{n}", "description": "way {n}", "promise": {}}}"#,
                    self.below(11)
                )
            };
            format!("approaches: [{}]", some(&one).join(", "))
        } else if asked.contains("\nevaluation_score:") {
            format!("evaluation_score: {}\nsolved: {yes}", self.below(11))
        } else if asked.contains("\nchoice:") {
            format!("choice: {}\nsolved: {yes}", self.below(4))
        } else if asked.contains("\nproposals:") {
            format!("proposals: {}", some(&|n| format!("\n- step {n}")).concat())
        } else if asked.contains("\nanswer:") {
            "answer: done".to_owned()
        } else {
            format!("step {}", self.below(9))
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The session refuses illegal moves, so a run without an error made none on any branch.
    #[test]
    fn any_search_with_any_model_ends_in_good_order(
        seed in 1u64..,
        search in prop_oneof![
            (1usize..4).prop_map(|beam_width| Search::BreadthFirst { beam_width }),
            Just(Search::DepthFirst),
            Just(Search::BestFirst),
        ],
        (approaches, proposals, depth, votes) in (1usize..4, 1usize..4, 1usize..4, 0usize..3),
        threshold in 0.0..6.0,
        calls in 1u32..60,
    ) {
        let evaluation = if votes > 0 { Evaluation::Votes(votes) } else { Evaluation::Values(1) };
        let driver = TreeOfThoughts { search, approaches, proposals, depth, threshold, evaluation };
        let solver = Solver::new(Random(std::sync::Mutex::new(seed)), driver).with_limits(Limits::default().with_calls(calls));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        match runtime.block_on(solver.solve(PROBLEM)) {
            Ok(solved) if solved.is_answered() => prop_assert_eq!(solved.answer(), Some("done")),
            Ok(solved) => {
                let end = solved.end().to_string();
                prop_assert!(end.starts_with("given up: every approach") || end.ends_with("calls is spent"), "{}", end);
            }
            // All questions of a round failed.
            Err(error) => prop_assert!(error.client_error().is_some() || error.is_unreadable(), "{:?}", error),
        }
    }
}
