//! Replies in lines of `key: value`, of answers whose keys are known when a program runs.

use cogwork_typed::{AnswerKey, AnswerReader};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::time::growth::assert_grows_linearly;

/// Reads a thought, an action of a few, a score and a remark that may be left out.
fn reader() -> AnswerReader<Value> {
    let text = json!({"type": "string"});
    let score = json!({"type": "integer", "minimum": 0, "maximum": 10});
    let action = AnswerKey::new("action", "what is done", &text);

    AnswerReader::of_keys([
        AnswerKey::new("thought", "your thought", &text).wanted(),
        action.offering(&json!({"enum": ["look", "wait"]})),
        AnswerKey::new("score", "how good it is", &score),
        AnswerKey::new("remark", "what else there is", &text).optional(),
    ])
    .leaving_out(["observation"])
}

/// Returns the value with the repairs, or the problem.
fn shown(reader: &AnswerReader<Value>, reply: &str) -> String {
    match reader.read(reply) {
        Ok(read) => {
            let repairs = read.repairs.iter().map(|repair| format!("\n  {repair}"));
            format!("{}{}", read.value, repairs.collect::<String>())
        }
        Err(problem) => format!("! {problem}"),
    }
}

#[test]
fn the_keys_are_described_in_their_order() {
    let shown = format!("{}\n{}", reader().lines(), reader().description());
    insta::assert_snapshot!(shown, @r##"

    thought: your thought
    action: what is done (a text)
    score: how good it is (an integer from 0 to 10)
    remark: what else there is (a text, may be left out)
    - thought: your thought (a text)
    - action: what is done (one of look, wait)
    - score: how good it is (from 0 to 10)
    - remark: what else there is (a text or null)
    "##);
}

#[test]
fn lines_are_read_however_they_are_dressed() {
    let replies = [
        "thought: I look.\naction: look\nscore: 8\nremark: soon",
        "SCORE: 8\nACTION: look\nTHOUGHT: I look.",
        "I look.\n\n**Action:** look\n**Score**: 8/10",
        "**Action: look**\n__Score:__ 8.",
        "### Action: look\n> Score: 8 out of 10",
        "```\naction: look\nscore: 8\n```",
        "<think>action: wait</think>\naction：look\nscore：8",
        "action: look\nscore: 8\nObservation: A tree.\naction: climb",
        "Thought 1: I look.\nAction 1: look\nScore 1: 8\nObservation 1: A tree.",
        "action: |\n  look\nscore: 8",
        "Action 1: wait\nAction 2: look\naction: look\nscore: 8",
        "action: look\nat the tree:\nit is high\nscore: 8",
        "Sure!\n{\"action\": \"look\", \"score\": 8}",
        "action: look",
        "action: look\nscore: 80",
        "I have no idea.",
        "",
    ];

    let reader = reader().in_lines();
    let read = replies.map(|reply| format!("{reply:?}\n{}", shown(&reader, reply)));
    insta::assert_snapshot!(read.join("\n"), @r####"
    "thought: I look.\naction: look\nscore: 8\nremark: soon"
    {"action":"look","remark":"soon","score":8,"thought":"I look."}
    "SCORE: 8\nACTION: look\nTHOUGHT: I look."
    {"action":"look","score":8,"thought":"I look."}
    "I look.\n\n**Action:** look\n**Score**: 8/10"
    {"action":"look","score":8,"thought":"I look."}
      line 4: read "8/10" as 8
    "**Action: look**\n__Score:__ 8."
    {"action":"look","score":8}
      line 2: read "8." as 8
    "### Action: look\n> Score: 8 out of 10"
    {"action":"look","score":8}
      line 2: read "8 out of 10" as 8
    "```\naction: look\nscore: 8\n```"
    {"action":"look","score":8}
    "<think>action: wait</think>\naction：look\nscore：8"
    {"action":"look","score":8}
    "action: look\nscore: 8\nObservation: A tree.\naction: climb"
    {"action":"look","score":8}
      line 3: left out `observation`
      line 4: left out a later `action`
    "Thought 1: I look.\nAction 1: look\nScore 1: 8\nObservation 1: A tree."
    {"action":"look","score":8,"thought":"I look."}
      line 4: left out `observation`
    "action: |\n  look\nscore: 8"
    {"action":"look","score":8}
    "Action 1: wait\nAction 2: look\naction: look\nscore: 8"
    {"action":"look","score":8,"thought":"Action 1: wait\nAction 2: look"}
    "action: look\nat the tree:\nit is high\nscore: 8"
    {"action":"look\nat the tree:\nit is high","score":8}
    "Sure!\n{\"action\": \"look\", \"score\": 8}"
    {"action":"look","score":8}
    "action: look"
    ! line 1: `score` is missing; expected an integer from 0 to 10
    "action: look\nscore: 80"
    ! line 2, `/score`: found the number 80; expected an integer from 0 to 10
    "I have no idea."
    ! line 1: `action` is missing; expected one of look, wait; `score` is missing; expected an integer from 0 to 10
    ""
    ! line 1: the reply is empty; expected lines with `thought: …`, `action: …`, `score: …`, `remark: …`
    "####);
}

#[test]
fn values_are_read_from_what_stands_around_them() {
    let number = json!({"type": "number"});
    let text = json!({"type": "string"});
    let list = |items: &Value| json!({"type": "array", "items": items});
    let map = json!({"type": "object", "additionalProperties": {}});
    let choice = json!({"enum": ["up", "go down", "<5"]});
    let values = [
        (
            &number,
            vec![
                "8/10",
                "about .5",
                "-3",
                "A-3",
                "1,024",
                "$7",
                "1,5",
                "1.2.3",
                "NaN",
                "1e999",
                "٣",
                "(8)",
                "I give it 8 out of 10.",
                "8, since 2 of 3 hold",
                "3 to 8",
                "8 or 9",
                "not 8 but 9",
                "minus 8",
                "about 8, perhaps 9",
                "2 * 7 = 14",
                "1 400",
                "3 million",
                "3/4",
                "50%",
                "8 / 10",
            ],
        ),
        (
            &text,
            vec![
                "```rust\nlet a = 1;\n```",
                "one\n```\ncode: 1\n```",
                "`code` it *is*",
            ],
        ),
        (&choice, vec!["**Up**", "go-down.", "<5", ">5", "sideways"]),
        (
            &json!({"type": "boolean"}),
            vec![
                "Yes, it does.",
                "**False**",
                "it may",
                "No, since it fails",
                "no it is wrong",
                "no errors",
            ],
        ),
        (
            &list(&text),
            vec![
                "\n- one\n- -5 degrees\n\n* two",
                "1. one\n2) two",
                "\n1. one\n   more\n2. two\nthree",
                "[\"one\", 2]",
                "one",
            ],
        ),
        (&list(&number), vec!["[1, \"2\"]", "1, 2"]),
        (
            &map,
            vec![
                "{\"a\": 1}",
                "[{\"name\": \"a\", \"value\": 1}]",
                "\n- a = 1\n- `b`: \"x\"",
                "many things",
            ],
        ),
        (
            &json!({}),
            vec!["{\"a\": 1}", "{'a': 1,}", "1.10", "true", "so so"],
        ),
    ];

    let read = values.into_iter().flat_map(|(schema, written)| {
        let reader = AnswerReader::of_keys([AnswerKey::new("value", "", schema)]).in_lines();
        written.into_iter().map(move |text| {
            let read = reader.read(&format!("value: {text}"));
            let shown = read.map_or_else(
                |problem| format!("! {problem}"),
                |read| read.value["value"].to_string(),
            );
            format!("{text:?} => {shown}")
        })
    });
    insta::assert_snapshot!(read.collect::<Vec<_>>().join("\n"), @r##"
    "8/10" => 8
    "about .5" => ! line 1, `/value`: found the text "about .5"; expected a number
    "-3" => -3
    "A-3" => ! line 1, `/value`: found the text "A-3"; expected a number
    "1,024" => 1024
    "$7" => 7
    "1,5" => ! line 1, `/value`: found the text "1,5"; expected a number
    "1.2.3" => ! line 1, `/value`: found the text "1.2.3"; expected a number
    "NaN" => ! line 1, `/value`: found the text "NaN"; expected a number
    "1e999" => ! line 1, `/value`: found the text "1e999"; expected a number
    "٣" => ! line 1, `/value`: found the text "٣"; expected a number
    "(8)" => 8
    "I give it 8 out of 10." => ! line 1, `/value`: found the text "I give it 8 out of 10."; expected a number
    "8, since 2 of 3 hold" => 8
    "3 to 8" => ! line 1, `/value`: found the text "3 to 8"; expected a number
    "8 or 9" => ! line 1, `/value`: found the text "8 or 9"; expected a number
    "not 8 but 9" => ! line 1, `/value`: found the text "not 8 but 9"; expected a number
    "minus 8" => ! line 1, `/value`: found the text "minus 8"; expected a number
    "about 8, perhaps 9" => ! line 1, `/value`: found the text "about 8, perhaps 9"; expected a number
    "2 * 7 = 14" => ! line 1, `/value`: found the text "2 * 7 = 14"; expected a number
    "1 400" => ! line 1, `/value`: found the text "1 400"; expected a number
    "3 million" => ! line 1, `/value`: found the text "3 million"; expected a number
    "3/4" => ! line 1, `/value`: found the text "3/4"; expected a number
    "50%" => ! line 1, `/value`: found the text "50%"; expected a number
    "8 / 10" => 8
    "```rust\nlet a = 1;\n```" => "let a = 1;"
    "one\n```\ncode: 1\n```" => "one\n```\ncode: 1\n```"
    "`code` it *is*" => "`code` it *is*"
    "**Up**" => "up"
    "go-down." => "go down"
    "<5" => "<5"
    ">5" => ! line 1, `/value`: found the text ">5"; expected one of up, go down, <5
    "sideways" => ! line 1, `/value`: found the text "sideways"; expected one of up, go down, <5
    "Yes, it does." => true
    "**False**" => false
    "it may" => ! line 1, `/value`: found the text "it may"; expected true or false
    "No, since it fails" => false
    "no it is wrong" => false
    "no errors" => ! line 1, `/value`: found the text "no errors"; expected true or false
    "\n- one\n- -5 degrees\n\n* two" => ["one","-5 degrees","two"]
    "1. one\n2) two" => ["one","two"]
    "\n1. one\n   more\n2. two\nthree" => ["one more","two"]
    "[\"one\", 2]" => ["one","2"]
    "one" => ["one"]
    "[1, \"2\"]" => [1,2]
    "1, 2" => ! line 1, `/value`: found the text "1, 2"; expected a list of numbers
    "{\"a\": 1}" => {"a":1}
    "[{\"name\": \"a\", \"value\": 1}]" => {"a":1}
    "\n- a = 1\n- `b`: \"x\"" => {"a":1,"b":"x"}
    "many things" => ! line 1, `/value`: found the text "many things"; expected an object with any keys
    "{\"a\": 1}" => {"a":1}
    "{'a': 1,}" => {"a":1}
    "1.10" => "1.10"
    "true" => true
    "so so" => "so so"
    "##);
}

#[test]
fn a_stated_answer_is_read_without_its_key() {
    let text = json!({"type": "string"});
    let keys = ["thought", "answer"].map(|name| AnswerKey::new(name, "", &text));
    let [thought, answer] = keys;
    let reader = AnswerReader::of_keys([thought.wanted(), answer]);

    let replies = [
        "30 and 21. The answer is 51 km.",
        "So it is \\boxed{51}.",
        "51",
    ];
    let stated = replies.map(|reply| shown(&reader, reply));
    let taken = replies.map(|reply| shown(&reader.clone().with_prose(), reply));
    insta::assert_snapshot!(stated.concat() + "\n" + &taken.concat(), @r#"
    {"answer":"51 km","thought":"30 and 21. The answer is 51 km."}
      line 1: read an answer that isn't in JSON{"answer":"51","thought":"So it is \\boxed{51}."}
      line 1: read an answer that isn't in JSON! line 1: found the number 51; expected a JSON object with `thought`, `answer`
    {"answer":"51 km","thought":"30 and 21. The answer is 51 km."}
      line 1: read an answer that isn't in JSON{"answer":"51","thought":"So it is \\boxed{51}."}
      line 1: read an answer that isn't in JSON{"answer":"51"}
      line 1: read an answer that isn't in JSON
    "#);
}

#[test]
fn a_list_in_prose_is_read_without_what_is_said_around_it() {
    let keys = AnswerKey::new(
        "steps",
        "",
        &json!({"type": "array", "items": {"type": "string"}}),
    );
    let steps = AnswerReader::of_keys([keys]).with_prose();
    let list = "Here are the steps:\n1. Add.\n   - Carry.\n2. Check.\n\nLet me know!";
    insta::assert_snapshot!(shown(&steps, list), @r#"
    {"steps":["Add.","Carry.","Check."]}
      line 1: left out the text around the list
      line 1: read an answer that isn't in JSON
    "#);
    let unmarked = "1. Add.\nand carry\n2. Check.\nLet me know!";
    insta::assert_snapshot!(shown(&steps, unmarked), @r#"
    {"steps":["Add. and carry","Check."]}
      line 4: left out the text around the list
      line 2: read a line without a mark as a part of the item before it
      line 1: read an answer that isn't in JSON
    "#);
    // Without a colon, a line before the list is one of its items.
    let sentence = "Add the tens\n- Add the ones";
    insta::assert_snapshot!(shown(&steps, sentence), @r#"
    {"steps":["Add the tens","Add the ones"]}
      line 1: read a line without a mark as an item
      line 1: read an answer that isn't in JSON
    "#);

    let lines = steps.in_lines();
    let read = [
        format!("steps: {sentence}"),
        format!("steps: Let me see.\n**In short:**\n{sentence}\n\nBye!"),
    ];
    let read = read.map(|reply| shown(&lines, &reply));
    insta::assert_snapshot!(read.join("\n"), @r#"
    {"steps":["Add the tens","Add the ones"]}
      line 1: read a line without a mark as an item
    {"steps":["Add the tens","Add the ones"]}
      line 1: left out the text around the list
      line 3: read a line without a mark as an item
    "#);

    let texts = AnswerReader::<Vec<String>>::new().with_prose();
    assert_eq!(
        texts.read(list).unwrap().value,
        ["Add.", "Carry.", "Check."]
    );
    assert!(texts.read("Add and check.").is_err());
}

/// A text that is no line of the form and is already trimmed.
fn plain() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 äß€\\-+*/.,;!?'\"(){}<>=#_|\\\\]{1,60}"
        .prop_map(|text| format!("x{}x", text.trim()))
}

proptest! {
    #[test]
    fn lines_as_they_are_asked_for_are_read_as_they_are(
        thought in plain(),
        action in plain(),
        score in 0..=10_i64,
        order in 0..3_usize,
        is_bold: bool,
    ) {
        let mut lines = [("thought", thought.clone()), ("action", action.clone()), ("score", score.to_string())];
        lines.rotate_left(order);
        let line = |(name, value): &(&str, String)| match is_bold {
            true => format!("**{}:** {value}", name.to_uppercase()),
            false => format!("{name}: {value}"),
        };
        let reply = lines.iter().map(line).collect::<Vec<_>>().join("\n");

        let read = reader().in_lines().read(&reply).unwrap();
        prop_assert_eq!(read.value, json!({"thought": thought, "action": action, "score": score}));
        prop_assert_eq!(read.repairs, vec![]);
    }
}

#[test]
fn ten_times_the_lines_take_about_ten_times_as_long() {
    let parts = [
        "action: x\n",
        "- x\n",
        "```\n",
        "score: 1,",
        "a:",
        "**",
        "</think>",
        "{\"action\": ",
        "\"a\" ",
    ];
    let reader = reader().in_lines();

    for part in parts {
        let reply = |count| format!("action: {}", part.repeat(count));
        assert_grows_linearly(part, &reply(300), &reply(3_000), |reply| {
            drop(reader.read(reply))
        });
    }
}
