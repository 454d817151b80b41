//! Tables as text of other programs: hostile names and answers are data.

use cogwork_eval::{Pick, Table};

use crate::support::Project;

const HOSTILE: &str = "
name: '<script>alert(1)</script>'
problems: [{question: a, answer: b, id: '=1+1', tags: ['<b>']}]
arms:
  - {name: '=cmd()|a,\"b\"', config: {provider: rules, rules: [], else: '<img src=x onerror=alert(1)>'}}
  - {name: '-2+3', config: {provider: rules, rules: [], else: b}}
";

#[tokio::test]
async fn names_and_answers_are_only_text() {
    let table = Project::new(HOSTILE).table().await;

    let html = table.page(Some("runs\"><b>"));
    for markup in ["<script", "<img", "<b>", "onerror=alert(1)>\""] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));

    let csv = table.csv();
    assert!(csv.contains("\"'=cmd()|a,\"\"b\"\"\""), "{csv}");
    assert!(csv.contains("\n'-2+3,"), "{csv}");
    let text = table.to_string();
    assert!(
        text.contains("=cmd()\\|a") && !text.contains("<script"),
        "{text}"
    );

    let json = serde_json::to_string(&table).unwrap();
    let read: Table = serde_json::from_str(&json).unwrap();
    assert_eq!(read, table);
}

#[tokio::test]
async fn an_arm_is_picked_by_conditions() {
    let suite = "
problems: [{question: a, answer: b}, {question: c, answer: d}]
arms:
  - {name: half, config: {provider: rules, rules: [], else: b}}
  - {name: none, config: {provider: rules, rules: [], else: x}}
baseline: half
";
    let table = Project::new(suite).table().await;
    let of = |table: &Table, pick: &str| {
        let pick = pick.parse::<Pick>().unwrap();
        pick.choose(table).map(|arm| arm.name.clone())
    };
    let picked = |pick| of(&table, pick);

    assert_eq!(picked("most accuracy").as_deref(), Some("half"));
    assert_eq!(
        picked("accuracy <= 0.2, least tokens").as_deref(),
        Some("none")
    );
    assert_eq!(picked("accuracy >= 0.8"), None);
    let mut part = table.clone();
    part.arms[0].runs.pop();
    assert_eq!(of(&part, "most accuracy").as_deref(), Some("none"));
    assert_eq!(
        picked("accuracy > 0.3 and tokens < 100").as_deref(),
        Some("half")
    );

    let kept: Pick = "difference >= -0.5, p >= 0.05, failure_rate <= 0.1"
        .parse()
        .unwrap();
    assert!(table.arms.iter().all(|arm| kept.allows(arm)));
    for wrong in [
        "",
        "failed <= 1",
        "accuracy",
        "accuracy >= NaN",
        "least luck",
        "luck > 0.5",
    ] {
        assert!(wrong.parse::<Pick>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn runs_are_links_to_their_pages() {
    let suite = "
problems: [{question: a, answer: b}]
arms: [{name: one, config: {provider: rules, rules: [], else: b}}]
";
    let table = Project::new(suite).table().await;
    let link = format!("<a href=\"table-runs/{}\">", table.arms[0].runs[0].page);
    assert!(table.page(Some("table-runs")).contains(&link));
    assert!(!table.page(None).contains("<a "));
}

#[tokio::test]
async fn the_front_has_only_arms_that_no_other_beats() {
    let suite = "
problems: [{question: a, answer: b}, {question: c, answer: d}]
arms:
  - {name: dear, config: {provider: rules, rules: [], else: x, thinking: {type: plan_first}}}
  - {name: cheap, config: {provider: rules, rules: [], else: b}}
";
    let table = Project::new(suite).table().await;
    let html = table.page(None);
    let points = html.split("points=\"").nth(1).unwrap();
    assert!(points.starts_with("316.0,164.0 \""), "{points:.60}");
}

#[tokio::test]
async fn an_arm_without_runs_has_no_accuracy() {
    let suite = "
problems: [{question: a, answer: b, tags: [t]}]
arms:
  - {name: made, config: {provider: rules, rules: [], else: b}}
  - {name: left, config: {provider: rules, rules: [], else: c}}
baseline: made
limits: {calls: 1}
at_once: 1
";
    let table = Project::new(suite).table().await;
    let text = table.to_string();
    assert!(
        text.contains("| accuracy   | 100.0 % (20.7 to 100.0)      |      |"),
        "{text}"
    );
    assert_eq!(
        table.csv().lines().nth(2).unwrap().trim_matches(','),
        "left"
    );
    assert!(table.page(None).contains("<summary>left<"));

    let json = serde_json::to_value(&table.arms[1]).unwrap();
    assert!(json["accuracy"].is_null() && json["interval"].is_null());
    assert_eq!(json["numbers"], serde_json::json!({}));
    let any: Pick = "accuracy_high >= 0".parse().unwrap();
    assert!(any.allows(&table.arms[0]) && !any.allows(&table.arms[1]));
}
