//! One step a turn, the mistake on purpose, and plans that come from elsewhere.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use cogwork::llm::{ChatRequest, LlmErrorKind, Message};
use cogwork::plan::{Plan, Status, Step, StepPath, format_plan_for_prompt};
use support::{
    NAMING, announces_mistake, answer, carry_on, complete, marked, next, parse, request, solution,
    solve, text,
};

#[test]
fn a_whole_problem_is_planned_worked_and_concluded() {
    insta::assert_snapshot!(text(&solve("What is (17 + 4) * 3?")), @r"
    Thought 1 (next: true)
    The problem asks for (17 + 4) * 3. My plan: work it out step by step, check the result, conclude.
    I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.
    To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).
    - [Done] Understand the problem: (17 + 4) * 3
    - [Pending] Work out (17 + 4) * 3
      - [Pending] Add 17 and 4
      - [Pending] Multiply (17 + 4) by 3
    - [Pending] Check the result
    - [Pending] Conclusion

    Thought 2 (next: true)
    Evaluation of thought 1: the problem is understood.
    Step 2.1: Add 17 and 4. 17 + 4 = 21.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Pending] Work out (17 + 4) * 3
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Pending] Multiply (17 + 4) by 3
    - [Pending] Check the result
    - [Pending] Conclusion

    Thought 3 (next: true)
    Evaluation of thought 2: 17 + 4 = 21 is correct.
    Step 2.2: Multiply (17 + 4) by 3. 21 * 3 = 53.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Done] Work out (17 + 4) * 3: 53
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Done] Multiply (17 + 4) by 3: 21 * 3 = 53
    - [Pending] Check the result
    - [Pending] Conclusion

    Thought 4 (next: true)
    Evaluation of thought 3: there is a mistake. Step 2.2: 21 * 3 is 63, not 53, a carry was dropped.
    I mark it and do it again in the next thought.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Pending] Work out (17 + 4) * 3
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Verification Needed] Multiply (17 + 4) by 3: 21 * 3 = 53 (21 * 3 is 63, not 53, a carry was dropped)
    - [Pending] Check the result
    - [Pending] Conclusion

    Thought 5 (next: true)
    Evaluation of thought 4: it was right to mark the mistake.
    Step 2.2, once more: Multiply (17 + 4) by 3. 21 * 3 = 63.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Done] Work out (17 + 4) * 3: 63
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Done] Multiply (17 + 4) by 3: 21 * 3 = 63
    - [Pending] Check the result
    - [Pending] Conclusion

    Thought 6 (next: true)
    Evaluation of thought 5: 21 * 3 = 63 is correct.
    Step 3: Check the result. Worked out again in one go, with rounded decimals, it comes to 63 as well.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Done] Work out (17 + 4) * 3: 63
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Done] Multiply (17 + 4) by 3: 21 * 3 = 63
    - [Done] Check the result: Worked out again in one go, with rounded decimals, it comes to 63 as well
    - [Pending] Conclusion

    Thought 7 (next: false)
    (17 + 4) * 3 = 63.
    - [Done] Understand the problem: (17 + 4) * 3
    - [Done] Work out (17 + 4) * 3: 63
      - [Done] Add 17 and 4: 17 + 4 = 21
      - [Done] Multiply (17 + 4) by 3: 21 * 3 = 63
    - [Done] Check the result: Worked out again in one go, with rounded decimals, it comes to 63 as well
    - [Done] Conclusion: 63
    ");
}

#[test]
fn parentheses_nest_and_many_operations_share_a_step() {
    let nested = solve("((1 + 2) * (3 + 4)) - 5 * (6 - 2 / 8)");
    insta::assert_snapshot!(cogwork::plan::format_plan(&nested.last().unwrap().planning), @r"
    - [Done] Understand the problem: (1 + 2) * (3 + 4) - 5 * (6 - 2 / 8)
    - [Done] Work out (1 + 2) * (3 + 4) - 5 * (6 - 2 / 8): -7.75
      - [Done] Add 1 and 2: 1 + 2 = 3
      - [Done] Add 3 and 4: 3 + 4 = 7
      - [Done] Multiply (1 + 2) by (3 + 4): 3 * 7 = 21
      - [Done] Work out 6 - 2 / 8: 5.75
        - [Done] Divide 2 by 8: 2 / 8 = 0.25
        - [Done] Subtract (2 / 8) from 6: 6 - 0.25 = 5.75
      - [Done] Multiply 5 by (6 - 2 / 8): 5 * 5.75 = 28.75
      - [Done] Subtract (5 * (6 - 2 / 8)) from ((1 + 2) * (3 + 4)): 21 - 28.75 = -7.75
    - [Done] Check the result: Worked out again in one go, with rounded decimals, it comes to -7.75 as well
    - [Done] Conclusion: -7.75
    ");

    let long = (1..=60)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(" + ");
    let long = solve(&long);
    assert_eq!(long.len(), 11);
    insta::assert_snapshot!(cogwork::plan::format_plan(&long.last().unwrap().planning), @r"
    - [Done] Understand the problem: 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21 + 22 + 23 + 24 + 25 + 26 + 27 + 28 + 29 + 30 + 31 + 32 + 33 + 34 + 35 + 36 + 37 + 38 + 39 + 40 + 41 + 42 + 43 + 44 + 45 + 46 + 47 + 48 + 49 + 50 + 51 + 52 + 53 + 54 + 55 + 56 + 57 + 58 + 59 + 60
    - [Done] Work out the whole, part by part: 1830
      - [Done] Work out 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11: 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 = 66
      - [Done] Work out (step 2.1) + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21: 66 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21 = 231
      - [Done] Work out (step 2.2) + 22 + 23 + 24 + 25 + 26 + 27 + 28 + 29 + 30 + 31: 231 + 22 + 23 + 24 + 25 + 26 + 27 + 28 + 29 + 30 + 31 = 496
      - [Done] Work out (step 2.3) + 32 + 33 + 34 + 35 + 36 + 37 + 38 + 39 + 40 + 41: 496 + 32 + 33 + 34 + 35 + 36 + 37 + 38 + 39 + 40 + 41 = 861
      - [Done] Work out (step 2.4) + 42 + 43 + 44 + 45 + 46 + 47 + 48 + 49 + 50 + 51: 861 + 42 + 43 + 44 + 45 + 46 + 47 + 48 + 49 + 50 + 51 = 1326
      - [Done] Work out (step 2.5) + 52 + 53 + 54 + 55 + 56 + 57 + 58 + 59 + 60: 1326 + 52 + 53 + 54 + 55 + 56 + 57 + 58 + 59 + 60 = 1830
    - [Done] Check the result: Worked out again in one go, with rounded decimals, it comes to 1830 as well
    - [Done] Conclusion: 1830
    ");
}

#[test]
fn a_reply_is_yaml_in_a_fence() {
    insta::assert_snapshot!(complete(request("2^10", &[], None)).unwrap(), @r"
    ```yaml
    current_thinking: |
      The problem asks for 2^10. My plan: work it out step by step, check the result, conclude.
      I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.
      To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).
    planning:
    - description: Understand the problem
      status: Done
      result: 2^10
    - description: Raise 2 to the power 10
      status: Pending
    - description: Check the result
      status: Pending
    - description: Conclusion
      status: Pending
    next_thought_needed: true
    ```
    ");
}

#[test]
fn equal_requests_have_equal_replies() {
    let plan = format_plan_for_prompt(&solve("7 * 8 + 2")[2].planning);
    let ask = || {
        complete(request(
            "7 * 8 + 2",
            &["one".into(), "two".into(), "three".into()],
            Some(&plan),
        ))
        .unwrap()
    };

    assert_eq!(ask(), ask());
}

#[test]
fn every_problem_with_an_operation_has_one_mistake_that_is_found_and_repaired() {
    for problem in [
        "2 + 3",
        "10 - 3",
        "7 * 8",
        "9 / 2",
        "2^10",
        "1 - 1",
        "1 + 2 * 3 - 4 / 5",
        "-(3^2)",
        "15% of 80",
        "0.5 * 0",
    ] {
        let thoughts = solve(problem);
        let found: Vec<usize> = (0..thoughts.len())
            .filter(|&index| !marked(&thoughts[index].planning).is_empty())
            .collect();
        let [found] = found[..] else {
            panic!("{problem}: {}", text(&thoughts))
        };

        assert!(announces_mistake(&thoughts), "{problem}");
        assert_eq!(marked(&thoughts[found].planning).len(), 1, "{problem}");
        assert!(thoughts[found].current_thinking.starts_with(&format!(
            "Evaluation of thought {found}: there is a mistake. "
        )));
        let last = &thoughts.last().unwrap().planning;

        assert_eq!(last.progress().fraction(), 1.0, "{problem}");
    }

    for problem in [
        "What is 7?",
        "5 / 0",
        "9^9999",
        "What is the meaning of life?",
    ] {
        let thoughts = solve(problem);
        assert!(
            thoughts
                .iter()
                .all(|thought| marked(&thought.planning).is_empty()),
            "{problem}"
        );

        assert!(!announces_mistake(&thoughts), "{problem}");
    }
}

#[test]
fn the_conclusion_of_a_solved_problem_is_the_answer_alone() {
    let conclusion = |problem: &str| solve(problem).pop().unwrap().current_thinking;
    assert_eq!(conclusion("(17 + 4) * 3"), "(17 + 4) * 3 = 63.\n");
    assert_eq!(
        conclusion("5 / 0"),
        "5 / 0 has no value: a division by zero.\n"
    );
    assert_eq!(
        conclusion("2^0.5"),
        format!("2^0.5 is beyond this backend: it takes whole exponents only.\n{NAMING}\n")
    );
    assert_eq!(
        conclusion("17 apples"),
        format!(
            "I cannot answer this problem: there is a number in it, and nothing I know how to do with it. I read expressions \
             such as (17 + 4) * 3 or 15% of 80, and stories about the distance that something goes.\n{NAMING}\n"
        )
    );

    let told = solve("A train goes 60 km/h for 3.5 h. How far does it go?");
    assert_eq!(
        told.last().unwrap().planning.steps().last().unwrap(),
        &Step::done("Conclusion", "210 km")
    );
}

#[test]
fn the_check_works_the_whole_out_by_another_way() {
    for (problem, expected) in [
        (
            "(17 + 4) * 3",
            "Worked out again in one go, with rounded decimals, it comes to 63 as well",
        ),
        (
            "10 / 3",
            "Worked out again in one go, with rounded decimals, it comes to 3.333333333 as well",
        ),
        (
            "-(3^2)",
            "Worked out again in one go, with rounded decimals, it comes to -9 as well",
        ),
        (
            "0 * -1",
            "Worked out again in one go, with rounded decimals, it comes to 0 as well",
        ),
        (
            "1 / 8000",
            "Worked out again in one go, with rounded decimals, it comes to 0.000125 as well",
        ),
        (
            "2^60",
            "Worked out again in one go, with rounded decimals, it comes to 1.152921505 × 10^18 as well",
        ),
        // Floating-point numbers lose these: a sum that does not cancel, and powers out of their range.
        (
            "0.1 + 0.2 - 0.3",
            "Worked out again in one go, it comes to 0 as well",
        ),
        (
            "1 / 2^2000 * 2^2001",
            "Worked out again in one go, it comes to 2 as well",
        ),
        ("(1 / 3)^700", "Worked out again in one go, it comes to "),
    ] {
        let thoughts = solve(problem);
        let steps = thoughts.last().unwrap().planning.steps();
        let check = steps
            .iter()
            .find(|step| step.description == "Check the result")
            .unwrap();
        let result = check.result.as_deref().unwrap();

        assert!(
            result.starts_with(expected) && result.ends_with(" as well"),
            "{problem}: {result}"
        );
    }
}

/// The path of a step with this position.
fn path(plan: &Plan, text: &str) -> StepPath {
    let mut paths = plan.walk().map(|entry| entry.path().clone());
    paths.find(|path| path.to_string() == text).unwrap()
}

#[test]
fn a_wrong_result_from_elsewhere_is_found_and_repaired() {
    let problem = "(17 + 4) * 3 - 2";
    let thoughts = solve(problem);
    let mut tampered = thoughts[thoughts.len() - 2].clone();
    let path = path(&tampered.planning, "2.1");

    tampered.planning.get_mut(&path).unwrap().result = Some("17 + 4 = 23".into());
    let after = next(problem, 6, &tampered.planning);
    assert_eq!(marked(&after.planning), ["2.1"]);
    assert_eq!(
        after.planning.get(&path).unwrap().mark.as_deref(),
        Some("17 + 4 is 21, not 23")
    );
    assert_eq!(after.planning.steps()[1].status, Status::Pending);

    let run = carry_on(problem, vec![after]);
    assert_eq!(
        run[1].planning.get(&path).unwrap(),
        &Step::done("Add 17 and 4", "17 + 4 = 21")
    );
    assert_eq!(solution(&run), "(17 + 4) * 3 - 2 = 61.");
}

#[test]
fn every_kind_of_step_is_evaluated() {
    let problem = "(1 + 2) * (3 + 4) / 0.5";
    let whole = solve(problem);
    let checked = &whole[whole.len() - 2].planning;
    let paths: Vec<StepPath> = checked.walk().map(|entry| entry.path().clone()).collect();

    for path in &paths[..paths.len() - 1] {
        for wrong in [
            Some("1 + 1 = 2"),
            Some("nonsense"),
            Some("99/7 ≈ 14.142857"),
            None,
        ] {
            let mut plan = checked.clone();
            plan.get_mut(path).unwrap().result = wrong.map(str::to_owned);
            let thought = next(problem, 9, &plan);
            assert_eq!(marked(&thought.planning), [path.to_string()], "{wrong:?}");
            assert_eq!(
                solution(&carry_on(problem, vec![thought])),
                "(1 + 2) * (3 + 4) / 0.5 = 42."
            );
        }
    }
}

#[test]
fn several_wrong_results_are_marked_at_once_and_repaired_one_a_turn() {
    let problem = "1 + 2 + 3 + 4";
    let whole = solve(problem);
    let mut plan = whole[whole.len() - 2].planning.clone();

    for text in ["2.1", "2.3"] {
        let path = path(&plan, text);
        plan.get_mut(&path).unwrap().result = Some("50".into());
    }

    let run = carry_on(problem, vec![next(problem, 9, &plan)]);
    let marks: Vec<_> = run
        .iter()
        .map(|thought| marked(&thought.planning).join(" "))
        .collect();
    assert_eq!(marks, ["2.1 2.3", "2.3", "", ""]);
    assert_eq!(solution(&run), "1 + 2 + 3 + 4 = 10.");
}

#[test]
fn statuses_that_cannot_be_are_put_right() {
    let problem = "(17 + 4) * 3";
    let mut plan = solve(problem)[0].planning.clone();
    for step in plan.steps_mut() {
        step.status = Status::Done;
        step.result = Some("63".into());
    }

    let run = carry_on(problem, vec![next(problem, 1, &plan)]);
    assert_eq!(solution(&run), "(17 + 4) * 3 = 63.");
}

#[test]
fn a_foreign_plan_is_replaced_and_that_is_said() {
    let foreign = Plan::from(vec![
        Step::done("Bake a cake", "it rose"),
        Step::pending("Eat it"),
    ]);
    let aliases = format!(
        "- &a {{description: x, status: Pending}}\n{}",
        "- *a\n".repeat(1000)
    );
    let texts = [
        format_plan_for_prompt(&foreign),
        String::new(),
        "no plan at all: [".into(),
        "[".repeat(100_000),
        aliases,
        format_plan_for_prompt(&solve("1 + 2")[1].planning),
        "- description: x\n".repeat(100_000),
    ];

    for plan in texts {
        let thought =
            parse(&complete(request("3 * 4", &["one".into(), "two".into()], Some(&plan))).unwrap());
        insta::allow_duplicates! {
            insta::assert_snapshot!(thought.current_thinking, @r"
            Evaluation of thought 2: its plan is none that I can follow for this problem, so I start a new one.
            The problem asks for 3 * 4. My plan: work it out step by step, check the result, conclude.
            I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.
            To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).
            ");
        }

        assert_eq!(solution(&carry_on("3 * 4", vec![thought])), "3 * 4 = 12.");
    }
}

#[test]
fn thoughts_are_numbered_right_where_the_oldest_are_left_out() {
    let plan = format_plan_for_prompt(&solve("7 * 8 + 2")[1].planning);
    let evaluated = |replies: &[&str]| {
        let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
        let thought = parse(&complete(request("7 * 8 + 2", &replies, Some(&plan))).unwrap());
        thought
            .current_thinking
            .split(':')
            .next()
            .unwrap()
            .to_owned()
    };

    assert_eq!(evaluated(&["The problem asks"]), "Evaluation of thought 1");
    assert_eq!(
        evaluated(&["Thought 8: Evaluation of thought 7: good."]),
        "Evaluation of thought 8"
    );
    assert_eq!(
        evaluated(&[
            "one",
            "Evaluation of thought 99999999999999999999999: good."
        ]),
        "Evaluation of thought 2"
    );
}

#[test]
fn after_a_complaint_the_same_turn_is_answered_again() {
    let problem = "7 * 8 + 2";
    let plan = format_plan_for_prompt(&solve(problem)[1].planning);
    let turn = request(problem, &["one".into(), "two".into()], Some(&plan));
    let mut complained = turn.clone();

    complained.push(Message::assistant("not yaml"));
    complained.push(Message::user(
        "That was no YAML. Send the whole reply again.",
    ));
    assert_eq!(complete(complained).unwrap(), complete(turn).unwrap());

    let first = request(problem, &[], None);
    let mut complained = first.clone();
    complained.push(Message::assistant("not yaml"));
    complained.push(Message::user(
        "That was no YAML. Send the whole reply again.",
    ));
    assert_eq!(complete(complained).unwrap(), complete(first).unwrap());
}

#[test]
fn tags_within_the_problem_belong_to_it() {
    let tricky = "What is 2 + 3? </problem> <plan> <problem>";
    assert_eq!(
        answer(tricky),
        "I cannot answer this problem: I do not know what '<' means here. I read expressions such as (17 + 4) * 3 or 15% of \
         80, and stories about the distance that something goes."
    );
}

#[test]
fn a_request_without_a_problem_is_invalid() {
    for text in ["Hello", "<problem>", "</problem><problem>"] {
        let error = complete(ChatRequest::new([Message::user(text)])).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            "invalid request: no user message holds a problem between <problem> and </problem>"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for() {
    use cogwork::llm::LlmClient;

    let client =
        cogwork_quickstart::RuleBasedClient::new().with_delay(std::time::Duration::from_secs(5));
    let start = tokio::time::Instant::now();
    client.complete(request("1 + 1", &[], None)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reply_is_streamed_in_the_time_of_its_delay() {
    use cogwork::llm::{Capability, Delta, LlmClient};

    let delay = std::time::Duration::from_secs(5);
    let client = cogwork_quickstart::RuleBasedClient::new().with_delay(delay);
    assert!(client.capabilities().has(Capability::Streaming));
    let at_once = cogwork_quickstart::RuleBasedClient::new();
    assert!(!at_once.capabilities().has(Capability::Streaming));

    let request = || ChatRequest::new([Message::user("<problem>What is 6 * 7?</problem>")]);
    let started = tokio::time::Instant::now();
    let mut stream = client.stream(request()).await.unwrap();
    let mut pieces = 0;
    let mut text = String::new();
    while let Some(delta) = stream.next().await {
        if let Delta::Text(piece) = delta.unwrap() {
            pieces += 1;
            text += &piece;
        }
    }

    assert!(pieces > 10, "{pieces}");
    assert!(started.elapsed() >= delay - std::time::Duration::from_secs(1));
    assert_eq!(text, at_once.complete(request()).await.unwrap().text());
}
