//! Runs of every method with replies in lines: all thoughts, and all that the model is asked.

use std::fmt::Write;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, ToolCall};
use cogwork_strategies::methods::{Evaluator, Search, SelfConsistency, TreeOfThoughts, Worth};
use cogwork_strategies::{Method, Solver, StrategyName};

use super::support::{conversation, only_append, told, tools};

struct Script {
    name: &'static str,
    method: Box<dyn Method>,
    problem: &'static str,
    client: ScriptedClient,
}

fn script<const N: usize>(
    name: &'static str,
    method: impl Into<Box<dyn Method>>,
    problem: &'static str,
    replies: [&str; N],
) -> Script {
    let client = ScriptedClient::new(replies);
    Script {
        name,
        method: method.into(),
        problem,
        client,
    }
}

fn overloaded() -> LlmError {
    LlmError::new(LlmErrorKind::Server, "overloaded")
}

fn in_steps() -> [Script; 4] {
    let revision_branch_and_hypotheses = [
        "thought: Tens and ones.\nthoughts_needed: 2",
        "10 * 3 is 40.",
        "thought: 10 * 3 is 30.\nnext: thought_revision",
        "thought: 10 * 3 is 30.\nrevises_thought: 3",
        "thought: Try it otherwise.\nnext: branch_creation",
        "thought: Begin with twenties.\nbranch_from_thought: 3\nbranch_id: twenties",
        "20 * 3 - 3 = 57.",
        "thought: Good.\nthoughts_needed: 9\nnext: hypothesis_generation",
        "hypothesis: 57",
        "verification: 57 / 3 = 19, not 17.\nholds: no",
        "thought: I took 3 where 9 was meant.\nthoughts_needed: 5\nnext: thought_adjustment",
        "20 * 3 - 9 = 51.",
        "thought: Wrong.\nnext: branch_creation",
        "branch_from_thought: 1\nbranch_id: anew",
        "17 + 17 + 17 = 51.",
        "thought: Right.\nnext: hypothesis_generation",
        "hypothesis: 51",
        "verification: 51 / 3 = 17.\nholds: yes",
        "thought: 60 - 9 = 51.\nanswer: 51",
    ];
    let corrected = [
        "1. Multiply the tens.\n2. Multiply the ones.\n3. Add.",
        "Thought: 17 is 10 and 7.\nResults:\n1. 30\n2. 28\n3. 58\nAnswer: 58",
        "**Thought:** 58 / 3 is no whole number.\n**Holds:** No\n**Answer:** 51",
    ];
    let missing = ["- one\n- two", "results: 1\nanswer: 7", "holds: yes"];
    let principle = [
        "thought: This is about gases.\nquestion: How do they behave?\nprinciple: P V = n R T",
        "approach: As a ratio.\napplication: 2 T and 8 V.\nsolution:\n1. 2 / 8\nanswer: a quarter",
        "thought: 2 P V / 8 V = P / 4, as it should be.\nholds: yes",
    ];

    let (linear, chain) = (StrategyName::Linear, StrategyName::ChainOfThought);
    [
        script("linear", linear, "17 * 3?", revision_branch_and_hypotheses),
        script("chain_of_thought", chain, "17 * 3?", corrected),
        script("chain_of_thought_missing", chain, "3 + 4?", missing),
        script(
            "step_back",
            StrategyName::StepBack,
            "The pressure?",
            principle,
        ),
    ]
}

fn with_questions() -> [Script; 2] {
    let itself = [
        "thought: Yes, the year.\nsub_question: When was it invented?\nsub_question_answer: 1947",
        "sub question: Who was president in 1947?\nsub question answer: Truman\nanswer: none",
        "thought: Both are known.\nanswer: Harry S. Truman",
    ];

    let problem = "Who was president when the transistor was invented?";
    [
        script("self_ask", StrategyName::SelfAsk, problem, itself),
        script(
            "self_ask_at_once",
            StrategyName::SelfAsk,
            "2 + 2?",
            ["thought: I know that.\nanswer: 4"],
        ),
    ]
}

fn with_tools() -> [Script; 6] {
    let cycles = [
        "Thought: I need both.\nAction: height\nAction input: {\"of\": \"Galdhøpiggen\"}",
        "The other one.\n**action:** `height`\n**action_input:** {\"of\": \"Snøhetta\"}\nObservation: 9999 m",
        "thought: 2469 is more than 2286.\naction: finish\naction_input: Galdhøpiggen",
    ];
    let wrong = [
        "action: depth\naction_input: {}",
        "action: height\naction_input: Galdhøpiggen",
        "action: height[Snøhetta]",
        "action: Finish[Galdhøpiggen]",
    ];
    let plan = r##"I need both heights.

Plan: Find the height of Galdhøpiggen.
#E1 = height{"of": "Galdhøpiggen"}
**Plan:** Find the height of Snøhetta.
`#E2 = height[{"of": "Snøhetta"}]`
Plan: Take one from the other. #E3 = minus({
  "a": "#E1",
  "b": "#E2"
})

Plan: Say it."##;
    let failing = "Plan: Find it.\n#E1 = height[K2]\nPlan: Compare.\n#E2 = minus{\"a\": \"#E1\", \"b\": \"0\"}";

    let call = |id: &str, of: &str| ToolCall::new(id, "height", format!("{{\"of\": \"{of}\"}}"));
    let both = [call("a", "Galdhøpiggen"), call("b", "Snøhetta")];
    let native = ChatResponse::new("Both at once.").with_tool_calls(both);
    let native = ScriptedClient::new([ScriptedReply::from(native), "Galdhøpiggen".into()]);

    let (react, rewoo) = (StrategyName::React, StrategyName::Rewoo);
    let problem = "Which is higher, Galdhøpiggen or Snøhetta?";
    [
        script("react", react, problem, cycles),
        script("react_with_wrong_calls", react, problem, wrong),
        script(
            "react_at_once",
            react,
            "2 + 2?",
            ["action: finish\naction_input: 4"],
        ),
        Script {
            client: native.with_capabilities(Capabilities::none().with(Capability::Tools)),
            ..script("react_with_native_tools", react, problem, [])
        },
        script(
            "rewoo",
            rewoo,
            problem,
            [plan, "thought: 183.\nanswer: 183 m"],
        ),
        script(
            "rewoo_with_failures",
            rewoo,
            problem,
            [failing, "It cannot be told."],
        ),
    ]
}

fn with_a_scratchpad() -> Script {
    let replies = [
        "state_variables: {\"apples\": 3}",
        "thought: Twice.\nstate_variables: {\"apples\": 6, \"note\": \"doubled\"}\ndone: no",
        "thought: One is eaten.\nstate_variables:\n- apples = 5\ndone: yes",
        "5 apples",
    ];
    let problem = "Twice 3 apples, one of which is eaten?";
    script("scratchpad", StrategyName::Scratchpad, problem, replies)
}

fn with_votes() -> [Script; 2] {
    let voting = |paths| SelfConsistency {
        paths,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let votes = [
        "Thought: 3 * 17 = 51.\nAnswer: 51 km",
        "17 + 17 = 34, and 17 more are 41.\n**Answer:** 41 km",
        "20 * 3 - 9 = 51.\nanswer: **51.0 KM**",
        "answer: 52 km",
        r#"{"thought": "by hand", "answer": "51km."}"#,
    ];
    let lost = ScriptedClient::new(["thought: a\nanswer: 51"]).then(overloaded());
    let lost = lost.then(format!("answer: {}", "word ".repeat(400)).as_str());

    let problem = "How far do three trips of 17 km go?";
    [
        script("self_consistency", voting(5), problem, votes),
        Script {
            client: lost.then("answer: 51"),
            ..script("self_consistency_with_lost_paths", voting(4), problem, [])
        },
    ]
}

/// A small tree.
pub(super) fn tree(search: Search) -> TreeOfThoughts {
    TreeOfThoughts {
        search,
        approaches: 2,
        proposals: 2,
        depth: 2,
        ..TreeOfThoughts::default()
    }
}

pub(super) const BROAD: Search = Search::BreadthFirst { beam_width: 2 };
pub(super) const TWO: &str = r#"approaches: [{"id": "A", "description": "cook", "promise": 5}, {"id": "B", "description": "go out", "promise": 8}]"#;

pub(super) fn judged(score: u32, solved: bool) -> String {
    format!("thought: I judge.\nevaluation_score: {score}\nsolved: {solved}")
}

fn with_a_tree() -> [Script; 6] {
    let score = |score| judged(score, false);
    let broad = [
        TWO,
        "proposals:\n- book a table\n- take the tram",
        "- buy rice\n- buy noodles\n- buy rice.\n- and a fourth",
        &score(7),
        &score(1),
        &score(6),
        &score(8),
        "proposals:\n1. cook them\n2. Buy noodles",
        "proposals: none",
        &judged(9, true),
        "thought: Cook noodles for six.\nanswer: noodles at home",
    ];
    let deep = [
        TWO,
        "- a table outside\n- a table inside",
        &score(6),
        &score(4),
        "- in the rain\n- in the storm",
        &score(1),
        &score(0),
        "- by the window\n- by the door",
        &score(1),
        &score(1),
        "- soup\n- salad",
        &score(8),
        &score(2),
        "- hot soup\n- cold soup",
        &score(9),
        &score(3),
        "answer: hot soup",
    ];
    let best = [
        r#"approaches: [{"id": "A", "description": "cook", "promise": 9}, {"id": "B", "description": "go out", "promise": 8}]"#,
        "buy rice",
        &score(7),
        "book a table",
        &score(4),
        "cook it",
        &judged(10, true),
        "answer: rice",
    ];
    let checked = [
        r#"approaches: [{"id": "tens", "description": "1 + 1 = 2", "promise": 5}]"#,
        "- 2 + 1 = 3\n- 2 * 2 = 4",
        "answer: 4",
    ];
    let check = |problem: &str, steps: &[&str]| match (problem, steps) {
        ("Make 4.", ["1 + 1 = 2", last]) if last.ends_with("= 4") => Worth::solved(),
        _ => Worth::new(f64::NAN),
    };
    let exhausted = [TWO, "none", "- a\n- b", &score(1), &judged(0, true)];
    let failing = ScriptedClient::new([TWO])
        .then(overloaded())
        .then("- buy rice\n- buy noodles")
        .then(overloaded())
        .then(judged(8, true).as_str())
        .then("answer: noodles");

    let problem = "Plan an evening for six.";
    let depth_first = tree(Search::DepthFirst);
    let best_first = TreeOfThoughts {
        proposals: 1,
        depth: 5,
        ..tree(Search::BestFirst)
    };
    let checking = TreeOfThoughts {
        evaluation: Evaluator::check(check),
        ..tree(BROAD)
    };
    [
        script("tree_breadth_first", tree(BROAD), problem, broad),
        script("tree_depth_first", depth_first.clone(), problem, deep),
        script("tree_best_first", best_first, problem, best),
        script("tree_with_a_check", checking, "Make 4.", checked),
        script("tree_exhausted", depth_first, problem, exhausted),
        Script {
            client: failing,
            ..script("tree_with_failures", tree(BROAD), problem, [])
        },
    ]
}

/// Returns the run, and what the model is asked: the last conversation, if it has all others.
async fn shown(script: Script) -> String {
    let Script {
        method,
        problem,
        client,
        ..
    } = script;
    let solver = Solver::new(client.clone(), method).with_tools(tools());
    let solver = solver.with_asks_again(0).with_calls_at_once(1);
    let solved = solver.solve(problem).await.unwrap();
    let mut shown = told(&solved);

    for branch in solved.session().branches() {
        let (name, status) = (&branch.name, branch.status);
        let count = branch.thoughts.len();
        let from = branch
            .from
            .map_or_else(String::new, |from| format!(" from {from}"));
        let _ = write!(shown, "\n{name}{from}: {count}, {status:?}");
    }

    let requests = client.requests();
    match requests.split_last() {
        Some((last, _)) if only_append(&requests) => {
            let _ = write!(shown, "\n\n{}", conversation(last));
        }
        _ => {
            for request in requests {
                let temperature = request.temperature();
                let temperature = temperature.map_or_else(String::new, |t| format!(" at {t}"));
                let _ = write!(shown, "\n\n-----{temperature}\n{}", conversation(&request));
            }
        }
    }
    shown
}

#[tokio::test]
async fn all_thoughts_and_all_that_the_model_is_asked() {
    let scripts = in_steps().into_iter().chain(with_questions());
    let scripts = scripts.chain(with_tools()).chain([with_a_scratchpad()]);
    let scripts = scripts.chain(with_votes()).chain(with_a_tree());

    for script in scripts {
        insta::assert_snapshot!(script.name, shown(script).await);
    }
}
