//! The limit of depth where plans are read.

use cogwork_plan::{MAX_DEPTH, Plan, Step, format_plan_for_prompt};

fn nested(levels: usize) -> Plan {
    let deepest = Step::pending("bottom");
    let step = (1..levels).fold(deepest, |step, _| {
        Step::pending("level").with_sub_steps([step])
    });
    Plan::from(vec![step])
}

fn json(levels: usize) -> String {
    let open = r#"[{"description": "x", "status": "Pending", "sub_steps": "#;
    format!("{}[]{}", open.repeat(levels), "}]".repeat(levels))
}

#[test]
fn a_plan_of_the_greatest_depth_is_read_and_written() {
    let plan = nested(MAX_DEPTH);
    let text = serde_yaml::to_string(&plan).unwrap();
    assert_eq!(serde_yaml::from_str::<Plan>(&text).unwrap(), plan);
    assert_eq!(
        serde_yaml::from_str::<Plan>(&format_plan_for_prompt(&plan)).unwrap(),
        plan
    );

    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    assert_eq!(
        serde_json::from_str::<Plan>(&json(MAX_DEPTH))
            .unwrap()
            .len(),
        MAX_DEPTH
    );
}

#[test]
fn one_level_more_is_refused_where_it_begins() {
    let text = format_plan_for_prompt(&nested(MAX_DEPTH + 1));
    let error = serde_yaml::from_str::<Plan>(&text).unwrap_err();
    let place = error.location().unwrap();
    assert_eq!((place.line(), place.column()), (97, 67));

    let path = format!(".[0]{}", ".sub_steps[0]".repeat(MAX_DEPTH));
    assert_eq!(
        error.to_string(),
        format!("{path}: plan nests deeper than 32 levels at line 97 column 67")
    );
    let error = serde_json::from_str::<Plan>(&json(MAX_DEPTH + 1)).unwrap_err();
    insta::assert_snapshot!(error, @"plan nests deeper than 32 levels at line 1 column 1794");

    let text = format_plan_for_prompt(&nested(MAX_DEPTH + 1)).replacen("- ", "  ", 1);
    let error = serde_yaml::from_str::<Step>(&text).unwrap_err().to_string();
    assert!(
        error.contains("plan nests deeper than 32 levels"),
        "{error}"
    );
}

#[test]
fn a_text_of_a_hundred_thousand_levels_is_refused_and_not_followed() {
    let error = serde_json::from_str::<Plan>(&json(100_000))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("plan nests deeper than 32 levels at line 1 column "),
        "{error}"
    );
}
