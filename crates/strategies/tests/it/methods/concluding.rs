//! Before a budget is spent, the model is asked for the best answer so far.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, ScriptedClient, ScriptedReply, Usage,
};
use cogwork_strategies::{Asked, Call, Solver, Solving, StrategyName};
use cogwork_tools::{Tools, async_trait, function};
use cogwork_typed::ask::Limits;
use proptest::prelude::*;

use super::support::is_unreadable;
use crate::support::strategy;

/// The beginning of the last question.
const LAST: &str = "The budget for this problem is nearly spent";

/// Never comes to an answer, except if it is asked the last question.
#[derive(Clone)]
struct Endless {
    requests: Arc<Mutex<Vec<ChatRequest>>>,
    /// The tokens that each call takes, in a circle. Without any, they are estimated.
    tokens: Vec<u64>,
    /// Whether it follows `max_tokens` and counts tokens as they are estimated.
    is_obedient: bool,
    /// The seconds that each call takes.
    seconds: u64,
    /// The reply to the last question.
    last: &'static str,
}

impl Endless {
    fn new() -> Self {
        Self {
            requests: Arc::default(),
            tokens: Vec::new(),
            is_obedient: false,
            seconds: 0,
            last: "answer: 42",
        }
    }

    fn last_questions(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let asked = requests.iter().map(asked);
        asked.filter(|asked| asked.contains(LAST)).collect()
    }

    fn reply(&self, request: &ChatRequest, number: usize) -> String {
        let asked = asked(request);
        let mut messages = request.messages().iter();
        if messages.any(|message| message.text().contains(LAST)) {
            return self.last.to_owned();
        }

        // Fits every form that asks for no answer.
        let asks_for_answer = asked.lines().any(|line| line.starts_with("answer: "));
        if asks_for_answer {
            return "I can't say.\nanswer:".to_owned();
        }
        format!("Thought {number}.")
    }
}

fn asked(request: &ChatRequest) -> String {
    let messages = request.messages();
    messages.last().unwrap().text().to_owned()
}

#[async_trait]
impl LlmClient for Endless {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        tokio::time::sleep(Duration::from_secs(self.seconds)).await;
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len()
        };

        let response = ChatResponse::new(self.reply(&request, number));
        if self.tokens.is_empty() {
            return Ok(response);
        }

        let written = self.tokens[number % self.tokens.len()];
        let most = request.max_tokens().map_or(8_192, u64::from);
        let usage = if self.is_obedient {
            Usage::new(request.estimated_tokens(), written.min(most))
        } else {
            Usage::new(request.estimated_tokens() * 2, written)
        };
        Ok(response.with_usage(usage))
    }
}

fn tools() -> Tools {
    let look = |_: serde_json::Value| async { Ok("nothing".to_owned()) };
    Tools::new().with(function("look", "Looks.", look)).unwrap()
}

/// A table whose stages go in a circle.
fn circle() -> cogwork_strategies::Strategy {
    let stages = "problem: {description: The problem., prompt: State the problem., next: [thought]}
        thought: {description: A thought., prompt: Think., next: [other]}
        other: {description: Another., prompt: Think on., next: [thought, answer]}
        answer: {description: The answer., prompt: Answer., final: true}";
    strategy("circle", stages)
}

/// Replies that lead around in the circle.
fn around() -> Vec<String> {
    let replies = (1..).map(|number| format!("thought: Idea {number}.\nnext: thought"));
    replies.take(100).collect()
}

async fn solve(client: impl LlmClient + 'static, budget: Limits) -> Solving {
    let solver = Solver::new(client, circle()).with_limits(budget);
    solver.solve("What is 17 * 3?").await.unwrap()
}

#[tokio::test]
async fn every_strategy_asks_for_the_best_answer_with_its_last_call() {
    for name in StrategyName::ALL {
        let client = Endless::new();
        let budget = Limits::default().with_thoughts(1);
        let solver = Solver::new(client.clone(), name)
            .with_tools(tools())
            .with_limits(budget);
        let solved = solver.solve("What is 17 * 3?").await.unwrap();

        assert_eq!(solved.answer(), Some("42"), "{name}");
        assert_eq!(
            solved.end().unwrap().to_string(),
            "the budget of 1 thought is spent"
        );
        assert!(!solved.is_answered());

        // The question has the thoughts so far, and its call is recorded.
        let asked = client.last_questions();
        assert_eq!(asked.len(), 1, "{name}");
        assert!(asked[0].contains("The thoughts so far:\n- "), "{name}");
        let last = solved.calls().last().unwrap();
        assert!(matches!(last, Call::Model(Asked { name, .. }) if name == "conclusion"));
        assert_eq!(
            solved.spent().calls as usize,
            client.requests.lock().unwrap().len()
        );
    }
}

#[tokio::test]
async fn the_last_question_contains_the_thoughts_so_far() {
    let replies = ["Idea 1.", "thought: Idea 2.\nnext: thought", "answer: 51"];
    let client = ScriptedClient::new(replies);
    let solved = solve(client.clone(), Limits::default().with_calls(3)).await;

    assert_eq!(solved.answer(), Some("51"));
    assert_eq!(
        solved.end().unwrap().to_string(),
        "the budget of 3 calls is spent"
    );

    let request = &client.requests()[2];
    let question = request.messages().last().unwrap();
    insta::assert_snapshot!(question.text());
}

#[tokio::test]
async fn no_question_is_asked_if_there_is_an_answer() {
    let client = ScriptedClient::new(["- one\n- two", "results:\n- 3\n- 4\nanswer: 7"]);
    let budget = Limits::default().with_calls(2);
    let solver = Solver::new(client.clone(), StrategyName::ChainOfThought).with_limits(budget);
    let solved = solver.solve("3 + 4?").await.unwrap();

    assert_eq!(solved.answer(), Some("7"));
    assert_eq!(client.requests().len(), 2);
}

#[tokio::test]
async fn without_a_usable_reply_the_best_answer_so_far_stays() {
    let client = Endless {
        last: "answer:",
        ..Endless::new()
    };
    let solved = solve(client, Limits::default().with_thoughts(2)).await;
    assert_eq!(solved.answer(), Some("Thought 1."));
    assert_eq!(
        solved.end().unwrap().to_string(),
        "the budget of 2 thoughts is spent"
    );

    let Some(Call::Model(Asked { log, reply, .. })) = solved.calls().last() else {
        panic!("the last call is one to the model");
    };
    assert_eq!((log.tries.len(), reply.is_err()), (3, true));
}

#[tokio::test(start_paused = true)]
async fn time_is_kept_for_the_last_question() {
    let after = |text: &str, seconds| ScriptedReply::from(text).after(Duration::from_secs(seconds));
    let client = ScriptedClient::default()
        .then(after("Idea 1.", 20))
        .then(after("thought: Idea 2.\nnext: thought", 1_000))
        .then(after("answer: 51", 10));
    let budget = Limits::default().with_time(Duration::from_secs(100));
    let solved = solve(client, budget).await;

    assert_eq!(solved.answer(), Some("51"));
    assert_eq!(
        solved.end().unwrap().to_string(),
        "the budget of 100s is spent"
    );
    assert_eq!(solved.spent().time, Duration::from_secs(85));
}

#[tokio::test(start_paused = true)]
async fn the_last_question_may_take_until_the_hard_limit_of_time() {
    let after = |text: &str, seconds| ScriptedReply::from(text).after(Duration::from_secs(seconds));
    let solved = |seconds| async move {
        let client = ScriptedClient::default()
            .then(after("Idea 1.", 1_000))
            .then(after("answer: 51", seconds));
        let time = Duration::from_secs(100);
        solve(
            client,
            Limits::default().with_time(time).with_hard_time(2 * time),
        )
        .await
    };

    // 25 of 100 seconds are kept for it, and it may take 125.
    let in_time = solved(120).await;
    assert_eq!(in_time.answer(), Some("51"));
    assert_eq!(in_time.spent().time, Duration::from_secs(195));

    let too_late = solved(130).await;
    assert_eq!(too_late.answer(), None);
    assert_eq!(too_late.spent().time, Duration::from_secs(200));
}

#[tokio::test(start_paused = true)]
async fn linear_concludes_while_there_is_time_for_it() {
    let replies = [
        "thought: Tens and ones.\nthoughts_needed: 9",
        "30 and 21.",
        "thought: Right.\nnext: hypothesis_generation",
        "hypothesis: 51",
        "verification: 51 / 3 = 17.\nholds: yes",
        "answer: 51",
    ];
    let after = |text| ScriptedReply::from(text).after(Duration::from_secs(10));
    let client = replies.map(after);
    let client = client
        .into_iter()
        .fold(ScriptedClient::default(), ScriptedClient::then);
    let limits = Limits::default().with_time(Duration::from_secs(100));
    let solver = Solver::new(client.clone(), StrategyName::Linear).with_limits(limits);
    let solved = solver.solve("What is 17 * 3?").await.unwrap();

    assert_eq!((solved.answer(), solved.is_answered()), (Some("51"), true));
    let offered = asked(&client.requests()[2]);
    let only = "Then go on: hypothesis_generation when you see a solution, \
                thought_revision to put a wrong thought right.";
    assert!(offered.contains(only), "{offered}");
}

#[tokio::test]
async fn bytes_end_a_run_whose_server_reports_too_few_tokens() {
    let cheap = |text| ChatResponse::new(text).with_usage(Usage::new(1, 1));
    let replies = ["Idea 1.".to_owned()].into_iter().chain(around());
    let client = ScriptedClient::new(replies.map(cheap));
    let solved = solve(client, Limits::default().with_bytes(20_000)).await;

    assert_eq!(
        solved.end().unwrap().to_string(),
        "the budget of 20000 bytes is spent"
    );
    assert!(solved.spent().bytes <= 20_000);
}

fn budgets() -> impl Strategy<Value = Limits> {
    let tokens = prop_oneof![0_u64..3_000, 0_u64..40_000];
    let bytes = prop_oneof![3 => Just(u64::MAX), 1 => 0_u64..60_000];
    let others = (0_u32..12, 0_u32..30, 0_u64..60);
    (tokens, bytes, others).prop_map(|(tokens, bytes, others)| {
        let (calls, thoughts, seconds) = others;
        Limits::default()
            .with_tokens(tokens)
            .with_bytes(bytes)
            .with_calls(calls)
            .with_thoughts(thoughts)
            .with_time(Duration::from_secs(seconds))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With a model that follows `max_tokens`, no budget is exceeded. Otherwise, it is exceeded by the calls that run
    /// at the same time at most.
    #[test]
    fn a_budget_is_exceeded_by_the_running_calls_at_most(
        budget in budgets(),
        tokens in prop::collection::vec(0_u64..12_000, 1..6),
        is_obedient in any::<bool>(),
        at_once in 1_usize..4,
        name in prop::sample::select(StrategyName::ALL.to_vec()),
    ) {
        let client = Endless { tokens: tokens.clone(), is_obedient, seconds: 1, ..Endless::new() };
        let solver = Solver::new(client.clone(), name)
            .with_tools(tools())
            .with_limits(budget)
            .with_asks_again(1)
            .with_calls_at_once(at_once);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let solved = runtime.block_on(solver.solve("What is 17 * 3?"));

        let spent = match &solved {
            Ok(solved) => solved.spent(),
            Err(error) => error.so_far().unwrap().spent(),
        };
        prop_assert!(spent.calls <= budget.calls.unwrap());
        prop_assert!(spent.time <= budget.time.unwrap());

        if is_obedient {
            prop_assert!(spent.tokens() <= budget.tokens.unwrap(), "{} of {}", spent, budget.tokens.unwrap());
        } else {
            let requests = client.requests.lock().unwrap();
            let read = requests.iter().map(ChatRequest::estimated_tokens).max().unwrap_or_default();
            let most = tokens.iter().max().copied().unwrap_or_default() + 2 * read;
            prop_assert!(spent.tokens() <= budget.tokens.unwrap() + at_once as u64 * most);
        }

        if let Err(error) = solved {
            prop_assert!(is_unreadable(&error), "{}", error);
        }
    }
}
