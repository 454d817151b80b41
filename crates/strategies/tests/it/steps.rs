//! The steps of a run: what a killed one repeats, what ends it, and what a changed strategy is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::engine::MemoryJournal;
use cogwork_llm::{ScriptedClient, ScriptedReply};
use cogwork_strategies::{
    Answer, Ask, EndReason, PlannedCall, Solve, SolveError, Solver, Solving, Stop, Strategy,
    StrategyName,
};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::{Limit, Limits};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::strategy;

/// A table with a loop.
fn looping() -> Strategy {
    let stages = "problem: {description: The problem., prompt: State it., next: [round]}
        round: {description: A round., prompt: Go on., next: [round, answer]}
        answer: {description: The answer., prompt: Answer., final: true}";
    strategy("looping", stages)
}

/// Returns tools with one that counts its calls and takes a while.
fn counting(seconds: u64) -> (Tools, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let look = move |input: Value| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let times = input["times"].as_u64().unwrap_or(1);
            tokio::time::sleep(Duration::from_secs(times * seconds)).await;
            Ok("nothing".to_owned())
        }
    };
    let tools = Tools::new().with(function("look", "Looks.", look));
    (tools.unwrap(), calls)
}

fn look(id: &str, times: u64) -> PlannedCall {
    PlannedCall::new(id, "look", json!({ "times": times }))
}

fn only_looks(cx: &mut Solve) -> Result<Answer, Stop> {
    cx.think_problem()?;
    loop {
        cx.call_tools("round", vec![look("again", 1)])?;
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_only_calls_tools_ends_at_the_limit_on_thoughts_and_in_time() {
    let time = Duration::from_secs(10);
    let limits = Limits::default().with_conclude(false);
    for (limits, limit, most) in [
        (limits.with_thoughts(40), Limit::Thoughts(40), 40),
        (limits.with_time(time), Limit::Time(time), 10),
    ] {
        let (tools, calls) = counting(1);
        let solver = Solver::new(ScriptedClient::default(), (looping(), only_looks));
        let solver = solver.with_tools(tools).with_limits(limits);
        let solved = solver.solve("Where is it?").await.unwrap();

        assert_eq!(*solved.end().unwrap(), EndReason::OutOf { limit });
        assert!(calls.load(Ordering::SeqCst) <= most);
        assert!(solved.spent().time <= Duration::from_secs(most as u64));
    }
}

#[tokio::test]
async fn an_empty_answer_is_none() {
    let empty = |cx: &mut Solve| {
        cx.think_problem()?;
        cx.keep("a guess");
        Ok(" ".into())
    };
    let solver = Solver::new(ScriptedClient::default(), (looping(), empty));
    let solved = solver.solve("Where is it?").await.unwrap();

    assert!(!solved.is_answered());
    assert_eq!(solved.answer(), Some("a guess"));
    insta::assert_snapshot!(solved.end().unwrap(), @"given up: the strategy returned an empty answer");
}

/// Asks one question in two words, unless the question is empty.
fn asking(question: &'static str) -> Solver {
    let ask = move |cx: &mut Solve| {
        cx.think_problem()?;
        if question.is_empty() {
            return Ok("nowhere".into());
        }

        let first = cx.ask("round", Ask::new(question))?;
        cx.think("round", &first.text)?;
        let second = cx.ask("answer", Ask::new("And the answer?"))?;
        cx.think("answer", &second.text)?;
        Ok(second.text.into())
    };
    Solver::new(ScriptedClient::new(["here"]), (looping(), ask))
}

#[tokio::test]
async fn a_changed_question_does_not_get_the_old_reply() {
    let error = asking("Where?").solve("Where is it?").await.unwrap_err();
    let so_far = error.so_far().unwrap().clone();
    assert_eq!(so_far.calls().len(), 2);

    let again = async |question: &'static str| {
        let mut solving = so_far.clone();
        let flow = asking(question).into_flow().unwrap();
        match flow.run(&mut solving).await {
            Ok(_) => solving.answer().unwrap().to_owned(),
            Err(error) => SolveError::of_run(error, solving).to_string(),
        }
    };
    assert_eq!(again("Where?").await, "here");
    let changed = [again("When?").await, again("").await].join("\n");
    insta::assert_snapshot!(changed, @"
    stage `round`: `looping` is not deterministic, or was changed: it made `round 89660a3ea3cfb639` before and now makes `round efeab4c904f4cc42` (stage, name and hash of the text); begin a new run
    stage `problem`: `looping` is not deterministic, or was changed: it made `round 89660a3ea3cfb639` before and now makes `no call` (stage, name and hash of the text); begin a new run
    ");
}

/// Runs a solver until it is killed after some seconds, and then again from its journal.
async fn killed_after(seconds: u64, solver: &Solver) -> Solving {
    let flow = solver.clone().into_flow().unwrap();
    let journal = Arc::new(MemoryJournal::new("killed"));
    let mut lost = solver.begin("Where is it?");
    let mut run = flow.begin().with_journal(Arc::clone(&journal));
    let killed = timeout(Duration::from_secs(seconds), run.finish(&mut lost));
    assert!(killed.await.is_err());
    drop(run);

    let mut solving: Solving = solver.begin("Where is it?");
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut solving).await.unwrap();
    solving
}

#[tokio::test(start_paused = true)]
async fn of_a_killed_batch_only_the_calls_without_an_outcome_are_repeated() {
    let (tools, calls) = counting(1);
    let looks = |cx: &mut Solve| {
        cx.think_problem()?;
        let calls = [("a", 1), ("b", 5), ("c", 2)].map(|(id, times)| look(id, times));
        let called = cx.call_tools("round", calls.to_vec())?;
        cx.think("round", format!("{} calls", called.len()))?;
        cx.think("answer", "here")?;
        Ok("here".into())
    };
    let solver = Solver::new(ScriptedClient::default(), (looping(), looks)).with_tools(tools);

    let solved = killed_after(3, &solver).await;
    assert_eq!(solved.answer(), Some("here"));
    assert_eq!(calls.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn of_killed_votes_only_those_without_a_reply_are_repeated() {
    let after = |seconds, answer: &str| {
        let reply = format!("thought: I looked.\nanswer: {answer}");
        ScriptedReply::from(reply).after(Duration::from_secs(seconds))
    };
    // Five paths, of which the second one is lost.
    let client = ScriptedClient::default()
        .then(after(1, "here"))
        .then(after(5, "lost"))
        .then(after(2, "there"))
        .then(after(1, "up"))
        .then(after(1, "down"))
        .then(after(1, "here"));
    let solver = Solver::new(client.clone(), StrategyName::SelfConsistency);

    let solved = killed_after(3, &solver).await;
    assert_eq!(solved.answer(), Some("here"));
    assert_eq!(client.requests().len(), 6);
}
