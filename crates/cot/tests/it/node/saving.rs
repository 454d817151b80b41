//! A state written down, read back, and gone on with.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, EarlyEnd, History, Reasoning, Reply};
use cogwork_llm::{ChatResponse, Message, ScriptedClient, ScriptedReply, Usage};
use cogwork_plan::Step;
use cogwork_typed::ask::Limits;
use insta::assert_snapshot;

use crate::node::support::{
    EARLY, FIRST, LAST, PROBLEM, PROSE, SECOND, assert_survives_saving, flow, reasoning, solve,
};

async fn solved() -> Reasoning {
    let reply = |text: &str| {
        let response = ChatResponse::new(text).with_usage(Usage {
            cached_tokens: 512,
            ..Usage::new(700, 80)
        });
        ScriptedReply::from(response).after(Duration::from_millis(1500))
    };

    let replies = [PROSE, FIRST, EARLY, EARLY].map(reply);
    solve(ChainOfThought::new(ScriptedClient::new(replies))).await
}

#[tokio::test(start_paused = true)]
async fn a_saved_state_has_the_field_names_of_the_source_document() {
    let solved = solved().await;
    assert_snapshot!(
        "state_in_json",
        serde_json::to_string_pretty(&solved).unwrap()
    );
    assert_snapshot!("state_in_yaml", serde_yaml::to_string(&solved).unwrap());
}

/// Texts that a format could bend.
const UGLY: &str = "  Indented first.\r\n\tTab, trailing blanks  \n\n# no comment: \"quoted\" \\ '---'\n...\n- ~ \u{85}\u{2028}\u{feff}🦀\u{1b}\n\n";

#[tokio::test]
async fn a_saved_state_goes_on_with_the_very_same_request() {
    let ugly = Reply {
        current_thinking: UGLY.into(),
        planning: vec![
            Step::done(UGLY, "0x10"),
            Step::pending("null").with_sub_steps([Step::verification_needed("1.50", UGLY)]),
        ]
        .into(),
        next_thought_needed: true,
    };

    let ugly = ugly.to_string();
    for history in [History::All, History::Window(1), History::Bytes(200)] {
        let client = ScriptedClient::new([FIRST, ugly.as_str(), SECOND]);
        let mut unsaved = Reasoning::new(format!("{PROBLEM}\n{UGLY}"));
        let node = ChainOfThought::new(client)
            .with_history(history)
            .with_limits(Limits::default().with_thoughts(3).with_conclude(false));
        node.into_flow().run(&mut unsaved).await.unwrap_err();
        assert_eq!(unsaved.thoughts().len(), 3);

        let json = serde_json::to_string(&unsaved).unwrap();
        let yaml = serde_yaml::to_string(&unsaved).unwrap();
        let states = [
            unsaved,
            serde_json::from_str(&json).unwrap(),
            serde_yaml::from_str(&yaml).unwrap(),
        ];

        let mut requests = Vec::new();
        for mut state in states {
            let client = ScriptedClient::new([LAST]);
            let node = ChainOfThought::new(client.clone()).with_history(history);
            node.into_flow().run(&mut state).await.unwrap();
            assert_eq!(state.thoughts().len(), 4);
            requests.push(serde_json::to_string(&client.requests()).unwrap());
        }

        assert_eq!(requests[0], requests[1], "of JSON");
        assert_eq!(requests[0], requests[2], "of YAML");
    }
}

/// A state as another program might write it: the keys of the source document and no other.
const FOREIGN: &str = r#"{
  "problem": "What is 12 * 12 + 6?",
  "thoughts": [
    {
      "thought_number": 1,
      "current_thinking": "I multiply, then add.",
      "planning": [
        {"description": "Multiply", "status": "Done", "result": "144"},
        {"description": "Add", "status": "Pending", "result": null, "mark": null}
      ],
      "next_thought_needed": true
    },
    {
      "thought_number": 2,
      "current_thinking": "Better look again.",
      "planning": [
        {"description": "Multiply", "status": "Verification Needed", "mark": "12 or 21?", "sub_steps": [
          {"description": "Look", "status": "Pending"}
        ]}
      ],
      "next_thought_needed": true
    }
  ],
  "current_thought_number": 2,
  "solution": null
}"#;

#[tokio::test]
async fn a_state_of_another_program_is_read_and_gone_on_with() {
    let mut read: Reasoning = serde_json::from_str(FOREIGN).unwrap();

    // JSON in flow style is YAML too.
    assert_eq!(serde_yaml::from_str::<Reasoning>(FOREIGN).unwrap(), read);
    assert_eq!((read.problem(), read.thoughts().len()), (PROBLEM, 2));
    assert_eq!(read.solution(), None);
    assert_eq!(read.spent().tokens(), 0);
    assert!(read.thoughts()[0].trace.tries.is_empty());

    let client = ScriptedClient::new([LAST]);
    flow(client.clone()).run(&mut read).await.unwrap();
    assert_eq!(read.current_thought_number(), 3);

    let requests = client.requests();
    let texts: Vec<_> = requests[0].messages().iter().map(Message::text).collect();
    assert!(texts.contains(&"Thought 2:\nBetter look again."));
    assert!(texts.last().unwrap().contains("  mark: \"12 or 21?\"\n"));
}

#[test]
fn a_state_without_thoughts_is_four_keys() {
    let text =
        "problem: What is 12 * 12 + 6?\nthoughts: []\ncurrent_thought_number: 0\nsolution: null\n";
    let read: Reasoning = serde_yaml::from_str(text).unwrap();
    assert_eq!(read, reasoning());
    assert_eq!(serde_yaml::to_string(&read).unwrap(), text);

    // The answer may be left out.
    let text = text.replace("solution: null\n", "");
    assert_eq!(serde_yaml::from_str::<Reasoning>(&text).unwrap(), read);
}

#[tokio::test]
async fn the_deepest_plan_there_may_be_is_saved_and_read() {
    let step = (1..cogwork_plan::MAX_DEPTH).fold(Step::pending("deepest"), |step, _| {
        Step::pending("step").with_sub_steps([step])
    });
    let reply = Reply {
        current_thinking: "x".into(),
        planning: vec![step].into(),
        next_thought_needed: false,
    };

    let node = ChainOfThought::new(ScriptedClient::new([reply.to_string()]));
    let state = solve(node.with_early_end(EarlyEnd::Accept)).await;
    assert_survives_saving(&state);
}

/// What reading says about a changed state, in both formats.
fn complaints(from: &str, to: &str) -> String {
    assert!(FOREIGN.contains(from));
    let json = FOREIGN.replacen(from, to, 1);
    let block = |text: &str| {
        serde_yaml::to_string(&serde_yaml::from_str::<serde_yaml::Value>(text).unwrap())
    };
    let yaml = block(&json).unwrap();

    format!(
        "JSON: {}\nYAML: {}",
        serde_json::from_str::<Reasoning>(&json).unwrap_err(),
        serde_yaml::from_str::<Reasoning>(&yaml).unwrap_err()
    )
}

#[test]
fn a_state_with_a_wrong_type_is_an_error_with_the_place() {
    let said = [
        complaints(
            r#""current_thought_number": 2"#,
            r#""current_thought_number": -2"#,
        ),
        complaints(r#""thought_number": 2"#, r#""thought_number": "two""#),
        complaints(
            r#""next_thought_needed": true"#,
            r#""next_thought_needed": "maybe""#,
        ),
        complaints(r#"{"description": "Look", "status": "Pending"}"#, "17"),
    ];
    assert_snapshot!(said.join("\n"), @r#"
    JSON: invalid value: integer `-2`, expected u32 at line 24 column 30
    YAML: current_thought_number: invalid type: integer `-2`, expected u32 at line 24 column 25
    JSON: invalid type: string "two", expected u32 at line 14 column 29
    YAML: thoughts[1].thought_number: invalid type: string "two", expected u32 at line 14 column 19
    JSON: invalid type: string "maybe", expected a boolean at line 11 column 36
    YAML: thoughts[0].next_thought_needed: invalid type: string "maybe", expected a boolean at line 13 column 24
    JSON: invalid type: integer `17`, expected a plan step with a description at line 18 column 12
    YAML: thoughts[1].planning[0].sub_steps[0]: invalid type: integer `17`, expected a plan step with a description at line 21 column 7
    "#);
}
