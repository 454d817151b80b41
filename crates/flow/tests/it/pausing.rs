//! A run that waits for a person costs nothing while it waits, and does nothing again because of
//! it.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use cogwork_flow::journal::{Entry, Journal, MemoryJournal};
use cogwork_flow::{
    Action, BoxError, Branches, CancellationToken, Each, Flow, Node, Paused, Phase, Run, Wait,
    events, from_phases,
};
use insta::assert_snapshot;
use lines::Lines;
use tokio::time::{Instant, advance, sleep};

type Notes = Vec<String>;

/// Counts its calls, and notes its name.
fn note(name: &'static str, calls: &Arc<AtomicUsize>) -> impl Node<Notes> + use<> {
    let calls = Arc::clone(calls);
    from_phases(
        |_: &mut Notes| (),
        move |()| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, BoxError>(name.to_owned()) }
        },
        |notes, _, name| notes.push(name),
    )
}

fn ask(event: &str) -> Wait<Notes> {
    Wait::for_event(event, |notes: &mut Notes, answer: String| {
        notes.push(answer)
    })
}

/// Work, a question, work.
fn asking(wait: Wait<Notes>, calls: &Arc<AtomicUsize>) -> Flow<Notes> {
    Flow::builder("paper")
        .start("write")
        .node("write", note("written", calls))
        .wait("review", wait)
        .node("print", note("printed", calls))
        .edge("write", "default", "review")
        .edge("review", "default", "print")
        .end("print", "default")
        .build()
        .unwrap()
}

async fn pauses<S>(run: &mut Run<'_, S>, state: &mut S) -> Paused {
    run.finish(state).await.unwrap_err().into_paused().unwrap()
}

#[tokio::test]
async fn a_pause_says_where_why_and_for_what() {
    let calls = Arc::default();
    let flow = asking(
        ask("word").with_reason(|notes| format!("{} note waits", notes.len())),
        &calls,
    );
    for journaled in [false, true] {
        let run = flow.begin();
        let mut run = if journaled {
            run.with_journal(MemoryJournal::new("r"))
        } else {
            run
        };
        let mut notes = vec![];

        let paused = pauses(&mut run, &mut notes).await;
        assert_eq!(
            paused.to_string(),
            "paused at paper/review#2 for the event `word`: 1 note waits"
        );
        assert_eq!(
            (paused.event.as_str(), paused.why.as_str(), paused.until),
            ("word", "1 note waits", None)
        );
        assert_eq!(
            (paused.step.node.as_str(), run.node(), run.steps()),
            ("review", Some("review"), 1)
        );

        let made = calls.load(Ordering::SeqCst);
        for _ in 0..3 {
            assert_eq!(
                pauses(&mut run, &mut notes).await,
                paused,
                "it stays where it is"
            );

            let error = run.step(&mut notes).await.unwrap_err();
            assert_eq!(error.paused(), Some(&paused), "a step pauses the same way");
            assert_eq!(error.into_paused().unwrap(), paused);
        }

        assert_eq!((calls.load(Ordering::SeqCst), run.steps()), (made, 1));
        run.deliver("word", &"good").await.unwrap();
        assert_eq!(run.finish(&mut notes).await.unwrap().steps, 3);
        assert_eq!(notes, ["written", "good", "printed"]);
    }

    assert_eq!(calls.load(Ordering::SeqCst), 4, "two in each run");
}

#[tokio::test]
async fn a_pause_outlives_the_process() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = asking(ask("word"), &calls);
    pauses(&mut flow.begin().with_journal(lines.journal()), &mut vec![]).await;
    pauses(&mut flow.begin().with_journal(lines.journal()), &mut vec![]).await;
    flow.begin()
        .with_journal(lines.journal())
        .deliver("word", &"good")
        .await
        .unwrap();

    for _ in 0..2 {
        let mut notes = vec![];
        flow.begin()
            .with_journal(lines.journal())
            .finish(&mut notes)
            .await
            .unwrap();

        assert_eq!(notes, ["written", "good", "printed"]);
    }

    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert_snapshot!(lines.text(), @r#"
    {"began":{"state":"ebace08056ba607cebace08056ba607c"}}
    {"outcome":{"step":"paper/write#1","outcome":"written"}}
    {"waiting":{"step":"paper/review#2","event":"word","until":null}}
    {"answer":{"event":"word","answer":"good"}}
    {"taken":{"step":"paper/review#2","event":"word"}}
    {"outcome":{"step":"paper/print#3","outcome":"printed"}}
    {"ended":{"action":"default","steps":3}}
    "#);
}

#[tokio::test]
async fn finish_says_that_the_run_pauses() {
    let flow = asking(
        ask("word").with_reason(|_| "who\nreads it?".to_owned()),
        &Arc::default(),
    );
    let error = flow.run(&mut vec![]).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run waits for the event `word`: who reads it?");
    assert_eq!(error.paused().unwrap().event, "word");
    assert_eq!(
        (error.is_journal(), error.is_panic(), error.phase()),
        (false, false, None)
    );
}

/// Asks until the answer is the last one.
fn interview() -> Flow<Notes> {
    let next = Wait::for_event("answer", |notes: &mut Notes, answer: String| {
        let action = Action::from_static(if answer == "that is all" {
            "done"
        } else {
            "next"
        });

        notes.push(answer);
        action
    });
    Flow::builder("interview")
        .start("ask")
        .wait("ask", next.with_actions(["next", "done"]))
        .edge("ask", "next", "ask")
        .end("ask", "done")
        .build()
        .unwrap()
}

#[tokio::test]
async fn answers_are_taken_once_and_the_oldest_first() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let flow = interview();
        let mut notes = vec![];
        let run = flow.begin();
        let mut run = if journaled {
            run.with_journal(lines.journal())
        } else {
            run
        };

        run.deliver("answer", &"one").await.unwrap();
        run.deliver("answer", &"two").await.unwrap();
        assert_eq!(pauses(&mut run, &mut notes).await.step.number, 3);
        assert_eq!(
            notes,
            ["one", "two"],
            "answers may come before the run asks"
        );

        run.deliver("answer", &"one").await.unwrap();
        assert_eq!(pauses(&mut run, &mut notes).await.step.number, 4);
        run.deliver("answer", &"that is all").await.unwrap();
        run.deliver("answer", &"too late").await.unwrap();
        assert_eq!(run.finish(&mut notes).await.unwrap().steps, 4);
        assert_eq!(notes, ["one", "two", "one", "that is all"]);
    }

    let mut notes = vec![];
    interview()
        .begin()
        .with_journal(lines.journal())
        .finish(&mut notes)
        .await
        .unwrap();

    assert_eq!(notes, ["one", "two", "one", "that is all"]);
}

#[tokio::test]
async fn a_wait_in_a_subflow_pauses_the_whole_run() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = Flow::builder("journal")
        .start("paper")
        .subflow("paper", asking(ask("word"), &calls), |notes: &mut Notes| {
            notes
        })
        .node("post", note("posted", &calls))
        .edge("paper", "default", "post")
        .end("post", "default")
        .build()
        .unwrap();

    let paused = pauses(&mut flow.begin().with_journal(lines.journal()), &mut vec![]).await;
    assert_eq!(paused.step.to_string(), "journal/paper/review#2");
    let mut run = flow.begin().with_journal(lines.journal());
    let mut notes = vec![];
    run.deliver("word", &"good").await.unwrap();
    run.finish(&mut notes).await.unwrap();
    assert_eq!(notes, ["written", "good", "printed", "posted"]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);

    let mut run = flow.begin();
    let mut notes = vec![];
    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    run.finish(&mut notes).await.unwrap();
    assert_eq!(
        notes,
        ["written", "good", "printed", "posted"],
        "without a journal too"
    );
}

#[tokio::test]
async fn an_event_that_nobody_waits_for_is_refused() {
    let flow = asking(ask("word"), &Arc::default());
    let run = flow.begin();
    let error = run.deliver("wrod", &"good").await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `write`: no node waits for the event `wrod`; the flow waits for `word`");

    let flow = Flow::builder("f")
        .start("n")
        .node("n", note("n", &Arc::default()))
        .end("n", "default");
    let error = flow
        .build()
        .unwrap()
        .begin()
        .deliver("word", &"good")
        .await
        .unwrap_err();

    assert_snapshot!(error, @"flow `f`, node `n`: no node waits for the event `word`; the flow waits for none");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_refused_and_another_may_come() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let flow = asking(ask("word"), &Arc::default());
        let mut notes = vec![];
        let run = flow.begin();
        let mut run = if journaled {
            run.with_journal(lines.journal())
        } else {
            run
        };

        run.deliver("word", &7).await.unwrap();
        let error = run.finish(&mut notes).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "flow `paper`, node `review`: exec failed: the event `word`: the answer cannot be read: invalid type: integer `7`, expected a string at line 1 column 1"
        );
        assert_eq!(
            (error.is_journal(), error.phase()),
            (false, Some(Phase::Exec))
        );
        pauses(&mut run, &mut notes).await;
        run.deliver("word", &"good").await.unwrap();
        run.finish(&mut notes).await.unwrap();
        assert_eq!(notes, ["written", "good", "printed"]);
    }

    let mut notes = vec![];
    let flow = asking(ask("word"), &Arc::default());
    flow.begin()
        .with_journal(lines.journal())
        .finish(&mut notes)
        .await
        .unwrap();

    assert_eq!(
        notes,
        ["written", "good", "printed"],
        "a replay does not see the refused answer"
    );
}

#[tokio::test]
async fn answers_have_a_size_and_a_number() {
    let flow = interview();
    let lines = Lines::default();
    let run = flow
        .begin()
        .with_max_outcome(6)
        .with_journal(lines.journal());
    let error = run.deliver("answer", &"12345").await.unwrap_err();
    assert_snapshot!(error, @"flow `interview`, node `ask`: the journal failed: the outcome is larger than the 6 bytes that may be recorded");

    for _ in 0..1000 {
        run.deliver("answer", &"1234").await.unwrap();
    }

    let error = run.deliver("answer", &"1234").await.unwrap_err();
    assert_snapshot!(error, @"flow `interview`, node `ask`: the journal failed: there already are 1000 unused answers to `answer`");
    assert_eq!(lines.all().len(), 1000, "what is refused is not on record");
    let mut notes = vec![];

    pauses(&mut flow.begin().with_journal(lines.journal()), &mut notes).await;
    assert_eq!(notes.len(), 1000);
}

fn in_time(limit: u64) -> Flow<Notes> {
    Flow::builder("paper")
        .start("review")
        .wait(
            "review",
            ask("word").with_timeout(Duration::from_secs(limit)),
        )
        .end("review", "default")
        .end("review", Action::TIMED_OUT)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_that_passes_leaves_by_its_own_action() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let flow = in_time(60);
        let mut notes = vec![];
        let run = flow.begin();
        let mut run = if journaled {
            run.with_journal(lines.journal())
        } else {
            run
        };

        let began = pauses(&mut run, &mut notes).await.until.unwrap();
        advance(Duration::from_secs(59)).await;
        assert_eq!(
            pauses(&mut run, &mut notes).await.until.unwrap(),
            began,
            "counted from the first time"
        );

        advance(Duration::from_secs(1)).await;
        assert_eq!(
            run.finish(&mut notes).await.unwrap().action,
            Action::TIMED_OUT
        );
        assert_eq!(notes, [""; 0]);
    }

    let flow = in_time(60);
    let run = flow.begin().with_journal(lines.journal());
    run.deliver("word", &"good").await.unwrap();
    let ended = flow
        .begin()
        .with_journal(lines.journal())
        .finish(&mut vec![])
        .await
        .unwrap();

    assert_eq!(
        ended.action,
        Action::TIMED_OUT,
        "that it was too late is on record"
    );
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_goes_on_while_the_program_does_not_run() {
    let flow = in_time(3600);
    let lines = Lines::default();
    let began = SystemTime::now();
    let journal = |passed| {
        lines
            .journal()
            .with_time(began + Duration::from_secs(passed))
    };

    let until = pauses(&mut flow.begin().with_journal(journal(0)), &mut vec![])
        .await
        .until
        .unwrap();
    let limit = (began + Duration::from_secs(3600))
        .duration_since(until)
        .unwrap();
    assert!(
        limit < Duration::from_millis(1),
        "the record counts in milliseconds"
    );
    assert_eq!(
        pauses(&mut flow.begin().with_journal(journal(3599)), &mut vec![])
            .await
            .until,
        Some(until)
    );

    let ended = flow
        .begin()
        .with_journal(journal(3601))
        .finish(&mut vec![])
        .await
        .unwrap();

    assert_eq!(ended.action, Action::TIMED_OUT);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_used() {
    let flow = in_time(60);
    let mut notes = vec![];
    let mut run = flow.begin();
    pauses(&mut run, &mut notes).await;
    advance(Duration::from_secs(59)).await;
    run.deliver("word", &"good").await.unwrap();
    assert_eq!(
        (run.finish(&mut notes).await.unwrap().action, notes),
        (Action::DEFAULT, vec!["good".to_owned()])
    );

    let flow = in_time(u64::MAX);
    let until = pauses(&mut flow.begin(), &mut vec![]).await.until;
    assert!(
        until.unwrap() > SystemTime::now() + Duration::from_secs(100 * 365 * 86_400),
        "a limit past all time"
    );
}

/// Each item asks for a word of its own kind, between two pieces of work.
fn pages(calls: &Arc<AtomicUsize>) -> Flow<Vec<Notes>> {
    let each = Each::at_most(
        9,
        asking(ask("word"), calls),
        |all: &Vec<Notes>| all.clone(),
        |all, done| *all = done,
    );
    Flow::builder("pages")
        .start("page")
        .each("page", each)
        .end("page", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn items_wait_at_once_and_the_others_go_to_their_ends() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = pages(&calls);
    let all = || vec![Notes::new(); 3];
    let mut run = flow.begin().with_journal(lines.journal());
    let first = pauses(&mut run, &mut all()).await;

    assert_eq!(first.step.to_string(), "pages/page#1[0]/review#2");
    assert_eq!(
        calls.load(Ordering::SeqCst),
        3,
        "each has done what it could"
    );

    assert_eq!(run.steps(), 0, "what is not whole does not count");

    run.deliver("word", &"one").await.unwrap();
    let second = pauses(&mut run, &mut all()).await;
    assert_eq!(second.step.to_string(), "pages/page#1[1]/review#2");
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    run.deliver("word", &"two").await.unwrap();
    run.deliver("word", &"three").await.unwrap();

    let mut done = all();
    assert_eq!(
        run.with_max_steps(10)
            .finish(&mut done)
            .await
            .unwrap()
            .steps,
        10,
        "pauses use up no steps"
    );

    assert_eq!(calls.load(Ordering::SeqCst), 6);
    assert_eq!(
        done.iter()
            .map(|notes| notes[1].as_str())
            .collect::<Vec<_>>(),
        ["one", "two", "three"]
    );

    let mut replayed = all();
    flow.begin()
        .with_journal(lines.journal())
        .finish(&mut replayed)
        .await
        .unwrap();

    assert_eq!((replayed, calls.load(Ordering::SeqCst)), (done, 6));
}

/// A question in each branch, the second one with a time limit, and a third branch that asks
/// nothing.
fn committee(calls: &Arc<AtomicUsize>) -> Flow<Notes> {
    let question = |name: &str, wait: Wait<Notes>, limited: bool| {
        let flow = Flow::builder(name)
            .start("work")
            .node("work", note("worked", calls))
            .wait("ask", wait)
            .edge("work", "default", "ask")
            .end("ask", "default");
        if limited {
            flow.end("ask", Action::TIMED_OUT)
        } else {
            flow
        }
        .build()
        .unwrap()
    };

    let ada = question("ada", ask("ada"), false);
    let bob = question(
        "bob",
        ask("bob").with_timeout(Duration::from_secs(60)),
        true,
    );
    let work = Flow::builder("w")
        .start("work")
        .node("work", note("idle", calls))
        .end("work", "default");
    let join = |notes: &mut Notes, part: Notes| notes.extend(part);
    let branches = Branches::new()
        .branch("ada", ada, |_: &Notes| vec![], join)
        .branch("bob", bob, |_: &Notes| vec![], join)
        .branch("idle", work.build().unwrap(), |_: &Notes| vec![], join);

    Flow::builder("committee")
        .start("ask")
        .branches("ask", branches)
        .end("ask", "default")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn branches_are_answered_in_any_order() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = committee(&calls);
    let mut run = flow.begin().with_journal(lines.journal());
    let first = pauses(&mut run, &mut vec![]).await;

    assert_eq!(
        (first.step.to_string().as_str(), first.event.as_str()),
        ("committee/ask#1[ada]/ask#2", "ada")
    );
    assert_snapshot!(first, @"paused at committee/ask#1[ada]/ask#2 for the event `ada`, and for one more");
    let [bob] = first.also.as_slice() else {
        panic!("{first:?}")
    };

    assert_eq!(bob.event, "bob");
    assert!(
        first.until.is_none() && bob.until.is_some(),
        "each has its own"
    );
    run.deliver("bob", &"no").await.unwrap();
    let again = pauses(&mut run, &mut vec![]).await;

    assert_eq!((again.event.as_str(), again.until), ("ada", None));
    run.deliver("ada", &"yes").await.unwrap();
    let mut notes = vec![];
    run.finish(&mut notes).await.unwrap();
    assert_eq!(notes, ["worked", "yes", "worked", "no", "idle"]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_branch_passes_while_another_waits() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = committee(&calls);
    let mut run = flow.begin().with_journal(lines.journal());
    pauses(&mut run, &mut vec![]).await;
    advance(Duration::from_secs(61)).await;
    assert_eq!(pauses(&mut run, &mut vec![]).await.until, None);
    run.deliver("bob", &"too late").await.unwrap();
    run.deliver("ada", &"yes").await.unwrap();

    let mut notes = vec![];
    run.finish(&mut notes).await.unwrap();
    assert_eq!(notes, ["worked", "yes", "worked", "idle"]);
}

#[tokio::test]
async fn without_a_journal_items_and_branches_cannot_wait_or_sleep() {
    let calls = Arc::default();
    let error = pages(&calls).run(&mut vec![vec![]]).await.unwrap_err();
    assert_snapshot!(error, @"flow `pages/page[0]`, node `review`: a wait inside items or branches needs a journal; give the run one with `Run::with_journal`");
    assert!(!error.is_journal());

    let nap = Flow::builder("nap")
        .start("nap")
        .sleep("nap", |_: &Notes| Duration::ZERO)
        .end("nap", "default");
    let branches = Branches::new().branch("nap", nap.build().unwrap(), Notes::clone, |_, _| ());
    let flow = Flow::builder("f")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default")
        .build()
        .unwrap();

    let error = flow.run(&mut vec![]).await.unwrap_err();
    assert_snapshot!(error, @"flow `f/fork/nap`, node `nap`: a sleep inside items or branches needs a journal; give the run one with `Run::with_journal`");
    flow.begin()
        .with_journal(MemoryJournal::new("r"))
        .finish(&mut vec![])
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_pause_and_the_limits_of_a_run() {
    let flow = asking(ask("word"), &Arc::default());
    let mut notes = vec![];
    let error = flow
        .begin()
        .with_max_steps(1)
        .finish(&mut notes)
        .await
        .unwrap_err();

    assert!(
        error.is_step_limit() && error.paused().is_none(),
        "a run that may not step does not wait either"
    );
    assert_eq!(error.node(), "review");

    let text = error.to_string();
    let unchanged = error.into_paused().unwrap_err();
    assert!(unchanged.is_step_limit());
    assert_eq!(unchanged.to_string(), text);

    let start = Instant::now();
    let token = CancellationToken::new();
    let mut notes = vec![];
    let mut run = flow
        .begin()
        .with_deadline(start + Duration::from_secs(10))
        .with_cancellation(token.clone());
    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    advance(Duration::from_secs(11)).await;

    let error = run.finish(&mut notes).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run reached its deadline at this node");
    let mut run = run.with_deadline(start + Duration::from_secs(20));
    token.cancel();

    let error = run.finish(&mut notes).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run was cancelled at this node");
    run.with_cancellation(CancellationToken::new())
        .finish(&mut notes)
        .await
        .unwrap();
    assert_eq!(
        notes,
        ["written", "good", "printed"],
        "the answer is not lost"
    );
}

#[tokio::test]
async fn those_who_watch_are_told_of_the_pause() {
    let (sink, mut told) = events(100);
    let flow = asking(
        ask("word").with_reason(|_| "is it good?".to_owned()),
        &Arc::default(),
    );
    let mut run = flow.begin().with_id("r").with_events(sink);
    let mut notes = vec![];
    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    run.finish(&mut notes).await.unwrap();
    drop(run);

    let mut lines = Vec::new();
    while let Some(event) = told.next().await {
        let line = event.to_string();
        if !line.contains("finished") {
            lines.push(line);
        }
    }

    assert_snapshot!(lines.join("\n"), @r"
    r: started
    r: paper/write#1 entered
    r: paper/write#1 moved on `default` to review
    r: paper/review#2 entered
    r: paused at paper/review#2 for the event `word`: is it good?
    r: paper/review#2 entered
    r: paper/review#2 moved on `default` to print
    r: paper/print#3 entered
    r: paper/print#3 ended on `default` after 3 steps in all
    ");
}

#[tokio::test]
async fn an_answer_that_the_closure_refuses_stays_with_its_step() {
    let lines = Lines::default();
    let picky = Wait::for_event("word", |notes: &mut Notes, word: String| {
        match word.as_str() {
            "good" => Err(format!("cannot use {word} after {} notes", notes.len()).into()),
            _ => Ok(()),
        }
    });

    let flow = asking(picky, &Arc::default());
    for journaled in [false, true] {
        let run = flow.begin();
        let mut run = if journaled {
            run.with_journal(lines.journal())
        } else {
            run
        };
        let mut notes = vec![];

        run.deliver("word", &"good").await.unwrap();
        run.deliver("word", &"other").await.unwrap();
        for _ in 0..2 {
            let error = run.finish(&mut notes).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "flow `paper`, node `review`: post failed: cannot use good after 1 notes"
            );
        }
    }

    // A new version of the program can: the answer is on record as taken by this step.
    let mut notes = vec![];
    asking(ask("word"), &Arc::default())
        .begin()
        .with_journal(lines.journal())
        .finish(&mut notes)
        .await
        .unwrap();

    assert_eq!(notes, ["written", "good", "printed"]);
}

fn napping(seconds: u64) -> Flow<u32> {
    Flow::builder("nap")
        .start("nap")
        .sleep("nap", move |_| Duration::from_secs(seconds))
        .end("nap", "default")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_is_dropped_sleeps_for_what_is_left() {
    let flow = napping(100);
    let lines = Lines::default();
    for journaled in [false, true] {
        let run = flow.begin();
        let start = Instant::now();
        let mut run = if journaled {
            run.with_journal(lines.journal())
        } else {
            run
        };

        assert!(
            tokio::time::timeout(Duration::from_secs(40), run.finish(&mut 0))
                .await
                .is_err()
        );

        assert_eq!(run.steps(), 0);
        run.finish(&mut 0).await.unwrap();
        let took = start.elapsed();
        assert!(
            took >= Duration::from_secs(100) && took < Duration::from_millis(100_100),
            "{took:?}"
        );
    }

    let start = Instant::now();
    flow.begin()
        .with_journal(lines.journal())
        .finish(&mut 0)
        .await
        .unwrap();

    assert!(
        start.elapsed() < Duration::from_millis(100),
        "that time is over in a replay"
    );
}

#[tokio::test(start_paused = true)]
async fn a_sleep_goes_on_while_the_program_does_not_run() {
    let flow = napping(100);
    let lines = Lines::default();
    let start = Instant::now();
    let mut run = flow.begin().with_journal(lines.journal());
    assert!(
        tokio::time::timeout(Duration::from_secs(40), run.finish(&mut 0))
            .await
            .is_err()
    );

    sleep(Duration::from_secs(10)).await;
    flow.begin()
        .with_journal(lines.journal())
        .finish(&mut 0)
        .await
        .unwrap();

    let took = start.elapsed();
    assert!(
        took >= Duration::from_secs(99) && took < Duration::from_secs(101),
        "{took:?}"
    );
    let sleeps = lines
        .all()
        .iter()
        .filter(|line| matches!(line, Entry::Sleep { .. }))
        .count();

    assert_eq!(sleeps, 1);
}

#[tokio::test(start_paused = true)]
async fn the_longest_sleep_is_taken_as_it_is() {
    let flow = napping(u64::MAX);
    let mut run = flow.begin();
    assert!(
        tokio::time::timeout(Duration::from_secs(1 << 20), run.finish(&mut 0))
            .await
            .is_err()
    );
}

/// The program keeps a pointer to the journal, so that an answer can come in the middle of a step.
#[tokio::test(start_paused = true)]
async fn an_answer_may_come_while_the_run_is_being_stepped() {
    let slow = from_phases(
        |_: &mut String| (),
        |()| async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok::<_, std::io::Error>(())
        },
        |_, _, ()| (),
    );

    let ask = Wait::for_event("word", |text: &mut String, word: String| {
        text.push_str(&word)
    });
    let flow = Flow::builder("f")
        .start("slow")
        .node("slow", slow)
        .wait("ask", ask)
        .edge("slow", Action::DEFAULT, "ask")
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap();

    let journal = std::sync::Arc::new(MemoryJournal::new("r"));
    let mut run = flow.begin().with_journal(std::sync::Arc::clone(&journal));
    let mut text = String::new();
    let answer = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        journal.deliver("word", b"\"now\"".to_vec()).await
    };
    let (ended, delivered) = tokio::join!(run.finish(&mut text), answer);

    delivered.unwrap();
    ended.unwrap();
    assert_eq!(text, "now");
}

#[tokio::test]
async fn an_answer_after_the_end_is_refused() {
    let flow = asking(ask("word"), &Arc::default());
    let mut run = flow.begin().with_journal(MemoryJournal::new("r"));
    let mut notes = vec![];

    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    run.finish(&mut notes).await.unwrap();

    let refused = run.deliver("word", &"better").await.unwrap_err();
    assert_snapshot!(refused, @"flow `paper`: the run has ended, so nothing waits for the event `word`");
}
