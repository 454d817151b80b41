//! Sleeps, which take no longer because of a restart.

use std::time::Duration;

use cogwork_flow::Flow;
use lines::Lines;
use tokio::time::Instant;

use super::begun;
use crate::lines;

fn napping(seconds: u64) -> Flow<u32> {
    Flow::builder("nap")
        .sleep("nap", move |_| Duration::from_secs(seconds))
        .chain(["nap"])
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_is_dropped_sleeps_for_what_is_left() {
    let flow = napping(100);
    let lines = Lines::default();
    for journaled in [false, true] {
        let start = Instant::now();
        let mut run = begun(&flow, journaled.then(|| lines.journal()));

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
    lines.run(&flow, &mut 0).await.unwrap();

    assert!(
        start.elapsed() < Duration::from_millis(100),
        "that time is over in a replay"
    );
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
