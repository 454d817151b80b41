//! Observers of runs, also next to channels of events.

use std::sync::{Arc, Mutex};

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::watch::{
    Event, EventKind, EventSink, Observer, events, is_followed, is_watched, note, note_growth,
    report_from, report_growth,
};
use cogwork_flow::{Flow, from_fn};

#[derive(Default)]
struct Seen {
    lines: Mutex<Vec<String>>,
    follows_growth: bool,
}

impl Observer for Seen {
    fn run_started(&self, run: &str, flow: &FlowGraph) {
        let line = format!("{run} of {} at {}", flow.name, flow.start);
        self.lines.lock().unwrap().push(line);
    }

    fn event(&self, event: &Event) {
        if !matches!(event.kind, EventKind::PhaseFinished { .. }) {
            self.lines.lock().unwrap().push(event.to_string());
        }
    }

    fn follows_growth(&self) -> bool {
        self.follows_growth
    }
}

/// Notes and reports, and returns how many of its closures were called.
fn talk(calls: &mut u32) {
    note(|| count(calls, "noted".to_owned()));
    note_growth(|| count(calls, "not".to_owned()));
    report_from("scales", || count(calls, 2));
    report_growth("scales", || count(calls, 3));
}

fn count<T>(calls: &mut u32, value: T) -> T {
    *calls += 1;
    value
}

fn talking() -> Flow<u32> {
    Flow::from_node("talk", from_fn(talk)).unwrap()
}

#[tokio::test]
async fn an_observer_and_two_channels_get_the_same_events() {
    let flow = talking();
    let seen = Arc::new(Seen::default());
    let (first, mut first_events) = events(100);
    let (second, mut second_events) = events(100);

    let run = flow.begin().with_id("r").with_events(first);
    let run = run.with_events(EventSink::new(Arc::clone(&seen)));
    let mut run = run.with_events(second);
    run.finish(&mut 0).await.unwrap();
    drop(run);

    let lines = seen.lines.lock().unwrap().clone();
    insta::assert_snapshot!(lines.join("\n"), @r"
    r of talk at talk
    r: started
    r: talk/talk#1 entered
    r: talk/talk#1 noted: noted
    r: talk/talk#1 reported 2
    r: talk/talk#1 ended on `default` after 1 step in all
    ");

    let mut of_channels = Vec::new();
    while let Some(event) = first_events.next().await {
        assert_eq!(second_events.next().await.as_ref(), Some(&event));
        of_channels.push(event.to_string());
    }
    assert!(second_events.next().await.is_none());

    // The channels also have what grows.
    let growth = ["noted: not", "reported 3"];
    of_channels.retain(|line| {
        !line.contains("finished") && !growth.iter().any(|grown| line.ends_with(grown))
    });
    assert_eq!(of_channels, lines[1..]);
}

#[tokio::test]
async fn only_followers_get_what_grows() {
    let flow = talking();

    for follows_growth in [false, true] {
        let seen = Arc::new(Seen {
            follows_growth,
            ..Seen::default()
        });
        let sink = EventSink::new(Arc::clone(&seen));
        let mut calls = 0;
        let mut run = flow.begin().with_events(sink);
        run.finish(&mut calls).await.unwrap();

        assert_eq!(calls, if follows_growth { 4 } else { 2 });
        let lines = seen.lines.lock().unwrap();
        let grown = lines.iter().any(|line| line.ends_with("reported 3"));
        assert_eq!(grown, follows_growth);
    }
}

#[tokio::test]
async fn nothing_is_prepared_for_a_run_that_no_one_watches() {
    let mut calls = 0;
    talking().run(&mut calls).await.unwrap();
    assert_eq!(calls, 0);

    let look = from_fn(|state: &mut [bool; 2]| *state = [is_watched(), is_followed()]);
    let flow = Flow::from_node("look", look).unwrap();
    let mut state = [true; 2];
    flow.run(&mut state).await.unwrap();
    assert_eq!(state, [false, false]);

    let sink = EventSink::new(Arc::new(Seen::default()));
    flow.begin()
        .with_events(sink)
        .finish(&mut state)
        .await
        .unwrap();
    assert_eq!(state, [true, false]);

    let (sink, _events) = events(100);
    flow.begin()
        .with_events(sink)
        .finish(&mut state)
        .await
        .unwrap();
    assert_eq!(state, [true, true]);
}
