use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cogwork_flow::watch::{EventKind, events, note};

use super::{Made, add_one, composite, flow};
use crate::lines::Lines;

#[tokio::test(start_paused = true)]
async fn replayed_calls_and_notes_are_events() {
    let made = Made::default();
    let lines = Lines::default();
    let stops = Arc::new(AtomicBool::new(true));
    let flow = flow(composite(&made, move |made, n| {
        let stops = Arc::clone(&stops);
        async move {
            let n = add_one(&made, "add", n).await?;
            note(|| format!("{n} so far"));
            if stops.swap(false, Ordering::Relaxed) {
                // As if the process were killed here.
                std::future::pending::<()>().await;
            }

            add_one(&made, "add", n).await
        }
    }));

    let mut seen = Vec::new();
    for _ in 0..3 {
        let (sink, mut stream) = events(100);
        let mut state = 0;
        let mut run = flow.begin().with_journal(lines.journal()).with_events(sink);
        let limit = std::time::Duration::from_millis(10);
        let _ = tokio::time::timeout(limit, run.finish(&mut state)).await;
        drop(run);

        while let Some(event) = stream.next().await {
            if matches!(event.kind, EventKind::Replayed | EventKind::Noted { .. }) {
                seen.push(event.to_string());
            }
        }

        seen.push(String::new());
    }

    insta::assert_snapshot!(seen.join("\n"));
}
