//! Reading replies: in the requested form, and as models write them instead.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::collections::BTreeMap;

use cogwork_llm::Messages;
use cogwork_strategies::{Ask, Parameter, ParameterType, StrategyName};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ask() -> Ask {
    Ask::new(Messages::new(), "Go on.")
}

fn number() -> ParameterType {
    ParameterType::Number {
        min: None,
        max: None,
    }
}

fn text() -> ParameterType {
    ParameterType::Text {
        choices: Vec::new(),
    }
}

fn list(items: ParameterType) -> ParameterType {
    ParameterType::List {
        items: Box::new(items),
        min_items: 1,
    }
}

fn map() -> ParameterType {
    ParameterType::Map {
        values: Box::new(ParameterType::Any),
    }
}

/// A question for an action, a score and the next stage.
fn form() -> Ask {
    let strategy = StrategyName::React.strategy();
    let next = strategy.stage("evaluation_checkpoint").unwrap();
    let score = Parameter::new(
        ParameterType::Integer {
            min: Some(0.0),
            max: Some(10.0),
        },
        "how good",
    );

    ask()
        .with_field("action", Parameter::text("what is done"))
        .with_field("score", score)
        .with_field("remark", Parameter::text("what else there is").optional())
        .with_next(strategy.next(next))
}

fn shown(ask: &Ask, reply: &str) -> String {
    match ask.read(reply) {
        Ok(read) => {
            let mut shown = format!("{:?}", read.text);
            for (name, value) in &read.fields {
                shown += &format!(" {name}={value}");
            }

            shown
                + &read
                    .next
                    .map(|next| format!(" -> {next}"))
                    .unwrap_or_default()
        }
        Err(problem) => format!("! {problem}"),
    }
}

fn all(ask: &Ask, replies: &[&str]) -> String {
    replies
        .iter()
        .map(|reply| shown(ask, reply))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_form_is_told_in_the_order_of_its_fields() {
    insta::assert_snapshot!(form().question().text(), @"
    Go on.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    action: what is done (a text)
    score: how good (an integer from 0 to 10)
    remark: what else there is (a text, may be left out)
    next: the name of the stage that is next, one of
      action_planning (The choice of the next action.)
      solution_formulation (The solution that follows from the observations.)
    ");
}

#[test]
fn a_form_is_read_however_it_is_dressed() {
    let replies = [
        "thought: I look.\naction: look\nscore: 8\nremark: soon\nnext: action_planning",
        "NEXT: Action Planning\nSCORE: 8\nACTION: look\nTHOUGHT: I look.",
        "I look.\n\n**Action:** look\n**Score**: 8/10\n**Next:** `action_planning`",
        "**Action: look**\n__Score:__ 8.\n- next: action_planning",
        "### Action: look\n### Score: 8 out of 10\n### Next: I would go to action_planning now",
        "```\naction: look\nscore: 8\nnext: action_planning\n```",
        "Here it is:\n```text\naction: look\nscore: 8\nnext: action_planning\n```\nThat is all.",
        r#"{"thought": "I look.", "Action": "look", "score": "8", "next": "action_planning"}"#,
        "```json\n{\"action\": \"look\", \"score\": 8.0, \"next\": \"action_planning\"}\n```",
        "Sure!\n\n{\"action\": \"look\", \"score\": 8, \"next\": \"action_planning\"}\n\nGood luck.",
        "<think>action: wait\nscore: 1</think>\naction: look\nscore: 8\nnext: action_planning",
        "action：look\nscore：8\nnext：action_planning",
        "action: look\nscore: 8\nremark: none\nnext: action_planning",
    ];
    insta::assert_snapshot!(all(&form(), &replies), @r#"
    "I look." action="look" remark="soon" score=8 -> action_planning
    "I look." action="look" score=8 -> action_planning
    "I look." action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "Here it is:" action="look" score=8 -> action_planning
    "I look." action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "#);
}

#[test]
fn thinking_aloud_is_not_read_with_or_without_its_opening_tag() {
    let form_after = [
        "<think>action: wait\nscore: 1</think>\naction: look\nscore: 8\nnext: action_planning",
        "action: wait\nscore: 1</think>\naction: look\nscore: 8\nnext: action_planning",
        "Let me see.\n</thinking>\n\naction: look\nscore: 8\nnext: action_planning",
        "\n <thinking>action: wait</thinking>action: look\nscore: 8\nnext: action_planning",
    ];

    insta::assert_snapshot!(all(&form(), &form_after), @r#"
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "#);

    // A closing tag at the end belongs to the reply.
    let word = ["action: look\nscore: 8\nnext: action_planning\n</think>"];
    insta::assert_snapshot!(all(&form(), &word), @r#""" action="look" score=8 -> action_planning"#);
}

#[test]
fn what_follows_the_form_is_not_read() {
    let replies = [
        "action: look\nscore: 8\nnext: action_planning\nObservation: I see a tree.\naction: climb\nscore: 2",
        "action: look\nscore: 8\nnext: action_planning\n\naction: climb\nscore: 2\nnext: solution_formulation",
    ];
    insta::assert_snapshot!(all(&form(), &replies), @r#"
    "" action="look" score=8 -> action_planning
    "" action="look" score=8 -> action_planning
    "#);
}

#[test]
fn a_reply_that_cannot_be_used_is_told_all_that_is_wrong() {
    let replies = [
        "",
        "I have no idea.",
        "action: look\nscore: 80\nnext: action_planning",
        "action: look\nscore: eight\nnext: home",
        "action:\nscore: 8\nnext: action_planning or solution_formulation",
        "{\"action\": [1], \"score\": {}, \"next\": 3}",
        "{\"action\": \"look\", ",
        "<think>I never end",
    ];

    insta::assert_snapshot!(all(&form(), &replies), @r#"
    ! line 1: the reply is empty; expected lines with `thought: …`, `action: …`, `score: …`, `remark: …`, `next: …`
    ! line 1: `action` is missing; expected a text; `score` is missing; expected an integer from 0 to 10; `next` is missing; expected one of action_planning, solution_formulation
    ! line 2, `/score`: found the number 80; expected an integer from 0 to 10
    ! line 2, `/score`: found the text "eight"; expected an integer from 0 to 10
    ! line 1: `action` is missing; expected a text
    ! line 1, `/score`: found an object; expected an integer from 0 to 10
    ! line 1: the reply ends inside the value; expected all of it
    ! line 1: `action` is missing; expected a text; `score` is missing; expected an integer from 0 to 10; `next` is missing; expected one of action_planning, solution_formulation
    "#);

    assert_eq!(
        form().read(&"a".repeat(300_000)).unwrap_err(),
        "line 1: the reply has 300000 bytes; expected at most 262144"
    );
}

#[test]
fn numbers_are_read_from_what_stands_around_them() {
    let ask = ask()
        .with_field("score", Parameter::new(number(), ""))
        .with_field("why", Parameter::text(""));
    let read = |written: &str| {
        let reply = ask
            .read(&format!("score: {written}\nwhy: so"))
            .map(|read| read.fields["score"].to_string());
        format!(
            "{written} => {}",
            reply.unwrap_or_else(|problem| format!("! {problem}"))
        )
    };

    let written = [
        "8",
        "8/10",
        "8 out of 10",
        "about 8.",
        "`8`",
        "**8**",
        "-3",
        "−3",
        "A-3",
        "3-5",
        "2.50",
        ".5",
        "about .5",
        "1e3",
        "1,024",
        "12,345,678.9",
        "1,5",
        "1,2,3",
        "$1,024",
        "7%",
        "1.2.3",
        "inf",
        "NaN",
        "none at all",
        "1e999",
        "9007199254740993",
        "٣",
    ];

    insta::assert_snapshot!(written.map(read).join("\n"), @r#"
    8 => 8
    8/10 => 8
    8 out of 10 => 8
    about 8. => 8
    `8` => 8
    **8** => 8
    -3 => -3
    −3 => -3
    A-3 => 3
    3-5 => 3
    2.50 => 2.5
    .5 => 0.5
    about .5 => 0.5
    1e3 => 1000.0
    1,024 => 1024
    12,345,678.9 => 12345678.9
    1,5 => ! line 1, `/score`: found the text "1,5"; expected a number
    1,2,3 => ! line 1, `/score`: found the text "1,2,3"; expected a number
    $1,024 => 1024
    7% => 7
    1.2.3 => ! line 1, `/score`: found the text "1.2.3"; expected a number
    inf => ! line 1, `/score`: found the text "inf"; expected a number
    NaN => ! line 1, `/score`: found the text "NaN"; expected a number
    none at all => ! line 1, `/score`: found the text "none at all"; expected a number
    1e999 => ! line 1, `/score`: found the text "1e999"; expected a number
    9007199254740993 => 9007199254740993
    ٣ => ! line 1, `/score`: found the text "٣"; expected a number
    "#);
}

/// Case and separators don't matter, but the signs of a choice do.
#[test]
fn a_choice_is_read_only_if_it_is_the_one_that_was_written() {
    let read = |written: &str| {
        let choices = ["<5", "-1", "10-20", "C++", "c", "So-so", "so so"].map(str::to_owned);
        let kind = ParameterType::Text {
            choices: choices.to_vec(),
        };
        let ask = ask()
            .with_field("value", Parameter::new(kind, ""))
            .with_field("why", Parameter::text("").optional());
        let read = ask.read(&format!("value: {written}")).ok()?;
        Some(read.fields["value"].as_str().unwrap().to_owned())
    };

    for (written, choice) in [
        ("**<5**", "<5"),
        ("-1", "-1"),
        ("`10-20`.", "10-20"),
        ("c++", "C++"),
        ("C", "c"),
        ("so so", "so so"),
    ] {
        assert_eq!(read(written).as_deref(), Some(choice), "{written}");
    }
    for written in [">5", "5", "1", "+1", "1020", "C#", "so_so", "..."] {
        assert_eq!(read(written), None, "{written}");
    }
}

#[test]
fn values_are_read_as_the_type_that_is_asked_for() {
    let read = |kind: ParameterType, written: &str| {
        // With a second field, the first one can't be the whole reply.
        let ask = ask()
            .with_field("value", Parameter::new(kind, ""))
            .with_field("why", Parameter::text("").optional());
        let reply = ask
            .read(&format!("value: {written}"))
            .map(|read| read.fields["value"].to_string());
        format!(
            "{} => {}",
            written.replace('\n', "⏎"),
            reply.unwrap_or_else(|problem| format!("! {problem}"))
        )
    };

    let choice = || ParameterType::Text {
        choices: vec!["up".to_owned(), "go down".to_owned()],
    };
    let object = || ParameterType::Object {
        fields: BTreeMap::from([
            ("id".to_owned(), Parameter::text("")),
            ("n".to_owned(), Parameter::new(number(), "")),
        ]),
    };

    let values = [
        read(text(), "```rust\nlet a = 1;\n```"),
        read(text(), "one\n```\ncode: 1\n```\ntwo"),
        read(text(), "`code` it *is*"),
        read(choice(), "**Up**"),
        read(choice(), "go-down."),
        read(choice(), "sideways"),
        read(ParameterType::Boolean, "Yes, it does."),
        read(ParameterType::Boolean, "**False**"),
        read(ParameterType::Boolean, "it may"),
        read(ParameterType::Thought, "thought 3"),
        read(ParameterType::Thought, "0"),
        read(list(text()), "\n- one\n- -5 degrees\n\n* two"),
        read(list(text()), "\n1. one\n2) 3.5 apples\n10. ten"),
        read(list(text()), r#"["one", 2, true]"#),
        read(list(text()), "```json\n[\"one\"]\n```"),
        read(list(number()), r#"["1", "2/10"]"#),
        read(list(number()), "1, 2"),
        read(list(ParameterType::Any), "\n- one\n- two"),
        read(map(), r#"{"a": 1}"#),
        read(map(), "\n- a = 1\n- `b`: \"x\"\n- c: [1, 2]\n- d = so so"),
        read(map(), "many things"),
        read(list(object()), r#"[{"id": 7, "n": "3"}]"#),
        read(list(object()), r#"[{"id": "a"}, {"n": 1}]"#),
        read(ParameterType::Any, "{\"a\": 1}"),
        read(ParameterType::Any, "not JSON"),
        read(ParameterType::Any, &"[".repeat(5000)),
    ];

    insta::assert_snapshot!(values.join("\n").replace(&"[".repeat(5000), "[[[…"), @r#"
    ```rust⏎let a = 1;⏎``` => "let a = 1;"
    one⏎```⏎code: 1⏎```⏎two => "one\n```\ncode: 1\n```\ntwo"
    `code` it *is* => "`code` it *is*"
    **Up** => "up"
    go-down. => "go down"
    sideways => ! line 1, `/value`: found the text "sideways"; expected one of up, go down
    Yes, it does. => true
    **False** => false
    it may => ! line 1, `/value`: found the text "it may"; expected true or false
    thought 3 => 3
    0 => ! line 1, `/value`: found the number 0; expected an integer from 1
    ⏎- one⏎- -5 degrees⏎⏎* two => ["one","-5 degrees","two"]
    ⏎1. one⏎2) 3.5 apples⏎10. ten => ["one","3.5 apples","ten"]
    ["one", 2, true] => ["one","2","true"]
    ```json⏎["one"]⏎``` => ["one"]
    ["1", "2/10"] => ! line 1, `/value/1`: found the text "2/10"; expected a number
    1, 2 => ! line 1, `/value`: found the text "1, 2"; expected a list of numbers
    ⏎- one⏎- two => ["one","two"]
    {"a": 1} => {"a":1}
    ⏎- a = 1⏎- `b`: "x"⏎- c: [1, 2]⏎- d = so so => {"a":1,"b":"x","c":[1,2],"d":"so so"}
    many things => ! line 1, `/value`: found the text "many things"; expected an object with any keys
    [{"id": 7, "n": "3"}] => [{"id":"7","n":3}]
    [{"id": "a"}, {"n": 1}] => [{"id":"a","n":1}]
    {"a": 1} => {"a":1}
    not JSON => "not JSON"
    [[[… => "[[[…"
    "#);
}

#[test]
fn one_text_or_one_list_may_be_the_whole_reply() {
    let ask = |kind| ask().with_field("steps", Parameter::new(kind, ""));
    let read = [
        shown(&ask(list(text())), "1. one\n2. two"),
        shown(&ask(list(text())), "Steps:\n- one\n- two"),
        shown(&ask(list(text())), "I think.\n\nSteps:\n- one"),
        shown(&ask(text()), "All of it: this too."),
        shown(&ask(text()), ""),
        shown(&ask(number()), "There are 3 ways, and I take the second."),
    ];

    insta::assert_snapshot!(read.join("\n"), @r#"
    "" steps=["one","two"]
    "" steps=["one","two"]
    "I think." steps=["one"]
    "" steps="All of it: this too."
    ! line 1: the reply is empty; expected lines with `thought: …`, `steps: …`
    ! line 1: `steps` is missing; expected a number
    "#);
}

/// A text that isn't a line of the form and is already trimmed.
fn plain() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 äß€\\-+*/.,;!?'\"(){}<>=#_|\\\\]{1,60}"
        .prop_map(|text| format!("x{}x", text.trim()))
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n".to_owned()),
        Just("action: ".to_owned()),
        Just("**score:** ".to_owned()),
        Just("thought:".to_owned()),
        Just("next: action_planning".to_owned()),
        Just("```".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("{\"action\": ".to_owned()),
        Just("\"}".to_owned()),
        Just("- 1. ".to_owned()),
        Just("-1e9/.5,".to_owned()),
        "\\PC{0,8}",
    ]
}

proptest! {
    #[test]
    fn any_text_is_a_reply_or_a_complaint(parts in prop::collection::vec(words(), 0..40)) {
        let reply = parts.concat();
        let all = form().with_field("steps", Parameter::new(list(text()), "")).with_field("state", Parameter::new(map(), "").optional());
        for ask in [ask(), form(), all, ask().with_field("n", Parameter::new(number(), ""))] {
            match ask.read(&reply) {
                Ok(read) => prop_assert!(read.next.is_none_or(|next| next == "action_planning" || next == "solution_formulation")),
                Err(problem) => prop_assert!(!problem.is_empty() && problem.len() < 10_000, "{problem}"),
            }
        }
    }

    #[test]
    fn a_form_as_it_was_asked_for_reads_back(
        thought in plain(),
        action in plain(),
        steps in prop::collection::vec(plain(), 1..5),
        score in -1000i64..1000,
        share in -1e6f64..1e6,
        holds in any::<bool>(),
        state in prop::collection::btree_map("[a-z]{1,8}", 0i64..100, 0..4),
        order in any::<prop::sample::Index>(),
        dressed in any::<bool>(),
    ) {
        let integer = ParameterType::Integer { min: None, max: None };
        let ask = ask()
            .with_field("action", Parameter::text(""))
            .with_field("steps", Parameter::new(list(text()), ""))
            .with_field("score", Parameter::new(integer, ""))
            .with_field("share", Parameter::new(number(), ""))
            .with_field("holds", Parameter::new(ParameterType::Boolean, ""))
            .with_field("state", Parameter::new(map(), ""));
        let listed: String = steps.iter().map(|step| format!("\n- {step}")).collect();
        let mut lines = [
            ("thought", thought.clone()),
            ("action", action.clone()),
            ("steps", listed),
            ("score", score.to_string()),
            ("share", share.to_string()),
            ("holds", holds.to_string()),
            ("state", json!(state).to_string()),
        ];
        let turn = order.index(lines.len());
        lines.rotate_left(turn);
        let line = |(name, value): &(&str, String)| match dressed {
            true => format!("**{}:** {value}", name.to_uppercase()),
            false => format!("{name}: {value}"),
        };
        let reply = lines.iter().map(line).collect::<Vec<_>>().join("\n");
        let read = ask.read(&reply).unwrap();
        prop_assert_eq!(&read.text, &thought);
        let expected = json!({
            "action": action, "steps": steps, "score": score, "holds": holds, "state": state,
            "share": read.fields["share"],
        });
        prop_assert_eq!(json!(read.fields), expected);
        prop_assert!((read.fields["share"].as_f64().unwrap() - share).abs() <= share.abs() * 1e-12);
        let written: BTreeMap<&str, Value> = [("thought", json!(thought))].into_iter()
            .chain(read.fields.iter().map(|(name, value)| (name.as_str(), value.clone())))
            .collect();
        prop_assert_eq!(ask.read(&json!(written).to_string()).unwrap(), read);
    }
}
