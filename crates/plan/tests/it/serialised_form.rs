//! The form a plan is written in, and what is taken when it is read.

use cogwork_plan::{Plan, Status, Step, format_plan_for_prompt};

fn sample() -> Plan {
    Plan::from(vec![
        Step::done("Understand the problem", "24 times 27"),
        Step::pending("Multiply").with_sub_steps([
            Step::done("Multiply the tens", "480"),
            Step::verification_needed("Multiply the ones", "168 was guessed"),
        ]),
        Step::pending("Conclusion"),
    ])
}

#[test]
fn yaml_has_the_keys_of_the_design_and_leaves_out_what_is_empty() {
    insta::assert_snapshot!(serde_yaml::to_string(&sample()).unwrap(), @r"
    - description: Understand the problem
      status: Done
      result: 24 times 27
    - description: Multiply
      status: Pending
      sub_steps:
      - description: Multiply the tens
        status: Done
        result: '480'
      - description: Multiply the ones
        status: Verification Needed
        mark: 168 was guessed
    - description: Conclusion
      status: Pending
    ");
}

#[test]
fn json_has_the_same_keys() {
    let yaml = serde_yaml::to_string(&sample()).unwrap();
    let from_yaml: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(serde_json::to_value(sample()).unwrap(), from_yaml);
}

#[test]
fn the_prompt_has_the_form_that_is_serialised_and_quotes_what_yaml_would_misread() {
    insta::assert_snapshot!(format_plan_for_prompt(&sample()), @r#"
    - description: Understand the problem
      status: Done
      result: "24 times 27"
    - description: Multiply
      status: Pending
      sub_steps:
      - description: Multiply the tens
        status: Done
        result: "480"
      - description: Multiply the ones
        status: Verification Needed
        mark: "168 was guessed"
    - description: Conclusion
      status: Pending
    "#);

    let odd = Plan::from(vec![
        Step::done("Rule: never guess #1", "null"),
        Step::done("two\nlines", "say \"no\" \\ \u{1b}[31m"),
        Step::verification_needed("Größe × 2 = 4?", ""),
        Step::pending("Yes"),
    ]);

    insta::assert_snapshot!(format_plan_for_prompt(&odd), @r#"
    - description: "Rule: never guess #1"
      status: Done
      result: "null"
    - description: "two\nlines"
      status: Done
      result: "say \"no\" \\ \u001B[31m"
    - description: Größe × 2 = 4?
      status: Verification Needed
      mark: ""
    - description: "Yes"
      status: Pending
    "#);

    assert_eq!(format_plan_for_prompt(&Plan::new()), "[]");
}

#[test]
fn what_may_be_missing_is_empty_or_pending() {
    let expected = Plan::from(vec![Step::pending("Add")]);
    for text in [
        "- description: Add",
        "- {description: Add, status: Pending, result: null, mark: ~, sub_steps: []}",
    ] {
        let read: Plan = serde_yaml::from_str(text).unwrap();
        assert_eq!(read, expected, "{text}");
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    let told = [
        "- description: Add\n  status: Someday",
        "- description: Add\n  reslut: 600",
        "- description: Add\n  status: Done\n  status: Pending",
        "- status: Done",
        "Add, then multiply",
        "- Add\n- Multiply",
    ];
    let told = told.map(|text| serde_yaml::from_str::<Plan>(text).unwrap_err().to_string());
    insta::assert_snapshot!(told.join("\n"), @r#"
    .[0].status: unknown variant `Someday`, expected one of `In Progress`, `Pending`, `in_progress`, `Completed`, `Done`, `Finished`, `completed`, `Needs Verification`, `Verification Needed` at line 2 column 11
    .[0]: unknown field `reslut`, expected one of `description`, `status`, `result`, `mark`, `sub_steps` at line 2 column 3
    .[0]: duplicate field `status` at line 1 column 3
    .[0]: missing field `description` at line 1 column 3
    invalid type: string "Add, then multiply", expected a sequence
    .[0]: invalid type: string "Add", expected a plan step with a description at line 1 column 3
    "#);
}

#[test]
fn yaml_numbers_and_truth_values_are_read_as_they_stand() {
    for scalar in [
        "42", "65.50", "1e3", "0x1F", "007", "-0", ".inf", "true", "No", "1_000", "12:30",
    ] {
        let text = format!(
            "- description: {scalar}\n  status: Done\n  result: {scalar}\n  mark: {scalar}"
        );
        let plan: Plan = serde_yaml::from_str(&text).unwrap();
        let step = &plan.steps()[0];
        assert_eq!(step.description, scalar);
        assert_eq!(step.result.as_deref(), Some(scalar));
        assert_eq!(step.mark.as_deref(), Some(scalar));
    }
}

#[test]
fn a_step_alone_is_written_and_read_too() {
    let step = Step::pending("Multiply").with_sub_steps([Step::done("Tens", "600")]);
    let text = serde_yaml::to_string(&step).unwrap();
    assert_eq!(serde_yaml::from_str::<Step>(&text).unwrap(), step);
}

#[test]
fn a_status_and_a_path_are_texts() {
    let status = serde_json::to_value(Status::VerificationNeeded).unwrap();
    assert_eq!(status, "Verification Needed");
    let plan = Plan::from(vec![
        Step::done("Multiply", "600").with_sub_steps([Step::pending("Tens")]),
    ]);
    let (path, _) = plan.first_pending().unwrap();
    assert_eq!(serde_json::to_value(&path).unwrap(), "1.1");
}
