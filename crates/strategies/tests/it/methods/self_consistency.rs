//! Self-consistency: concurrent paths, and the majority vote.

use std::time::Duration;

use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use cogwork_strategies::{BranchStatus, Limits, SelfConsistency, Solver, StrategyName};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::methods::support::{conversation, told};

const PROBLEM: &str = "How far do three trips of 17 km go?";

fn votes<const N: usize>(answers: [&str; N]) -> ScriptedClient {
    ScriptedClient::new(answers.map(|answer| format!("thought: I reason.\nanswer: {answer}")))
}

#[tokio::test]
async fn what_a_model_adds_after_its_answer_is_not_part_of_the_vote() {
    let client = votes([
        "42\n\nLet me know if you need more.",
        "42",
        "42\n**Confidence:** high",
        "41",
        "41",
    ]);

    let solver = Solver::new(
        client,
        SelfConsistency {
            all_paths: true,
            ..SelfConsistency::default()
        },
    );
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(solved.answer(), Some("42"));
    assert_eq!(solved.confidence(), Some(0.6));
}

#[tokio::test]
async fn an_answer_of_two_lines_is_voted_for_as_a_whole() {
    let client = votes(["x = 3\ny = 4", "x = 3\ny = 5", "x = 3\ny = 4"]);

    let solver = Solver::new(
        client,
        SelfConsistency {
            paths: 3,
            all_paths: true,
            ..SelfConsistency::default()
        },
    );
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(solved.answer(), Some("x = 3\ny = 4"));
}

#[tokio::test]
async fn the_answer_of_the_majority_is_taken() {
    let client = ScriptedClient::new([
        "Thought: 3 * 17 = 51.\nAnswer: 51 km",
        "17 + 17 = 34, and 17 more are 41.\n**Answer:** 41 km",
        "20 * 3 - 9 = 51.\nanswer: **51.0 KM**",
        "answer: 52 km",
        r#"{"thought": "by hand", "answer": "51km."}"#,
    ]);

    let solver = Solver::new(
        client.clone(),
        SelfConsistency {
            all_paths: true,
            ..SelfConsistency::default()
        },
    );
    let solved = solver.solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: How far do three trips of 17 km go?
      2 multiple_path_sampling: 5 paths at a temperature of 0.7. · paths = 5
      3 [path 1] reasoning_path_execution: 3 * 17 = 51. · path_id = path 1
      4 [path 2] reasoning_path_execution: 17 + 17 = 34, and 17 more are 41. · path_id = path 2
      5 [path 3] reasoning_path_execution: 20 * 3 - 9 = 51. · path_id = path 3
      6 [path 4] reasoning_path_execution: 52 km · path_id = path 4
      7 [path 5] reasoning_path_execution: by hand · path_id = path 5
      8 [path 1] answer_collection: 5 of 5 paths gave an answer. · answers = {"path 1":"51 km","path 2":"41 km","path 3":"**51.0 KM**","path 4":"52 km","path 5":"51km."}
      9 [path 1] consistency_analysis: 51 km: 3 (path 1, path 3, path 5); 41 km: 1 (path 2); 52 km: 1 (path 4)
     10 [path 1] majority_selection: 51 km, with 3 of 5 votes.
     11 [path 1] final_response: 51 km
    answer: 51 km (confidence 0.60)
    end: answered
    spent: 5 calls, about 446 tokens
    "#);

    let (first, rest) = client
        .requests()
        .split_first()
        .map(|(one, rest)| (one.clone(), rest.to_vec()))
        .unwrap();

    assert!(rest.iter().all(|other| *other == first));
    assert_eq!(first.temperature(), Some(0.7));
    insta::assert_snapshot!(conversation(&first), @"
    [system] You solve a problem by reasoning step by step, and then give the answer.

    [user] The problem:
    How far do three trips of 17 km go?

    Reason step by step to the answer.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    answer: the answer alone, as short as can be, with its unit if it has one (a text)
    ");

    // The paths are branches, and they are all parents of the thought with the answers.
    let session = solved.trace().session();
    let collected = session
        .thoughts()
        .iter()
        .find(|thought| thought.stage() == "answer_collection")
        .unwrap();

    let parents: Vec<_> = collected
        .parents()
        .map(|parent| session.thought(parent).unwrap().text())
        .collect();
    assert_eq!(parents.len(), 5);
    assert_eq!(
        parents[..2],
        ["3 * 17 = 51.", "17 + 17 = 34, and 17 more are 41."]
    );
    let merged = session
        .branches()
        .iter()
        .filter(|branch| matches!(branch.status(), BranchStatus::Merged(_)));

    assert_eq!(merged.count(), 4);
}

#[tokio::test]
async fn of_as_many_votes_the_earliest_path_has_its_way() {
    let solver = |client| {
        Solver::new(
            client,
            SelfConsistency {
                paths: 4,
                ..SelfConsistency::default()
            },
        )
    };
    let solved = solver(votes(["b", "a", "a", "b"]))
        .solve(PROBLEM)
        .await
        .unwrap();
    let text = told(&solved);
    assert!(text.contains("majority_selection: b, with 2 of 4 votes; 2 answers have as many, and this one came on the earliest path."), "{text}");
    assert_eq!(
        (solved.answer(), solved.confidence()),
        (Some("b"), Some(0.5))
    );
}

#[tokio::test]
async fn answers_that_mean_the_same_are_one_by_a_rule_of_ones_own_too() {
    let thousands = |answer: &str| SelfConsistency::normalised(answer).replace(" thousand", "000");
    let driver = SelfConsistency {
        paths: 3,
        normalisation: thousands,
        ..SelfConsistency::default()
    };
    let solved = Solver::new(votes(["7", "5 thousand", "5,000"]), driver)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("5 thousand"));
}

#[tokio::test]
async fn a_lost_path_is_a_lost_vote_and_its_branch_says_why() {
    let long = format!("answer: {}", "word ".repeat(400));
    let client = ScriptedClient::new(["thought: a\nanswer: 51".to_owned()])
        .then(LlmError::new(LlmErrorKind::Server, "overloaded"))
        .then(long.as_str())
        .then("answer: 51");
    let solver = Solver::new(
        client,
        SelfConsistency {
            paths: 4,
            all_paths: true,
            ..SelfConsistency::default()
        },
    )
    .with_asks_again(0);

    let solved = solver.solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: How far do three trips of 17 km go?
      2 multiple_path_sampling: 4 paths at a temperature of 0.7. · paths = 4
      3 [path 1] reasoning_path_execution: a · path_id = path 1
      4 [path 2] reasoning_path_execution: No answer: server: overloaded · path_id = path 2
      5 [path 3] reasoning_path_execution: No answer: no reply could be used: `answer` has 1 lines and 1999 characters, expected the answer alone, of at most 3 lines and 1000 characters · path_id = path 3
      6 [path 4] reasoning_path_execution: 51 · path_id = path 4
      7 [path 1] answer_collection: 2 of 4 paths gave an answer. Lost: 2. · answers = {"path 1":"51","path 4":"51"}
      8 [path 1] consistency_analysis: 51: 2 (path 1, path 4)
      9 [path 1] majority_selection: 51, with 2 of 4 votes.
     10 [path 1] final_response: 51
    answer: 51 (confidence 0.50)
    end: answered
    spent: 4 calls, about 751 tokens
    "#);
}

#[tokio::test]
async fn when_all_paths_are_lost_the_run_fails() {
    let client = ScriptedClient::new(["", "", ""]);
    let solver = Solver::new(
        client,
        SelfConsistency {
            paths: 3,
            ..SelfConsistency::default()
        },
    )
    .with_asks_again(0);
    let error = solver.solve(PROBLEM).await.unwrap_err();
    insta::assert_snapshot!(error, @"stage `reasoning_path_execution`: no reply could be used: line 1: the reply is empty; expected lines with `thought: …`, `answer: …`");
    assert!(error.is_unreadable());
    assert_eq!(error.so_far().unwrap().calls().len(), 3);

    let quota = || LlmError::new(LlmErrorKind::Quota, "no money");
    let client = ScriptedClient::default().then(quota()).then(quota());
    let error = Solver::new(
        client,
        SelfConsistency {
            paths: 2,
            ..SelfConsistency::default()
        },
    )
    .solve(PROBLEM)
    .await
    .unwrap_err();
    assert_eq!(
        error.client_error().map(LlmError::kind),
        Some(LlmErrorKind::Quota)
    );
}

fn after(seconds: u64, answer: &str) -> ScriptedReply {
    ScriptedReply::from(format!("answer: {answer}")).after(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn paths_take_the_time_of_the_longest_and_less_when_the_majority_is_certain() {
    let client = || {
        let slow = [(10, "a"), (20, "a"), (5, "b"), (15, "a"), (60, "b")];
        slow.into_iter()
            .fold(ScriptedClient::default(), |client, (time, answer)| {
                client.then(after(time, answer))
            })
    };

    let begun = Instant::now();
    let solved = Solver::new(
        client(),
        SelfConsistency {
            all_paths: true,
            ..SelfConsistency::default()
        },
    )
    .solve(PROBLEM)
    .await
    .unwrap();
    assert_eq!(
        (begun.elapsed().as_secs(), solved.confidence()),
        (60, Some(0.6))
    );

    let begun = Instant::now();
    let solved = Solver::new(client(), SelfConsistency::default())
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(begun.elapsed().as_secs(), 20);
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: How far do three trips of 17 km go?
      2 multiple_path_sampling: 5 paths at a temperature of 0.7. · paths = 5
      3 [path 1] reasoning_path_execution: a · path_id = path 1
      4 [path 2] reasoning_path_execution: a · path_id = path 2
      5 [path 3] reasoning_path_execution: b · path_id = path 3
      6 [path 4] reasoning_path_execution: a · path_id = path 4
      7 [path 1] answer_collection: 4 of 5 paths gave an answer. Not needed any more: 1. · answers = {"path 1":"a","path 2":"a","path 3":"b","path 4":"a"}
      8 [path 1] consistency_analysis: a: 3 (path 1, path 2, path 4); b: 1 (path 3)
      9 [path 1] majority_selection: a, with 3 of 4 votes.
     10 [path 1] final_response: a
    answer: a (confidence 0.75)
    end: answered
    spent: 5 calls, about 332 tokens
    "#);
}

#[tokio::test]
async fn paths_that_cannot_change_the_majority_are_not_begun() {
    let client = votes(["a"; 9]);
    let solver = Solver::new(
        client.clone(),
        SelfConsistency {
            paths: 9,
            ..SelfConsistency::default()
        },
    )
    .with_calls_at_once(1);
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(
        (
            solved.answer(),
            solved.confidence(),
            client.requests().len()
        ),
        (Some("a"), Some(1.0), 5)
    );
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_leaves_the_votes_there_are() {
    let solver = Solver::new(votes(["a", "b", "b"]), SelfConsistency::default())
        .with_limits(Limits::default().with_calls(3));
    let solved = solver.solve(PROBLEM).await.unwrap();

    // All answers exist, and no further call is needed.
    assert_eq!(
        (solved.answer(), solved.end().to_string().as_str()),
        (Some("b"), "answered")
    );
    assert_eq!(solved.confidence(), Some(2.0 / 5.0));

    let client = ScriptedClient::default()
        .then(after(1, "a"))
        .then(after(600, "b"));
    let budget = Limits::default().with_time(Duration::from_secs(60));
    let solver = Solver::new(
        client,
        SelfConsistency {
            paths: 2,
            ..SelfConsistency::default()
        },
    )
    .with_limits(budget);
    let solved = solver.solve(PROBLEM).await.unwrap();

    assert_eq!(
        (solved.answer(), solved.end().to_string().as_str()),
        (Some("a"), "the budget of 60s is spent")
    );

    let solver = Solver::new(votes(["a"]), StrategyName::SelfConsistency)
        .with_limits(Limits::default().with_calls(0));
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(
        (solved.answer(), solved.end().to_string().as_str()),
        (None, "the budget of 0 calls is spent")
    );
}

#[tokio::test]
async fn each_path_has_a_seed_of_its_own() {
    let client = votes(["a", "b", "c"]);
    let solver = Solver::new(
        client.clone(),
        SelfConsistency {
            paths: 3,
            ..SelfConsistency::default()
        },
    )
    .with_request(ChatRequest::default().with_seed(7));
    solver.solve(PROBLEM).await.unwrap();
    let seeds: Vec<_> = client.requests().iter().map(ChatRequest::seed).collect();

    assert_eq!(seeds, [Some(7), Some(8), Some(9)]);
}

#[test]
fn answers_are_compared_by_what_they_say() {
    let form = SelfConsistency::normalised;
    let same = [
        ("Paris", " **paris**. "),
        ("1,000", "1000.0"),
        ("5km", "5 KM"),
        ("$5$", "5"),
        (r"\boxed{12}", "12"),
        ("The answer is 51.", "51"),
        ("-3", "−3.0"),
        ("007", "7"),
        (".5", "0.50"),
        ("50%", "50 %"),
        ("Paris, France", "paris france"),
        ("2 × 3", "2 * 3"),
        ("3-5", "3 - 5"),
        ("3–5", "3-5"),
        ("–3", "-3"),
        ("‑3", "-3"),
        ("＋５", "5"),
        ("１２３４．５", "1,234.5"),
        ("１，０００", "1000"),
        ("1\u{202f}000\u{a0}km", "1000 km"),
        ("1’000’000", "1000000"),
        ("٤٢", "42"),
        ("５０％", "50 percent"),
        ("Cafe\u{301}", "CAFÉ"),
        ("STRASSE", "Straße"),
        ("ΟΔΟΣ", "οδος"),
        ("ﬁve", "five"),
        ("“Paris”", "«paris»"),
        ("„Ja“", "'ja'"),
        ("5㎞", "5 km"),
        ("H₂O", "h2o"),
        ("x²", "x^2"),
        ("10⁻³", "10^-3"),
        ("½", "1/2"),
        ("1½", "1 1/2"),
        ("2×3", "2·3"),
        ("1000.", "1,000.0"),
    ];

    for (one, other) in same {
        assert_eq!(form(one), form(other), "{one} and {other}");
    }

    let different = [
        ("5 km", "5 m"),
        ("$5", "5"),
        ("50%", "50"),
        ("-3", "3"),
        ("1,2", "12"),
        ("1/2", "1.2"),
        ("3.30", "3:30"),
        ("C#", "C"),
        ("10", "100"),
        ("12345678901234567890", "12345678901234567891"),
        ("?", "!"),
        ("10²", "102"),
        ("1½", "11/2"),
        ("–3", "3"),
        ("-3", "+3"),
        ("1.000", "1000"),
        ("1,00", "100"),
        ("1'00", "100"),
        ("1 000", "1000"),
        ("50%", "0.5"),
        ("e", "é"),
        ("π", "p"),
        ("٤", "٢"),
    ];

    for (one, other) in different {
        assert_ne!(form(one), form(other), "{one} and {other}");
    }
}

proptest! {
    #[test]
    fn any_answer_has_a_form_and_the_form_is_its_own(answer in ".{0,60}") {
        // One character of a ligature may stand for several words.
        let form = SelfConsistency::normalised(&answer);
        prop_assert!(answer.trim().is_empty() || !form.is_empty());
        prop_assert!(form.len() <= answer.len() * 24 + 1);
    }

    #[test]
    fn a_number_is_itself_however_it_is_written(number in -1_000_000_000i64..1_000_000_000) {
        let digits = number.unsigned_abs().to_string();
        let groups: Vec<String> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned()).collect();
        let sign = if number < 0 { "-" } else { "" };
        prop_assert_eq!(SelfConsistency::normalised(&format!("{sign}{}.00", groups.join(","))), number.to_string());
    }
}

#[tokio::test]
async fn a_vote_of_few_is_no_majority() {
    let down = || LlmError::new(LlmErrorKind::Transport, "no route to the server");
    let client = (0..4).fold(votes(["51 km"]), |client, _| client.then(down()));
    let solved = Solver::new(client, SelfConsistency::default())
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(
        solved.end().to_string(),
        "given up: 4 of 5 paths gave no answer, so there is no majority"
    );
    assert_eq!(
        (solved.answer(), solved.confidence()),
        (Some("51 km"), Some(0.2))
    );
}
