//! Properties of all plans, paths and texts.

use cogwork_plan::{Plan, Status, Step, format_plan, format_plan_for_prompt};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn text() -> BoxedStrategy<String> {
    let odd = prop::sample::select(vec![
        "",
        " ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "null",
        "Null",
        "~",
        "true",
        "yes",
        "1e3",
        "0x10",
        "007",
        "1_0",
        ".5",
        ".nan",
        "-",
        "- a",
        "? a",
        ": ",
        "a: b",
        "a:",
        ":a",
        " #",
        "#a",
        "a #b",
        "'",
        "\"",
        "\\",
        "\\n",
        "|",
        "|-\n",
        ">",
        "%",
        "@",
        "`",
        "&a",
        "*a",
        "!t",
        "!!str",
        "{",
        "}",
        "[",
        "]",
        ",",
        "---",
        "...",
        "--- a",
        "<<",
        "=",
        "ü",
        "漢字",
        "🦀",
        "\u{0}",
        "\u{1b}[31m",
        "\u{7f}",
        "\u{85}",
        "\u{9b}",
        "\u{a0}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{fffd}",
        "\u{10ffff}",
        "\u{e000}",
        "\u{202e}",
        "2001-01-01",
        "12:30:45",
        "word",
        "two words",
        "\n  indented",
        "trailing \n",
    ]);

    let joined = vec(odd.clone(), 1..6).prop_map(|parts| parts.concat());
    prop_oneof![
        odd.prop_map(str::to_owned),
        joined,
        any::<String>(),
        "[ -~\n]{0,200}"
    ]
    .boxed()
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![
        Status::Pending,
        Status::Done,
        Status::VerificationNeeded,
    ])
}

fn step(description: BoxedStrategy<String>) -> impl Strategy<Value = Step> {
    let leaf = (
        description,
        status(),
        option::of(text()),
        option::of(text()),
    )
        .prop_map(|(description, status, result, mark)| Step {
            description,
            status,
            result,
            mark,
            sub_steps: Vec::new(),
        })
        .boxed();
    leaf.clone().prop_recursive(4, 24, 4, move |inner| {
        (leaf.clone(), vec(inner, 0..4))
            .prop_map(|(step, sub_steps)| step.with_sub_steps(sub_steps))
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    vec(step(text()), 0..5).prop_map(Plan::from)
}

/// A plan of few names, so that two of them have much in common.
fn small_plan() -> impl Strategy<Value = Plan> {
    let name = prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned);
    vec(step(name.boxed()), 0..6).prop_map(Plan::from)
}

proptest! {
    #[test]
    fn any_plan_survives_yaml(plan in plan()) {
        let text = serde_yaml::to_string(&plan).unwrap();
        prop_assert_eq!(&serde_yaml::from_str::<Plan>(&text).unwrap(), &plan, "{}", text);
    }

    #[test]
    fn any_plan_survives_json(plan in plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    #[test]
    fn any_plan_survives_the_prompt(plan in plan()) {
        let text = format_plan_for_prompt(&plan);
        prop_assert_eq!(&serde_yaml::from_str::<Plan>(&text).unwrap(), &plan, "{}", text);
        // And isn't a different one to a reader that does not expect a plan.
        let value: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(serde_yaml::from_value::<Plan>(value).unwrap(), plan);
    }

    #[test]
    fn any_plan_is_one_clean_line_a_step(plan in plan()) {
        let text = format_plan(&plan);
        prop_assert_eq!(text.lines().count(), plan.len());
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", text);
        let chart = plan.mermaid().to_string();
        prop_assert!(chart.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", chart);
        let labels = chart.lines().filter(|line| line.contains('"')).collect::<Vec<_>>();
        prop_assert_eq!(labels.len(), plan.len());
        prop_assert!(labels.iter().all(|line| line.matches('"').count() == 2));
    }

    #[test]
    fn every_step_is_found_by_the_path_the_walk_gives(plan in plan()) {
        for entry in plan.walk() {
            let path = entry.path();
            prop_assert_eq!(path.indices().len(), entry.depth);
            prop_assert!(std::ptr::eq(plan.get(path).unwrap(), entry.step));
        }
        prop_assert!(plan.walk().map(|entry| entry.path().clone()).is_sorted());
    }

    #[test]
    fn nothing_changed_exactly_when_the_plans_are_equal(earlier in small_plan(), later in small_plan()) {
        prop_assert_eq!(later.changes_since(&later.clone()), []);
        prop_assert_eq!(later.changes_since(&earlier).is_empty(), later == earlier);
    }

    #[test]
    fn what_changed_is_where_the_change_says(earlier in small_plan(), later in small_plan()) {
        use cogwork_plan::ChangeKind::{Moved, Removed, Reworded};
        for change in later.changes_since(&earlier) {
            let plan = if change.kind == Removed { &earlier } else { &later };
            let step = plan.get(&change.path).unwrap();
            prop_assert_eq!(&step.description, &change.description);
            match change.kind {
                Moved { from } => prop_assert_eq!(&earlier.get(&from).unwrap().description, &step.description),
                Reworded { from } => prop_assert_ne!(&from, &step.description),
                _ => {}
            }
        }
    }

    #[test]
    fn the_first_pending_step_is_pending_and_waits_for_none(plan in plan()) {
        let waits = |step: &Step| step.sub_steps.iter().any(|sub_step| sub_step.status != Status::Done);
        let ready = |step: &Step| step.status == Status::Pending && !waits(step);
        match plan.first_pending() {
            Some((path, step)) => {
                prop_assert!(ready(step));
                prop_assert!(std::ptr::eq(plan.get(&path).unwrap(), step));
            }
            None => prop_assert!(!plan.walk().any(|entry| ready(entry.step))),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = serde_yaml::from_str::<Plan>(&text);
        let _ = serde_json::from_str::<Plan>(&text);
    }

    #[test]
    fn any_damaged_plan_is_read_or_refused(plan in plan(), at in any::<prop::sample::Index>(), by in text()) {
        let mut text = format_plan_for_prompt(&plan);
        let mut place = at.index(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        text.insert_str(place, &by);
        if let Ok(plan) = serde_yaml::from_str::<Plan>(&text) {
            prop_assert_eq!(serde_yaml::from_str::<Plan>(&format_plan_for_prompt(&plan)).unwrap(), plan);
        }
    }
}
