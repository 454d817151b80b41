//! The limit of depth where plans are read and written, and plans made deeper than that in memory.

use std::thread;

use cogwork_plan::{
    ChangeKind, MAX_DEPTH, Plan, ProblemKind, Step, format_plan, format_plan_for_prompt,
};

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

    let step = nested(MAX_DEPTH + 1).into_steps().remove(0);
    let text = format_plan_for_prompt(&nested(MAX_DEPTH + 1)).replacen("- ", "  ", 1);
    let error = serde_yaml::from_str::<Step>(&text).unwrap_err().to_string();
    assert!(
        error.contains("plan nests deeper than 32 levels"),
        "{error}"
    );
    assert_eq!(
        serde_json::to_string(&step).unwrap_err().to_string(),
        "plan nests deeper than 32 levels"
    );
}

#[test]
fn nothing_is_written_that_could_not_be_read_again() {
    let plan = nested(MAX_DEPTH + 1);
    assert_eq!(
        serde_json::to_string(&plan).unwrap_err().to_string(),
        "plan nests deeper than 32 levels"
    );
    assert_eq!(
        serde_yaml::to_string(&plan).unwrap_err().to_string(),
        "plan nests deeper than 32 levels"
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

#[test]
fn a_plan_deeper_than_the_stack_is_walked_rendered_checked_compared_and_dropped() {
    const LEVELS: usize = 1_000;

    let small_stack = thread::Builder::new().stack_size(64 * 1024).spawn(|| {
        let plan = nested(LEVELS);
        assert_eq!(plan.len(), LEVELS);
        let (path, step) = plan.first_pending().unwrap();
        assert_eq!(
            (path.indices().len(), step.description.as_str()),
            (LEVELS, "bottom")
        );
        assert_eq!(plan.get(&path), Some(step));
        assert_eq!(plan.progress().pending, 1);
        assert_eq!(
            plan.walk().last().map(|entry| entry.path()),
            Some(path.clone())
        );

        let problems = plan.problems();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].kind, ProblemKind::TooDeep);
        assert_eq!(problems[0].path.indices().len(), MAX_DEPTH + 1);

        assert_eq!(format_plan(&plan).lines().count(), LEVELS);
        assert_eq!(
            format_plan_for_prompt(&plan).lines().count(),
            3 * LEVELS - 1
        );
        assert_eq!(plan.task_list().to_string().lines().count(), LEVELS);
        assert_eq!(plan.mermaid().to_string().lines().count(), 2 * LEVELS + 3);

        let mut later = nested(LEVELS);
        later.get_mut(&path).unwrap().mark = Some("odd".into());
        let changes = later.changes_since(&plan);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].path, path);
        assert_eq!(
            changes[0].kind,
            ChangeKind::MarkChanged {
                from: None,
                to: Some("odd".into())
            }
        );
    });

    small_stack.unwrap().join().unwrap();
}
