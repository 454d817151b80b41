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
fn one_level_more_is_refused() {
    let text = format_plan_for_prompt(&nested(MAX_DEPTH + 1));
    let error = serde_yaml::from_str::<Plan>(&text).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("plan nests deeper than 32 levels"),
        "{error}"
    );

    let error = serde_json::from_str::<Plan>(&json(MAX_DEPTH + 1)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("plan nests deeper than 32 levels"),
        "{error}"
    );
}

#[test]
fn a_text_of_a_hundred_thousand_levels_is_refused_and_not_followed() {
    let error = serde_json::from_str::<Plan>(&json(100_000)).unwrap_err();
    assert!(
        error.to_string().starts_with("recursion limit exceeded"),
        "{error}"
    );
}
