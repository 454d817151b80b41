//! The way of runs on the drawing of their flow.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_flow::journal::MemoryJournal;
use cogwork_flow::{
    Action, Branches, Each, Event, Events, Flow, Visits, Wait, events, from_fn, from_phases,
};
use insta::assert_snapshot;

async fn counted(visits: &mut Visits, told: &mut Events) {
    while let Some(event) = told.next().await {
        visits.count(&event);
    }
}

/// Counts up to a number, and fails where it is 13.
fn count(up_to: u32) -> Flow<u32> {
    let node = from_phases(
        |n: &mut u32| *n,
        |n| async move {
            if n == 12 {
                Err("13 is unlucky")
            } else {
                Ok(n + 1)
            }
        },
        move |n, _, next| {
            *n = next;
            Action::from_static(if next < up_to { "again" } else { "enough" })
        },
    );

    let node = node.with_actions(["again", "enough", "never"]);
    Flow::builder("count")
        .start("up")
        .node("up", node)
        .edge("up", "again", "up")
        .end("up", "enough")
        .edge("up", "never", "nowhere")
        .node("nowhere", from_fn(|_: &mut u32| ()))
        .end("nowhere", "default")
        .build()
        .unwrap()
}

fn everything() -> Flow<Vec<u32>> {
    let each = Each::at_most(
        2,
        count(3),
        |all: &Vec<u32>| all.clone(),
        |all, done| *all = done,
    );

    let branches = Branches::new()
        .branch(
            "left",
            count(4),
            |all: &Vec<u32>| all.len() as u32,
            |all, left| all.push(left),
        )
        .branch("right", count(5), |_| 4, |all, right| all.push(right));

    let wait = Wait::for_event("approval", |_: &mut Vec<u32>, yes: bool| {
        Action::from_static(if yes { "yes" } else { "no" })
    });
    Flow::builder("everything")
        .start("sub")
        .subflow("sub", count(2), |all: &mut Vec<u32>| {
            all.first_mut().unwrap()
        })
        .edge("sub", "enough", "each")
        .edge("sub", "default", "each")
        .each("each", each)
        .edge("each", "default", "fork")
        .branches("fork", branches)
        .edge("fork", "default", "ask")
        .wait("ask", wait.with_actions(["yes", "no"]))
        .edge("ask", "no", "sub")
        .end("ask", "yes")
        .build()
        .unwrap()
}

/// Two runs: one goes round twice and ends, the other waits.
#[tokio::test]
async fn runs_are_summed_under_the_places_they_visited() {
    let flow = everything();
    let mut visits = Visits::of(&flow);
    let (sink, mut told) = events(1_000);
    let mut run = flow.begin().with_id("a").with_events(sink.clone());

    run.deliver("approval", &false).await.unwrap();
    run.deliver("approval", &true).await.unwrap();
    run.finish(&mut vec![0, 1, 2]).await.unwrap();
    drop(run);
    flow.begin()
        .with_id("b")
        .with_events(sink)
        .finish(&mut vec![0, 1, 2])
        .await
        .unwrap_err();

    counted(&mut visits, &mut told).await;
    assert_snapshot!("visits_as_mermaid", visits.mermaid());
}

#[tokio::test]
async fn the_node_that_failed_is_marked_inside_items_too() {
    let flow = everything();
    let mut visits = Visits::of(&flow);
    let (sink, mut told) = events(1_000);
    let mut run = flow.begin().with_events(sink);
    let mut state = vec![0, 12];

    run.finish(&mut state).await.unwrap_err();
    drop(run);
    counted(&mut visits, &mut told).await;
    let drawing = visits.mermaid().to_string();
    let marked = |line: &&str| {
        line.contains("failed") || line.contains("class ") || line.contains("subgraph")
    };
    let marked: Vec<_> = drawing.lines().filter(marked).collect();

    assert_snapshot!(marked.join("\n"), @r#"
    classDef failed stroke:#c00,stroke-width:4px
    subgraph n0["sub"]
        class n5 unvisited
    subgraph n1["each: each item, at most 2 at a time, 1×"]
        n6["up<br/>2×<br/>failed here"]
        class n6 failed
        class n7 unvisited
    subgraph n2["fork: side by side"]
        subgraph n8["left"]
            class n10 unvisited
            class n11 unvisited
        class n8 unvisited
        subgraph n9["right"]
            class n12 unvisited
            class n13 unvisited
        class n9 unvisited
    class n2 unvisited
    class n3 unvisited
    "#);
}

/// A run that is continued is no longer paused.
#[tokio::test]
async fn where_a_run_paused_is_marked_until_it_goes_on() {
    let flow = everything();
    let mut visits = Visits::of(&flow);
    let (sink, mut told) = events(1_000);
    let mut state = vec![0];
    let mut run = flow.begin().with_events(sink);

    run.finish(&mut state).await.unwrap_err();
    while let Some(event) = told.next().await {
        visits.count(&event);
        if visits.mermaid().to_string().contains("paused here") {
            break;
        }
    }

    run.deliver("approval", &true).await.unwrap();
    run.finish(&mut state).await.unwrap();
    drop(run);
    counted(&mut visits, &mut told).await;

    let drawing = visits.mermaid().to_string();
    assert!(!drawing.contains("paused here"));
    let marked: Vec<_> = drawing
        .lines()
        .filter(|line| line.contains("ask"))
        .map(str::trim)
        .collect();

    assert_snapshot!(marked.join("\n"), @r#"n3[/"ask: waits for approval<br/>2×<br/>ended here"/]"#);
}

#[tokio::test]
async fn every_place_where_a_run_waits_is_marked() {
    let asks = |event: &str| {
        let wait = Wait::for_event(event, |_: &mut (), (): ()| ());
        Flow::builder("asks")
            .start("ask")
            .wait("ask", wait)
            .end("ask", "default")
            .build()
            .unwrap()
    };

    let branches = Branches::new()
        .branch("left", asks("a"), |()| (), |(), ()| ())
        .branch("right", asks("b"), |()| (), |(), ()| ());
    let flow = Flow::builder("f")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default");
    let flow = flow.build().unwrap();
    let mut visits = Visits::of(&flow);
    let (sink, mut told) = events(100);

    flow.begin()
        .with_journal(MemoryJournal::new("r"))
        .with_events(sink)
        .finish(&mut ())
        .await
        .unwrap_err();

    counted(&mut visits, &mut told).await;
    assert_eq!(
        visits.mermaid().to_string().matches("paused here").count(),
        2
    );
}

#[tokio::test]
async fn a_drawing_says_that_events_were_lost() {
    let flow = count(2);
    let mut visits = Visits::of(&flow);
    let (sink, mut told) = events(3);
    flow.begin().with_events(sink).finish(&mut 0).await.unwrap();
    counted(&mut visits, &mut told).await;
    assert_snapshot!(visits.mermaid(), @r#"
    flowchart TD
        classDef unvisited opacity:0.5,stroke-dasharray:4
        classDef ended stroke:#080,stroke-width:4px
        classDef paused stroke:#d80,stroke-width:4px
        classDef failed stroke:#c00,stroke-width:4px
        lost>"8 events were lost: the counts are lower bounds"]
        start0(( )) ==> n0
        n0["up<br/>1×"]
        n1["nowhere"]
        class n1 unvisited
        n0 -.->|"again"| n0
        n0 -.->|"enough"| end0(((end)))
        n0 -.->|"never"| n1
        n1 -.->|"default"| end0(((end)))
    "#);
}

#[tokio::test]
async fn events_of_other_flows_are_not_counted() {
    let other = Flow::builder("other")
        .start("up")
        .node("up", from_fn(|_: &mut u32| ()))
        .end("up", "default");
    let (sink, mut told) = events(100);
    other
        .build()
        .unwrap()
        .begin()
        .with_events(sink)
        .finish(&mut 0)
        .await
        .unwrap();

    let flow = count(2);
    let mut visits = Visits::of(&flow);
    let before = visits.mermaid().to_string();
    counted(&mut visits, &mut told).await;
    assert_eq!(visits.mermaid().to_string(), before);
}

/// Whatever is told, a visit is to a place that exists, so nothing grows.
#[tokio::test]
async fn places_that_the_flow_has_not_are_not_counted() {
    let flow = count(2);
    let (sink, mut told) = events(100);
    flow.begin().with_events(sink).finish(&mut 0).await.unwrap();
    let mut visits = Visits::of(&flow);
    let before = visits.mermaid().to_string();

    while let Some(event) = told.next().await {
        visits.count(&elsewhere(event));
    }

    assert_eq!(visits.mermaid().to_string(), before);
}

fn elsewhere(mut event: Event) -> Event {
    if let Some(step) = &mut event.step {
        std::sync::Arc::make_mut(step).node = "down".to_owned();
    }
    event
}
