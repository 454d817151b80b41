//! The JSON Schemas of a reply: what they are, what is valid under them, and how long that can be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{Plan, Reading, Reply, ReplyBounds, ReplyReader, Status, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The schema with a line for each entry, in order.
fn pretty(json: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        let opens = !in_string && matches!(c, '{' | '[');
        let closes = !in_string && matches!(c, '}' | ']');
        depth = if closes { depth - 1 } else { depth };

        if closes {
            text += &format!("\n{}", "  ".repeat(depth));
        }

        text.push(c);
        if opens {
            depth += 1;
        }

        if opens || !in_string && c == ',' {
            text += &format!("\n{}", "  ".repeat(depth));
        } else if !in_string && c == ':' {
            text.push(' ');
        }

        in_string = in_string != (c == '"' && !escaped);
        escaped = c == '\\' && !escaped;
    }

    text
}

#[test]
fn the_schema_of_a_reply_within_bounds() {
    let schema = Reply::json_schema(ReplyBounds::for_tokens(20_000));
    insta::assert_snapshot!(pretty(&schema));
}

#[test]
fn the_flat_schema_of_a_reply() {
    insta::assert_snapshot!(pretty(&Reply::flat_json_schema()));
}

/// What is wrong with a value under a schema; knows the keywords of ours and no others.
fn fault(schema: &Value, value: &Value, root: &Value) -> Option<String> {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let length = value.as_str().map(|text| text.chars().count() as u64);
        let items = value.as_array().map(|items| items.len() as u64);
        let number = wanted.as_u64();
        let bad = match keyword.as_str() {
            "description" | "$defs" => false,
            "type" => {
                let name = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(_) => "number",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                wanted != name
                    && !wanted
                        .as_array()
                        .is_some_and(|names| names.contains(&name.into()))
            }
            "enum" => !wanted.as_array().unwrap().contains(value),
            "minLength" => length.is_some_and(|length| length < number.unwrap()),
            "maxLength" => length.is_some_and(|length| length > number.unwrap()),
            "minItems" => items.is_some_and(|items| items < number.unwrap()),
            "maxItems" => items.is_some_and(|items| items > number.unwrap()),
            "required" => wanted
                .as_array()
                .unwrap()
                .iter()
                .any(|key| value.get(key.as_str().unwrap()).is_none()),
            "additionalProperties" => {
                assert_eq!(wanted, &json!(false));
                value.as_object().is_some_and(|object| {
                    object
                        .keys()
                        .any(|key| schema["properties"].get(key).is_none())
                })
            }
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                if let Some(fault) = items.find_map(|item| fault(wanted, item, root)) {
                    return Some(fault);
                }

                false
            }
            "properties" => {
                let properties = wanted.as_object().unwrap().iter();
                let mut there =
                    properties.filter_map(|(key, schema)| Some((schema, value.get(key)?)));
                if let Some(fault) = there.find_map(|(schema, value)| fault(schema, value, root)) {
                    return Some(fault);
                }

                false
            }
            "anyOf" => wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|schema| fault(schema, value, root).is_some()),
            "$ref" => {
                let to = root
                    .pointer(wanted.as_str().unwrap().trim_start_matches('#'))
                    .expect("it is there");
                if let Some(fault) = fault(to, value, root) {
                    return Some(fault);
                }

                false
            }
            other => panic!("a keyword that is not known: {other}"),
        };

        if bad {
            return Some(format!("{keyword} {wanted}: {value}"));
        }
    }

    None
}

fn valid(schema: &str, value: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    fault(&schema, value, &schema).map_or(Ok(()), Err)
}

/// Every key written out, as the flat schema wants them: null, or no steps, where there is nothing.
fn in_full(mut value: Value, levels: usize) -> Value {
    for step in value.as_array_mut().unwrap() {
        let step = step.as_object_mut().unwrap();
        for key in ["result", "mark"] {
            step.entry(key).or_insert(Value::Null);
        }

        if levels > 1 {
            let sub_steps = step.remove("sub_steps").unwrap_or(json!([]));
            step.insert("sub_steps".into(), in_full(sub_steps, levels - 1));
        }
    }

    value
}

fn strict(text: &str) -> Reply {
    let read = ReplyReader::default()
        .with_reading(Reading::Strict)
        .read(text)
        .expect(text);
    assert_eq!((read.repairs.len(), read.truncated), (0, false));
    read.reply
}

/// The longest reply there is.
fn longest(bounds: ReplyBounds) -> Reply {
    fn steps(bounds: ReplyBounds, levels: usize, many: usize) -> Vec<Step> {
        let text = "#".repeat(bounds.text());
        let step = |_| Step {
            description: text.clone(),
            status: Status::VerificationNeeded,
            result: Some(text.clone()),
            mark: Some(text.clone()),
            sub_steps: if levels > 1 {
                steps(bounds, levels - 1, bounds.sub_steps())
            } else {
                Vec::new()
            },
        };

        (0..many).map(step).collect()
    }

    Reply {
        current_thinking: "#".repeat(bounds.thinking()),
        planning: Plan::from(steps(bounds, bounds.levels(), bounds.steps())),
        next_thought_needed: false,
    }
}

#[test]
fn the_longest_reply_fits_the_limit_of_tokens() {
    let step = match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 331,
        None => 3_319,
    };

    for tokens in (512..60_000)
        .step_by(step)
        .chain([900, 4096, 8192, 1_000_000])
    {
        let bounds = ReplyBounds::for_tokens(tokens);
        let reply = longest(bounds);
        let text = serde_json::to_string_pretty(&reply).unwrap();
        assert_eq!(
            valid(
                &Reply::json_schema(bounds),
                &serde_json::to_value(&reply).unwrap()
            ),
            Ok(())
        );

        // A token for each character of a text, and for three of the characters around them.
        let of_texts = text.matches('#').count();
        let around = text.len() - of_texts;
        assert_eq!(
            bounds.longest_reply_tokens(),
            of_texts + around.div_ceil(3),
            "{bounds:?}"
        );

        assert!(
            bounds.longest_reply_tokens() <= tokens as usize,
            "{tokens}: {bounds:?}"
        );

        // llama.cpp takes no bound of 2,000.
        assert!(
            bounds.text() > 0 && bounds.thinking() < 2000,
            "{tokens}: {bounds:?}"
        );
    }
}

#[test]
fn more_tokens_make_room_for_larger_plans() {
    let shown = [100, 512, 900, 2048, 4096, 8192, 16_384, 32_768, u32::MAX].map(|tokens| {
        let bounds = ReplyBounds::for_tokens(tokens);
        let levels = bounds.levels();
let steps = bounds.steps();
let sub_steps = bounds.sub_steps();
        let thinking = bounds.thinking();
let text = bounds.text();
let longest = bounds.longest_reply_tokens();

        format!("{tokens}: {levels} levels, {steps} steps, {sub_steps} sub-steps; thinking {thinking}, text {text}; {longest} tokens")
    });

    assert_eq!(ReplyBounds::default(), ReplyBounds::for_tokens(8192));
    insta::assert_snapshot!(shown.join("\n"));
}

/// Each bound holds, and isn't tighter than it says.
#[test]
fn one_more_of_anything_is_not_valid() {
    let bounds = ReplyBounds::for_tokens(20_000);
    let schema = Reply::json_schema(bounds);
    let check = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::to_value(longest(bounds)).unwrap();
        assert_eq!(valid(&schema, &value), Ok(()));
        change(&mut value);

        valid(&schema, &value)
            .expect_err("not valid")
            .chars()
            .take_while(|c| *c != ':')
            .collect::<String>()
    };

    let longer = |value: &mut Value| *value = format!("{}x", value.as_str().unwrap()).into();
    let another = |steps: &mut Value| {
        let steps = steps.as_array_mut().unwrap();
        steps.push(steps[0].clone());
    };
    let leaf = "/planning/0/sub_steps/0";
    let faults = [
        check(&|reply| longer(&mut reply["current_thinking"])),
        check(&|reply| reply["current_thinking"] = "".into()),
        check(&|reply| another(&mut reply["planning"])),
        check(&|reply| reply["planning"] = json!([])),
        check(&|reply| another(&mut reply["planning"][0]["sub_steps"])),
        check(&|reply| longer(reply.pointer_mut(&format!("{leaf}/mark")).unwrap())),
        check(&|reply| reply.pointer_mut(leaf).unwrap()["sub_steps"] = json!([])),
        check(&|reply| reply["planning"][0]["status"] = "done".into()),
        check(&|reply| reply["planning"][0]["notes"] = "x".into()),
        check(&|reply| reply["next_thought_needed"] = "false".into()),
        check(&|reply| {
            reply["planning"][0]
                .as_object_mut()
                .unwrap()
                .remove("status")
                .map_or((), drop)
        }),
    ];

    insta::assert_snapshot!(faults.join("\n"), @r#"
    maxLength 1900
    minLength 1
    maxItems 10
    minItems 1
    maxItems 4
    anyOf [{"maxLength"
    additionalProperties false
    enum ["Pending","Done","Verification Needed"]
    additionalProperties false
    type "boolean"
    required ["description","status"]
    "#);
}

#[test]
fn the_flat_schema_wants_every_key_and_takes_three_levels() {
    let schema = Reply::flat_json_schema();
    let step = |sub_steps: Value| json!({"description": "a", "status": "Pending", "result": null, "mark": null, "sub_steps": sub_steps});
    let reply = |plan: Value| json!({"current_thinking": "x", "planning": plan, "next_thought_needed": true});
    let leaf = json!({"description": "a", "status": "Done", "result": "b", "mark": null});
    let third = reply(json!([step(json!([step(json!([leaf]))]))]));

    assert_eq!(valid(&schema, &third), Ok(()));
    assert_eq!(valid(&schema, &reply(json!([]))), Ok(()));
    let fourth = reply(json!([step(json!([step(json!([step(json!([]))]))]))]));
    assert!(
        valid(&schema, &fourth)
            .unwrap_err()
            .starts_with("additionalProperties")
    );

    assert!(
        valid(&schema, &reply(json!([leaf])))
            .unwrap_err()
            .starts_with("required")
    );
}

/// Strict modes refuse the whole schema for one keyword they do not know.
#[test]
fn the_flat_schema_has_nothing_that_strict_modes_refuse() {
    let schema = Reply::flat_json_schema();
    for keyword in [
        "$ref", "$defs", "$schema", "Length", "Items", "oneOf", "anyOf", "allOf", "default",
        "title",
    ] {
        assert!(!schema.contains(keyword), "{keyword}");
    }

    let objects = schema.matches(r#""type":"object""#).count();
    assert_eq!(
        schema.matches(r#""additionalProperties":false"#).count(),
        objects
    );

    // Anthropic takes 16 values of several types, OpenAI 5 to 10 levels of objects.
    assert_eq!(
        (schema.matches(r#"["string","null"]"#).count(), objects),
        (6, 4)
    );
}

/// Texts that YAML and JSON could stumble over.
fn text(most: usize) -> impl Strategy<Value = String> {
    let pieces = [
        "\n",
        "\t",
        "\r\n",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{ffff}",
        "```yaml\n",
        "---\n",
        "- ",
        ": ",
        " #",
        "\"",
        "'",
        "\\",
        "\\u00e9",
        "{",
        "}",
        "]",
        "null",
        "65.50",
        "{\"planning\": [",
        "current_thinking: ",
        "next_thought_needed: no",
        "</think>",
        "思考",
        "😀",
        "word ",
    ];

    let piece = prop_oneof![5 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..12)
        .prop_map(move |pieces| pieces.concat().chars().take(most).collect())
}

fn steps(
    bounds: ReplyBounds,
    levels: usize,
    least: usize,
    most: usize,
) -> BoxedStrategy<Vec<Step>> {
    let status = prop::sample::select(vec![
        Status::Pending,
        Status::Done,
        Status::VerificationNeeded,
    ]);

    let sub_steps = match levels {
        1 => Just(Vec::new()).boxed(),
        _ => {
            prop_oneof![2 => Just(Vec::new()), 1 => steps(bounds, levels - 1, 0, bounds.sub_steps())].boxed()
        }
    };

    let some = || prop::option::of(text(bounds.text()));
    let step = (text(bounds.text()), status, some(), some(), sub_steps).prop_map(
        |(description, status, result, mark, sub_steps)| Step {
            description,
            status,
            result,
            mark,
            sub_steps,
        },
    );

    prop::collection::vec(step, least..=most).boxed()
}

fn bounded() -> impl Strategy<Value = (ReplyBounds, Reply)> {
    prop::sample::select(vec![512, 900, 4096, 8192, 20_000, 40_000]).prop_flat_map(|tokens| {
        let bounds = ReplyBounds::for_tokens(tokens);
        let thinking = text(bounds.thinking()).prop_filter("blank", |text| !text.trim().is_empty());
        let plan = steps(bounds, bounds.levels(), 1, bounds.steps()).prop_map(Plan::from);

        (Just(bounds), (thinking, plan, any::<bool>())).prop_map(
            |(bounds, (thinking, planning, needed))| {
                (
                    bounds,
                    Reply {
                        current_thinking: thinking,
                        planning,
                        next_thought_needed: needed,
                    },
                )
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_reply_within_bounds_is_valid_and_reads_back_equal((bounds, reply) in bounded()) {
        let value = serde_json::to_value(&reply).unwrap();
        prop_assert_eq!(valid(&Reply::json_schema(bounds), &value), Ok(()));
        prop_assert_eq!(&strict(&serde_json::to_string(&reply).unwrap()), &reply);
        prop_assert_eq!(&strict(&format!("\n{}\n", serde_json::to_string_pretty(&reply).unwrap())), &reply);

        let mut full = value;
        full["planning"] = in_full(full["planning"].take(), 3);
        prop_assert_eq!(valid(&Reply::flat_json_schema(), &full), Ok(()));
        prop_assert_eq!(&strict(&full.to_string()), &reply);
    }
}

/// Escapes in pairs, which YAML does not know, and numbers, whose spelling JSON's reader does not keep.
#[test]
fn json_is_read_to_the_last_character() {
    let reply = strict(
        r#"{"current_thinking":"\ud83d\ude00\u00e9\/","planning":[{"description":"a","status":"Done","result":"\u2028"}],"next_thought_needed":true}"#,
    );
    assert_eq!(reply.current_thinking, "😀é/");
    assert_eq!(
        reply.planning.steps()[0].result.as_deref(),
        Some("\u{2028}")
    );
    let reply = strict(
        r#"{"current_thinking":"x","planning":[{"description":"a","status":"Done","result":65.50}],"next_thought_needed":true}"#,
    );

    assert_eq!(reply.planning.steps()[0].result.as_deref(), Some("65.50"));
}
