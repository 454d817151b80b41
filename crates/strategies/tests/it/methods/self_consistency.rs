//! Self-consistency: concurrent paths, and the majority vote.

use std::time::Duration;

use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use cogwork_strategies::methods::SelfConsistency;
use cogwork_strategies::{Call, Solver, Solving};
use cogwork_typed::ask::Limits;
use proptest::prelude::*;
use tokio::time::Instant;

use super::support::{ended, kind_of};

const PROBLEM: &str = "How far do three trips of 17 km go?";

fn votes<const N: usize>(answers: [&str; N]) -> ScriptedClient {
    ScriptedClient::new(answers.map(|answer| format!("thought: I reason.\nanswer: {answer}")))
}

fn voting(paths: usize) -> SelfConsistency {
    SelfConsistency {
        paths,
        ..SelfConsistency::default()
    }
}

fn voting_to_the_end(paths: usize) -> SelfConsistency {
    SelfConsistency {
        all_paths: true,
        ..voting(paths)
    }
}

async fn voted(method: SelfConsistency, client: ScriptedClient) -> Solving {
    let solver = Solver::new(client, method);
    solver.solve(PROBLEM).await.unwrap()
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
    let solved = voted(voting_to_the_end(5), client).await;
    assert_eq!(
        (solved.answer(), solved.confidence()),
        (Some("42"), Some(0.6))
    );

    let client = votes(["x = 3\ny = 4", "x = 3\ny = 5", "x = 3\ny = 4"]);
    let solved = voted(voting_to_the_end(3), client).await;
    assert_eq!(solved.answer(), Some("x = 3\ny = 4"));
}

#[tokio::test]
async fn of_as_many_votes_the_earliest_path_has_its_way() {
    let client = votes(["b", "a", "a", "b"]);
    let solved = voted(voting(4), client).await;
    assert_eq!(
        (solved.answer(), solved.confidence()),
        (Some("b"), Some(0.5))
    );

    let told = solved.to_string();
    let tie = "b, with 2 of 4 votes.";
    assert!(told.contains(tie), "{told}");
}

#[tokio::test]
async fn answers_that_mean_the_same_are_one_by_a_rule_of_ones_own_too() {
    let method = SelfConsistency {
        normalisation: |answer| SelfConsistency::normalised(answer).replace(" thousand", "000"),
        ..voting(3)
    };
    let client = votes(["7", "5 thousand", "5,000"]);
    let solved = voted(method, client).await;
    assert_eq!(solved.answer(), Some("5 thousand"));
}

#[tokio::test]
async fn without_a_majority_of_answers_the_run_gives_up_and_without_any_it_fails() {
    let down = || LlmError::new(LlmErrorKind::Transport, "no route to the server");
    let client = (0..4).fold(votes(["51 km"]), |client, _| client.then(down()));
    let solved = voted(voting(5), client).await;
    assert_eq!(
        ended(&solved),
        "given up: 4 of 5 paths gave no answer, so there is no majority: 51 km"
    );
    assert_eq!(solved.confidence(), Some(0.2));

    let solver = Solver::new(ScriptedClient::new(["", "", ""]), voting(3)).with_asks_again(0);
    let error = solver.solve(PROBLEM).await.unwrap_err();
    insta::assert_snapshot!(error, @"stage `reasoning_path_execution`: no reply could be used: line 1: the reply is empty; expected lines with `thought: …`, `answer: …`");
    assert_eq!(error.so_far().unwrap().calls().len(), 3);

    let client = ScriptedClient::default().then(down()).then(down());
    let error = Solver::new(client, voting(2))
        .solve(PROBLEM)
        .await
        .unwrap_err();
    assert_eq!(kind_of(&error), Some(LlmErrorKind::Transport));
}

fn after(seconds: u64, answer: &str) -> ScriptedReply {
    ScriptedReply::from(format!("answer: {answer}")).after(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn paths_take_the_time_of_the_longest_and_less_when_the_majority_is_certain() {
    let timed = async |method: SelfConsistency| {
        let slow = [(10, "a"), (20, "a"), (5, "b"), (15, "a"), (60, "b")];
        let slow = slow.map(|(time, answer)| after(time, answer));
        let begun = Instant::now();
        let solver = Solver::new(ScriptedClient::new(slow), method);
        let solved = solver.solve(PROBLEM).await.unwrap();
        (begun.elapsed().as_secs(), solved)
    };

    let (seconds, solved) = timed(voting_to_the_end(5)).await;
    assert_eq!((seconds, solved.confidence()), (60, Some(0.6)));
    let own = solved.calls().iter().filter_map(|call| match call {
        Call::Model(asked) => Some((asked.log.spent.calls, asked.log.spent.time.as_secs())),
        _ => None,
    });
    let own: Vec<(u32, u64)> = own.collect();
    assert_eq!(own, [(1, 10), (1, 20), (1, 5), (1, 15), (1, 60)]);

    let (seconds, solved) = timed(voting(5)).await;
    assert_eq!((seconds, solved.confidence()), (20, Some(0.75)));
    let told = solved.to_string();
    let collected = "4 of 5 paths gave an answer.";
    assert!(told.contains(collected), "{told}");
}

#[tokio::test]
async fn paths_that_cannot_change_the_majority_are_not_begun() {
    let client = votes(["a"; 9]);
    let solver = Solver::new(client.clone(), voting(9)).with_calls_at_once(1);
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(
        (solved.answer(), solved.confidence()),
        (Some("a"), Some(1.0))
    );
    assert_eq!(client.requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_leaves_the_votes_there_are() {
    let end = async |client: ScriptedClient, paths, limits| {
        let solver = Solver::new(client, voting(paths)).with_limits(limits);
        ended(&solver.solve(PROBLEM).await.unwrap())
    };
    let slow = ScriptedClient::new([after(1, "a"), after(600, "b")]);
    let limits = Limits::default();
    let ends = [
        end(votes(["a", "b", "b"]), 5, limits.with_calls(3)).await,
        end(slow, 2, limits.with_time(Duration::from_secs(60))).await,
        end(votes(["a"]), 5, limits.with_calls(0)).await,
    ];
    insta::assert_snapshot!(ends.join("\n"), @"
    answered: b
    the budget of 60s is spent: a
    the budget of 0 calls is spent: (none)
    ");
}

#[tokio::test]
async fn each_path_has_a_seed_of_its_own() {
    let client = votes(["a", "b", "c"]);
    let request = ChatRequest::default().with_seed(7);
    let solver = Solver::new(client.clone(), voting(3)).with_request(request);
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
        ("‑3", "-3"),
        ("１２３４．５", "1,234.5"),
        ("１，０００", "1000"),
        ("1\u{202f}000\u{a0}km", "1000 km"),
        ("1’000’000", "1000000"),
        ("Cafe\u{301}", "CAFÉ"),
        ("STRASSE", "Straße"),
        ("ﬁve", "five"),
        ("“Paris”", "«paris»"),
        ("„Ja“", "'ja'"),
        ("H₂O", "h2o"),
        ("x²", "x^2"),
        ("10⁻³", "10^-3"),
        ("½", "1/2"),
        ("1½", "1 1/2"),
        ("1000.", "1,000.0"),
        ("(51)", "51"),
        ("(A)", "a"),
        ("Paris (France)", "Paris, France"),
        ("1.10.2024.", "1.10.2024"),
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
        ("–3", "3"),
        ("-3", "+3"),
        ("1.000", "1000"),
        ("1'00", "100"),
        ("1 000", "1000"),
        ("50%", "0.5"),
        ("e", "é"),
        ("(4 + 4) * 3", "4 + 4 * 3"),
        ("(1, 2]", "[1, 2)"),
        ("1.10.2024", "1.1.2024"),
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
