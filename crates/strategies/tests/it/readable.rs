//! Replies as models write them, and how many of them are read.

use cogwork_llm::Messages;
use cogwork_strategies::{Ask, Format, Parameter, ParameterType};

fn ask() -> Ask {
    Ask::new(Messages::new(), "Go on.")
}

/// A question for a thought and an answer.
fn answer() -> Ask {
    ask().with_field("answer", Parameter::text("the answer"))
}

/// A question for a check: a truth value, and a text that may be left out.
fn check() -> Ask {
    let holds = Parameter::new(ParameterType::Boolean, "whether it holds");
    ask()
        .with_field("holds", holds)
        .with_field("answer", Parameter::text("the right answer").optional())
}

/// A question for a list and a number.
fn steps() -> Ask {
    let text = ParameterType::Text {
        choices: Vec::new(),
    };
    let steps = ParameterType::List {
        items: Box::new(text),
        min_items: 1,
    };
    let score = ParameterType::Integer {
        min: Some(0.0),
        max: Some(10.0),
    };
    ask()
        .with_field("steps", Parameter::new(steps, "the steps"))
        .with_field("score", Parameter::new(score, "how good it is"))
}

const ANSWERS: [&str; 20] = [
    "thought: 30 and 21.\nanswer: 51 km",
    "30 and 21.\nanswer: 51 km",
    "**Thought:** 30 and 21.\n**Answer:** 51 km",
    "### Thought\n30 and 21.\n### Answer: 51 km",
    "Thought: First, 30.\n\nThen 21.\n\nAnswer: 51 km",
    "```\nthought: 30 and 21.\nanswer: 51 km\n```",
    "<think>30 and 21.</think>\nanswer: 51 km",
    "30 and 21.</think>answer: 51 km",
    "30 and 21 make 51. The answer is 51 km.",
    "30 and 21 make \\boxed{51}.",
    "Answer: 51 km",
    "{\"thought\": \"30 and 21.\", \"answer\": \"51 km\"}",
    "{\"answer\": \"51 km\"}",
    "Sure!\n```json\n{\"thought\": \"30 and 21.\", \"answer\": \"51 km\"}\n```\nAnything else?",
    "{\"thought\": \"30 and\n21.\", \"answer\": 51}",
    "{'thought': '30 and 21.', 'answer': '51 km',}",
    "{\"thought\": \"He said \"21\".\", \"answer\": \"51 km\"}",
    "{thought: 30, answer: 51 km}",
    "<think>{\"answer\": \"50\"}</think>{\"Answer\": \"51 km\"}",
    "{\"thought\": \"30 and 21.\", \"answer\": \"51 km\"",
];

const CHECKS: [&str; 12] = [
    "thought: Right.\nholds: yes",
    "holds: Yes, it does.\nanswer: none",
    "- holds: **false**\n- answer: 52",
    "holds: no\nanswer:\n52",
    "Holds: true.",
    "I checked it.\n\n__Holds:__ False\n__Answer:__ 52\n\nObservation: done",
    "{\"holds\": true, \"answer\": null}",
    "{\"holds\": \"yes\", \"answer\": \"\"}",
    "{\"holds\": True, \"answer\": None}",
    "```json\n{\"thought\": \"So.\", \"holds\": false, \"answer\": 52}\n```",
    "holds: perhaps",
    "It holds.",
];

const STEPS: [&str; 16] = [
    "steps:\n- Tens.\n- Ones.\nscore: 8",
    "steps:\n1. Tens.\n2. Ones.\nscore: 8/10",
    "steps:\n* Tens.\n\n* Ones.\nscore: about 8.",
    "**Steps:**\n- Tens.\n- Ones.\n\n**Score:** 8 out of 10",
    "steps: [\"Tens.\", \"Ones.\"]\nscore: `8`",
    "steps:\n```json\n[\"Tens.\", \"Ones.\"]\n```\nscore: 8",
    "Here are the steps.\n\nSteps: Tens, then ones.\nScore: 8",
    "steps:\n- Tens.\n- Ones.\nscore: 8\n\nsteps:\n- Hundreds.\nscore: 2",
    "{\"steps\": [\"Tens.\", \"Ones.\"], \"score\": 8}",
    "{\"steps\": [\"Tens.\", \"Ones.\",], \"score\": \"8\",}",
    "{\"Steps\": [\"Tens.\" , 'Ones.'], \"Score\": 8.0}",
    "{\"steps\": \"Tens.\", \"score\": 8}",
    "{\"steps\": [\"Tens.\", \"Ones.\"] // two\n, \"score\": 8}",
    "{\"steps\": [\"Tens.\", \"Ones.\"], \"score\": 80}",
    "{\"steps\": [], \"score\": 8}",
    "steps:\nscore: 8",
];

/// Returns how many replies are read in a format, and which are not.
fn read(ask: &Ask, format: Format, replies: &[&str]) -> String {
    let is_read = |reply: &&&str| ask.read_on(format, reply).is_ok();
    let count = replies.iter().filter(is_read).count();
    let others = replies.iter().filter(|reply| !is_read(reply));
    let others: String = others.map(|reply| format!("\n  - {reply:?}")).collect();
    format!("{format}: {count} of {}{others}", replies.len())
}

#[test]
fn replies_are_read_as_models_write_them() {
    let questions = [
        ("answers", answer(), &ANSWERS[..]),
        ("checks", check(), &CHECKS[..]),
        ("steps", steps(), &STEPS[..]),
    ];
    let shown = questions.iter().flat_map(|(name, ask, replies)| {
        let formats = [Format::Text, Format::Schema];
        formats.map(|format| format!("{name} {}", read(ask, format, replies)))
    });

    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    answers plain text: 19 of 20
      - "{\"thought\": \"He said \"21\".\", \"answer\": \"51 km\"}"
    answers JSON Schema: 19 of 20
      - "{\"thought\": \"He said \"21\".\", \"answer\": \"51 km\"}"
    checks plain text: 10 of 12
      - "holds: perhaps"
      - "It holds."
    checks JSON Schema: 10 of 12
      - "holds: perhaps"
      - "It holds."
    steps plain text: 13 of 16
      - "{\"steps\": [\"Tens.\", \"Ones.\"], \"score\": 80}"
      - "{\"steps\": [], \"score\": 8}"
      - "steps:\nscore: 8"
    steps JSON Schema: 13 of 16
      - "{\"steps\": [\"Tens.\", \"Ones.\"], \"score\": 80}"
      - "{\"steps\": [], \"score\": 8}"
      - "steps:\nscore: 8"
    "#);
}
