//! Composite nodes in subflows, items, branches and batches.

use cogwork_flow::engine::{Entry, Journal, Json, wait_for};
use cogwork_flow::{Action, Batch, BoxError, Branches, Each, Flow, Node};

use super::{Made, add_one, composite, flow, outcomes};
use crate::lines::Lines;

/// Makes two calls, and waits in between if the number is 10 or more.
fn node(made: &Made) -> impl Node<u64, Exec = u64> + use<> {
    composite(made, move |made, n| async move {
        let n = add_one(&made, "first", n).await?;
        if n > 10 {
            wait_for::<()>(&format!("go {n}"), "", None, None).await?;
        }
        add_one(&made, "second", n).await
    })
}

fn everything(made: &Made) -> Flow<Vec<u64>> {
    let sum = |all: &Vec<u64>| all.iter().sum::<u64>();
    let batch = Batch::at_most(
        2,
        node(made),
        |all: &Vec<u64>| all.clone(),
        |all, done| *all = done,
    );
    let each = Each::at_most(
        2,
        flow(node(made)),
        |all: &Vec<u64>| all.clone(),
        |all, done| *all = done,
    );
    let branches = Branches::new()
        .branch("left", flow(node(made)), sum, |all, left| all.push(left))
        .branch("right", flow(node(made)), sum, |all, right| all.push(right));

    Flow::builder("everything")
        .start("sub")
        .subflow("sub", flow(node(made)), |all: &mut Vec<u64>| {
            all.first_mut().unwrap()
        })
        .batch("batch", batch)
        .each("each", each)
        .branches("fork", branches)
        .edge("sub", Action::DEFAULT, "batch")
        .edge("batch", Action::DEFAULT, "each")
        .edge("each", Action::DEFAULT, "fork")
        .end("fork", Action::DEFAULT)
        .build()
        .unwrap()
}

/// The events of all waits on record.
fn awaited(lines: &Lines) -> Vec<String> {
    let event = |entry: Entry| match entry {
        Entry::Waiting { event, .. } => Some(event),
        _ => None,
    };
    lines.all().into_iter().filter_map(event).collect()
}

#[tokio::test]
async fn calls_have_names_of_their_own_everywhere() -> Result<(), BoxError> {
    let made = Made::default();
    let lines = Lines::default();
    let flow = everything(&made);
    let mut answered = 0;

    let end = loop {
        let mut state = vec![1, 2];
        let mut run = flow.begin().with_journal(lines.journal());
        let Err(error) = run.finish(&mut state).await else {
            break state;
        };

        let paused = error.into_paused()?;
        assert!(paused.event.starts_with("go "), "{paused}");
        for event in &awaited(&lines)[answered..] {
            lines.journal().deliver(event, Json::of(&())?).await?;
            answered += 1;
        }
    };

    assert_eq!(end, [7, 6, 15, 15]);
    assert_eq!(answered, 2);

    let keys = made.keys();
    let mut unique = keys.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(keys.len(), unique.len(), "no call is made twice");
    insta::assert_snapshot!(unique.join("\n"));
    assert_eq!(outcomes(&lines).len(), 14 + 7);
    Ok(())
}
