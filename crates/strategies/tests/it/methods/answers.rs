//! Answers and non-answers, in every strategy.

use cogwork_llm::{Capabilities, Capability, ChatRequest, LlmClient, ScriptedClient};
use cogwork_strategies::{
    Method, Parameter, ParameterType, React, Scratchpad, Search, SelfAsk, SelfConsistency, Solved,
    Solver, StepBack, Strategies, StrategyName, TreeOfThoughts,
};
use cogwork_tools::{Tools, function};
use serde_json::Value;

const PROBLEM: &str = "What is 17 * 3?";
const CHOICE: &str = "Which of these is prime: 9, 15, or none?";
const REFUSAL: &str = "I'm sorry, but I can't help with that.";

/// A run of a strategy whose last reply but one or two has the answer.
struct Script {
    name: &'static str,
    driver: Box<dyn Method>,
    before: Vec<&'static str>,
    /// The reply with the answer, which replaces `{}`.
    answer: &'static str,
    after: Vec<&'static str>,
}

impl Script {
    fn new(
        driver: impl Into<Box<dyn Method>>,
        before: &[&'static str],
        answer: &'static str,
    ) -> Self {
        let driver = driver.into();
        let name = StrategyName::ALL
            .into_iter()
            .map(StrategyName::as_str)
            .find(|name| driver.strategy().name() == *name)
            .unwrap();
        Self {
            name,
            driver,
            before: before.to_vec(),
            answer,
            after: Vec::new(),
        }
    }

    fn then(mut self, reply: &'static str) -> Self {
        self.after.push(reply);
        self
    }

    /// Returns a client that gives each of `answers` in turn.
    fn client(&self, answers: &[&str]) -> ScriptedClient {
        let before = self.before.iter().map(|reply| (*reply).to_owned());
        let answers = answers
            .iter()
            .map(|answer| self.answer.replace("{}", answer));
        let after = self.after.iter().map(|reply| (*reply).to_owned());
        ScriptedClient::new(before.chain(answers).chain(after).collect::<Vec<_>>())
    }

    fn solver(self, client: &ScriptedClient) -> Solver {
        let input = |_: Value| async move { Ok("51".to_owned()) };
        let tools = Tools::new()
            .with(function("times", "Multiplies.", input))
            .unwrap();
        Solver::new(client.clone(), self.driver).with_tools(tools)
    }
}

/// Returns a run of each strategy.
fn scripts() -> Vec<Script> {
    let tree = TreeOfThoughts {
        search: Search::DepthFirst,
        proposals: 1,
        ..TreeOfThoughts::default()
    };
    let text = ParameterType::Text {
        choices: Vec::new(),
    };
    let scratchpad = Scratchpad {
        variables: vec![("result".to_owned(), Parameter::new(text, "the result"))],
        result: Some("result".to_owned()),
        ..Scratchpad::default()
    };

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

    vec![
        Script::new(
            StrategyName::ChainOfThought,
            &["steps:\n- Multiply."],
            "results:\n- 51\nanswer: {}",
        )
        .then("holds: yes"),
        Script::new(
            StrategyName::Linear,
            &outline,
            "thought: 30 + 21.\nanswer: {}",
        ),
        Script::new(
            StepBack {
                verification: false,
            },
            &["question: What is a product?\nprinciple: A sum."],
            "approach: Add.\napplication: 17 + 17 + 17.\nsolution: 51.\nanswer: {}",
        ),
        Script::new(
            scratchpad,
            &[r#"state_variables: {"result": null}"#],
            "thought: s\nstate_variables: {\"result\": \"{}\"}\ndone: yes",
        ),
        Script::new(SelfAsk::default(), &[], "answer: {}"),
        Script::new(
            React::default(),
            &["thought: t\naction: times\naction_input: 17"],
            "thought: Known.\naction: finish\naction_input: {}",
        ),
        Script::new(
            StrategyName::Rewoo,
            &["Plan: Multiply.\n#E1 = times[17]"],
            "thought: t\nanswer: {}",
        ),
        Script::new(
            SelfConsistency {
                paths: 1,
                ..SelfConsistency::default()
            },
            &[],
            "thought: t\nanswer: {}",
        ),
        Script::new(tree, &approach, "17 * 3 = 30 + 21 = 51.\nanswer: {}"),
    ]
}

fn complaint(request: &ChatRequest) -> String {
    request.messages().last().unwrap().text().to_owned()
}

#[tokio::test]
async fn a_refusal_is_asked_for_again_in_every_strategy() {
    assert_eq!(scripts().len(), StrategyName::ALL.len());

    for refusal in [
        REFUSAL,
        "I cannot help with that.",
        "N/A",
        "unknown",
        "No answer.",
    ] {
        for script in scripts() {
            let name = script.name;
            let asked = script.before.len();
            let client = script.client(&[refusal, "51"]);
            let solved = script.solver(&client).solve(PROBLEM).await.unwrap();

            assert_eq!(solved.answer(), Some("51"), "{name}: {refusal}");
            assert!(solved.is_answered(), "{name}: {refusal}: {}", solved.end());

            let complaint = complaint(&client.requests()[asked + 1]);
            assert!(
                complaint.contains("That reply cannot be used"),
                "{name}: {complaint}"
            );
        }
    }
}

#[tokio::test]
async fn nothing_but_refusals_is_never_an_answer() {
    for refusal in [
        REFUSAL,
        "As an AI language model, I do not calculate.",
        "unknown",
    ] {
        for script in scripts() {
            let name = script.name;
            let client = script.client(&[refusal]);
            let solved = script
                .solver(&client)
                .with_asks_again(0)
                .solve(PROBLEM)
                .await;

            let error = solved.unwrap_err();
            assert!(error.is_unreadable(), "{name}: {error}");
            let best = error.so_far().unwrap().best();
            let best = best.map(|best| best.text.as_str());
            assert!(
                !best.is_some_and(|best| best.contains(refusal)),
                "{name}: {best:?}"
            );
        }
    }
}

#[tokio::test]
async fn none_is_an_answer_where_the_problem_offers_it() {
    for script in scripts() {
        let name = script.name;
        let client = script.client(&["None"]);
        let solved = script.solver(&client).solve(CHOICE).await.unwrap();
        assert_eq!(solved.answer(), Some("None"), "{name}");
        assert!(solved.is_answered(), "{name}");
    }
}

#[tokio::test]
async fn a_correction_to_none_counts_where_the_problem_offers_it() {
    let solver = || {
        let client = ScriptedClient::new([
            "steps:\n- Check.",
            "results:\n- 9\nanswer: 9",
            "thought: 9 is 3 * 3.\nholds: no\nanswer: None",
            "thought: 9 is 3 * 3.\nholds: no\nanswer: 11",
        ]);
        Solver::new(client, StrategyName::ChainOfThought)
    };

    let solved = solver().solve(CHOICE).await.unwrap();
    assert_eq!(solved.answer(), Some("None"));

    let solved = solver().solve(PROBLEM).await.unwrap();
    assert_eq!(solved.answer(), Some("11"));
}

/// A strategy without a driver, whose final stage has these parameters.
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
    let client = ScriptedClient::new([REFUSAL, "51"]);
    let solved = Solver::new(client.clone(), plain("{}"))
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));

    let client = ScriptedClient::new([REFUSAL]);
    let solver = Solver::new(client, plain("{}")).with_asks_again(0);
    let error = solver.solve(PROBLEM).await.unwrap_err();
    assert!(error.is_unreadable());
    assert_eq!(error.so_far().unwrap().best(), None);
}

#[tokio::test]
async fn a_choice_called_none_is_a_value() {
    let required = "{risk: {type: text, description: d, choices: [low, high, None]}}";
    let optional =
        "{risk: {type: text, description: d, choices: [low, high, None], required: false}}";

    for parameters in [required, optional] {
        let client = ScriptedClient::new(["risk: none"]);
        let solved = Solver::new(client, plain(parameters))
            .solve("The risk?")
            .await
            .unwrap();
        assert_eq!(solved.answer(), Some("None"), "{parameters}");
    }

    // Without that choice, the value is missing.
    let free = "{reason: {type: text, description: d, required: false}}";
    let client = ScriptedClient::new(["thought: It is low.\nreason: none"]);
    let solved = Solver::new(client, plain(free))
        .solve("The risk?")
        .await
        .unwrap();
    let thought = solved.trace().session().thoughts().last().unwrap();
    assert_eq!(thought.parameter("reason"), None);

    let kind = ParameterType::Text {
        choices: vec!["low".to_owned(), "none".to_owned()],
    };
    let scratchpad = Scratchpad {
        variables: vec![("risk".to_owned(), Parameter::new(kind, "the risk"))],
        result: Some("risk".to_owned()),
        ..Scratchpad::default()
    };
    let client = ScriptedClient::new([
        r#"state_variables: {"risk": null}"#,
        "thought: t\nstate_variables: {\"risk\": \"none\"}\ndone: yes",
    ]);
    let solved = Solver::new(client, scratchpad)
        .solve("The risk?")
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("none"));
    assert!(solved.is_answered());
}

async fn paths<const N: usize>(replies: [&str; N]) -> (Solved, usize) {
    let client = ScriptedClient::new(replies);
    let driver = SelfConsistency {
        paths: 3,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let solver = Solver::new(client.clone(), driver).with_calls_at_once(1);
    let solved = solver.solve(PROBLEM).await.unwrap();
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
async fn paths_that_refuse_are_lost_votes() {
    let (solved, calls) = paths(["answer: 51", REFUSAL, REFUSAL, REFUSAL, "answer: 51.0"]).await;
    assert_eq!((solved.answer(), calls), (Some("51"), 5));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));
}

#[tokio::test]
async fn unicode_forms_of_an_answer_are_one_vote() {
    let (solved, _) = paths(["answer: －５１ ㎞", "answer: 52 km", "answer: “−51 KM”"]).await;
    assert_eq!(solved.answer(), Some("－５１ ㎞"));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));
}

#[tokio::test]
async fn a_missing_action_is_asked_for_with_the_names_of_the_actions() {
    let client = ScriptedClient::new(["I would multiply.", "action: finish\naction_input: 51"]);
    let input = |_: Value| async move { Ok("51".to_owned()) };
    let tools = Tools::new()
        .with(function("times", "Multiplies.", input))
        .unwrap();
    let solver = Solver::new(client.clone(), React::default()).with_tools(tools);
    solver.solve(PROBLEM).await.unwrap();

    let complaint = complaint(&client.requests()[1]);
    let expected = "`action` is missing; expected one of times, finish";
    assert!(complaint.contains(expected), "{complaint}");
}

#[tokio::test]
async fn a_native_finish_that_refuses_is_asked_for_again() {
    let client = ScriptedClient::new([REFUSAL, "51"])
        .with_capabilities(Capabilities::default().with(Capability::Tools));
    assert!(client.capabilities().has(Capability::Tools));

    let solved = Solver::new(client.clone(), React::default())
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));
}
