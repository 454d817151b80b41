//! Answers and non-answers, in every strategy.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, LlmClient, ScriptedClient};
use cogwork_strategies::methods::{React, Search, SelfConsistency, StepBack, TreeOfThoughts};
use cogwork_strategies::{Method, Solved, Solver, Strategies, StrategyName};

use super::support::{scripted, tools};
use super::wires::tree;

const PROBLEM: &str = "What is 17 * 3?";
const CHOICE: &str = "Which of these is prime: 9, 15, or none?";
const REFUSAL: &str = "I'm sorry, but I can't help with that.";

/// A run of a strategy: the replies before the one with the answer, which replaces `{}`, and after it.
struct Script {
    method: Box<dyn Method>,
    before: Vec<&'static str>,
    answer: &'static str,
    after: Vec<&'static str>,
}

impl Script {
    fn new(
        method: impl Into<Box<dyn Method>>,
        before: &[&'static str],
        answer: &'static str,
        after: &[&'static str],
    ) -> Self {
        Self {
            method: method.into(),
            before: before.to_vec(),
            answer,
            after: after.to_vec(),
        }
    }

    fn name(&self) -> String {
        self.method.strategy().name().to_owned()
    }

    /// Returns a solver whose model gives each of `answers` in turn.
    fn solver(self, answers: &[&str]) -> (Solver, ScriptedClient) {
        let before = self.before.iter().map(|reply| (*reply).to_owned());
        let answers = answers
            .iter()
            .map(|answer| self.answer.replace("{}", answer));
        let after = self.after.iter().map(|reply| (*reply).to_owned());
        let replies: Vec<String> = before.chain(answers).chain(after).collect();
        scripted(self.method, replies)
    }
}

/// Returns a run of each strategy.
fn scripts() -> [Script; 9] {
    let outline = [
        "thought: Tens and ones.\nthoughts_needed: 4",
        "30 and 21 make 51.",
        "thought: Right.\nnext: hypothesis_generation",
        "hypothesis: 51",
        "verification: 51 / 3 = 17.\nholds: yes",
    ];
    let approach = [
        r#"approaches: [{"id": "A", "description": "tens first", "promise": 8}]"#,
        "10 * 3 + 7 * 3 = 51",
        "evaluation_score: 10\nsolved: yes",
    ];
    let principle = ["question: What is a product?\nprinciple: A sum."];
    let case = "approach: Add.\napplication: 17 + 17 + 17.\nsolution: 51.\nanswer: {}";
    let variables = [
        r#"state_variables: {"sum": 0}"#,
        "thought: s\nstate_variables: {\"sum\": 51}\ndone: yes",
    ];
    let action = ["thought: t\naction: height\naction_input: 17"];
    let finish = "thought: Known.\naction: finish\naction_input: {}";
    let plan = ["Plan: Multiply.\n#E1 = height[17]"];
    let steps = ["steps:\n- Multiply."];

    let step_back = StepBack {
        verification: false,
    };
    let vote = SelfConsistency {
        paths: 1,
        ..SelfConsistency::default()
    };
    let tree = TreeOfThoughts {
        proposals: 1,
        ..tree(Search::DepthFirst)
    };
    let chain = StrategyName::ChainOfThought;
    [
        Script::new(chain, &steps, "results:\n- 51\nanswer: {}", &["holds: yes"]),
        Script::new(
            StrategyName::Linear,
            &outline,
            "thought: t\nanswer: {}",
            &[],
        ),
        Script::new(step_back, &principle, case, &[]),
        Script::new(StrategyName::Scratchpad, &variables, "answer: {}", &[]),
        Script::new(StrategyName::SelfAsk, &[], "answer: {}", &[]),
        Script::new(StrategyName::React, &action, finish, &[]),
        Script::new(StrategyName::Rewoo, &plan, "thought: t\nanswer: {}", &[]),
        Script::new(vote, &[], "thought: t\nanswer: {}", &[]),
        Script::new(tree, &approach, "17 * 3 = 30 + 21.\nanswer: {}", &[]),
    ]
}

fn complaint(request: &ChatRequest) -> String {
    request.messages().last().unwrap().text().to_owned()
}

#[tokio::test]
async fn a_refusal_is_asked_for_again_and_nothing_but_refusals_is_never_an_answer() {
    let language_model = "As an AI language model, I do not calculate.";
    let refusals = [REFUSAL, language_model, "N/A", "unknown", "No answer."];

    for refusal in refusals {
        for (script, refused) in scripts().into_iter().zip(scripts()) {
            let name = script.name();
            let asked = script.before.len();
            let (solver, client) = script.solver(&[refusal, "51"]);
            let solved = solver.solve(PROBLEM).await.unwrap();
            assert_eq!(solved.answer(), Some("51"), "{name}: {refusal}");
            assert!(solved.is_answered(), "{name}: {refusal}: {}", solved.end());
            let complaint = complaint(&client.requests()[asked + 1]);
            assert!(
                complaint.contains("That reply cannot be used"),
                "{name}: {complaint}"
            );

            let (solver, _) = refused.solver(&[refusal]);
            let error = solver.with_asks_again(0).solve(PROBLEM).await.unwrap_err();
            assert!(error.is_unreadable(), "{name}: {error}");
            let best = error.so_far().unwrap().best();
            let is_refusal = best.is_some_and(|best| best.text.contains(refusal));
            assert!(!is_refusal, "{name}: {best:?}");
        }
    }
}

#[tokio::test]
async fn none_is_an_answer_where_the_problem_offers_it() {
    for script in scripts() {
        let name = script.name();
        let (solver, _) = script.solver(&["None"]);
        let solved = solver.solve(CHOICE).await.unwrap();
        assert_eq!(solved.answer(), Some("None"), "{name}");
        assert!(solved.is_answered(), "{name}");
    }

    // So is it as a correction.
    for (problem, answer) in [(CHOICE, "None"), (PROBLEM, "11")] {
        let corrections = ["holds: no\nanswer: None", "holds: no\nanswer: 11"];
        let replies = ["steps:\n- Check.", "results:\n- 9\nanswer: 9"];
        let replies = replies.into_iter().chain(corrections);
        let (solver, _) = scripted(StrategyName::ChainOfThought, replies);
        assert_eq!(solver.solve(problem).await.unwrap().answer(), Some(answer));
    }
}

/// A strategy without a method, whose final stage has these parameters.
fn plain(parameters: &str) -> Box<dyn Method> {
    let table = format!(
        "plain:
  description: Answers.
  stages:
    problem: {{description: The problem., prompt: State the problem., next: [answer]}}
    answer:
      description: The answer.
      prompt: Answer.
      final: true
      parameters: {parameters}"
    );
    let strategies = Strategies::from_yaml(&table).unwrap();
    strategies.get("plain").unwrap().clone().into()
}

#[tokio::test]
async fn a_strategy_from_a_file_asks_again_after_a_refusal() {
    let (solver, client) = scripted(plain("{}"), [REFUSAL, "51"]);
    assert_eq!(solver.solve(PROBLEM).await.unwrap().answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));

    let (solver, _) = scripted(plain("{}"), [REFUSAL]);
    let error = solver.with_asks_again(0).solve(PROBLEM).await.unwrap_err();
    assert!(error.is_unreadable());
    assert_eq!(error.so_far().unwrap().best(), None);
}

#[tokio::test]
async fn a_choice_called_none_is_a_value() {
    let risk = "risk: {type: text, description: d, choices: [low, high, None]";
    for parameters in [
        format!("{{{risk}}}}}"),
        format!("{{{risk}, required: false}}}}"),
    ] {
        let (solver, _) = scripted(plain(&parameters), ["risk: none"]);
        let solved = solver.solve("The risk?").await.unwrap();
        assert_eq!(solved.answer(), Some("None"), "{parameters}");
    }

    // Without that choice, the value is missing.
    let free = plain("{reason: {type: text, description: d, required: false}}");
    let (solver, _) = scripted(free, ["thought: It is low.\nreason: none"]);
    let solved = solver.solve("The risk?").await.unwrap();
    let last = solved.trace().session().thoughts().last().unwrap();
    assert_eq!(last.parameters.get("reason"), None);
}

async fn paths<const N: usize>(replies: [&str; N]) -> (Solved, usize) {
    let method = SelfConsistency {
        paths: 3,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let (solver, client) = scripted(method, replies);
    let solved = solver.with_calls_at_once(1).solve(PROBLEM).await.unwrap();
    (solved, client.requests().len())
}

#[tokio::test]
async fn a_path_without_a_label_is_asked_for_again_unless_it_states_its_answer() {
    let (solved, calls) = paths([
        "It is fifty-one, I would say.",
        "answer: 51",
        "30 + 21, so the answer is **51**.",
        r"Thus $\boxed{51}$.",
    ])
    .await;
    assert_eq!(
        (solved.answer(), solved.confidence(), calls),
        (Some("51"), Some(1.0), 4)
    );

    // The text is kept as the thought.
    let text = solved.trace().to_string();
    assert!(text.contains("30 + 21, so the answer is **51**."), "{text}");
}

#[tokio::test]
async fn paths_that_refuse_are_lost_votes_and_forms_of_one_answer_are_one_vote() {
    let chinese = "抱歉，我无法回答这个问题。";
    let (solved, calls) = paths(["answer: 51", REFUSAL, chinese, REFUSAL, "answer: 51.0"]).await;
    assert_eq!((solved.answer(), calls), (Some("51"), 5));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));

    let (solved, _) = paths(["answer: －５１ ㎞", "answer: 52 km", "answer: “−51 KM”"]).await;
    assert_eq!(solved.answer(), Some("－５１ ㎞"));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));
}

#[tokio::test]
async fn a_native_finish_that_refuses_is_asked_for_again() {
    let client = ScriptedClient::new([REFUSAL, "51"])
        .with_capabilities(Capabilities::default().with(Capability::Tools));
    assert!(client.capabilities().has(Capability::Tools));

    let solver = Solver::new(client.clone(), React::default()).with_tools(tools());
    assert_eq!(solver.solve(PROBLEM).await.unwrap().answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));
}
