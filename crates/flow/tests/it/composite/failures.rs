use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cogwork_flow::engine::{
    CallError, Journal, Json, reach_limit, recorded, scoped_event, wait_for,
};
use cogwork_flow::{Backoff, BoxError, Node};

use super::{Made, add_one, composite, flow, outcomes, run};
use crate::lines::Lines;

/// Makes two calls, then fails in the first `times` attempts.
fn failing(made: &Made, times: u32) -> impl Node<u64, Prep = u64> + use<> {
    let left = Arc::new(AtomicU32::new(times));
    composite(made, move |made, n| {
        let left = Arc::clone(&left);
        async move {
            let n = add_one(&made, "add", n).await?;
            let n = add_one(&made, "add", n).await?;
            match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            }) {
                Ok(_) => Err("a bad reply".into()),
                Err(_) => Ok(n),
            }
        }
    })
}

#[tokio::test]
async fn a_failed_attempt_is_recorded_and_the_next_run_makes_new_calls() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = flow(failing(&made, 2));

    for _ in 0..2 {
        let error = run(&flow, &lines).await.unwrap_err();
        assert!(
            error.to_string().ends_with("exec failed: a bad reply"),
            "{error}"
        );
    }

    assert_eq!(run(&flow, &lines).await.unwrap(), 2);
    assert_eq!(
        made.keys(),
        [
            "r:f/n#1.1/add.1",
            "r:f/n#1.1/add.2",
            "r:f/n#1.2/add.1",
            "r:f/n#1.2/add.2",
            "r:f/n#1.3/add.1",
            "r:f/n#1.3/add.2",
        ]
    );
    insta::assert_snapshot!(lines.text());
}

#[tokio::test(start_paused = true)]
async fn a_retry_makes_new_calls_in_the_same_run() {
    let made = Made::default();
    let lines = Lines::default();
    let backoff = Backoff::of::<5>();
    let flow = flow(
        failing(&made, 2)
            .timeout(Duration::from_secs(60))
            .retry(backoff),
    );

    assert_eq!(run(&flow, &lines).await.unwrap(), 2);
    assert_eq!(made.count(), 6);
    assert!(outcomes(&lines).contains(&"f/n#1.2/failed.0".to_owned()));
    assert_eq!(run(&flow, &lines).await.unwrap(), 2);
    assert_eq!(made.count(), 6);
}

/// A timeout drops the call that is in progress.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_timed_out_is_a_failed_one() {
    let made = Made::default();
    let lines = Lines::default();
    let slow = Arc::new(AtomicU32::new(1));
    let node = composite(&made, move |made, n| {
        let slow = Arc::clone(&slow);
        async move {
            let n = add_one(&made, "add", n).await?;
            let outcome = recorded("slow", || async {
                if slow.swap(0, Ordering::Relaxed) == 1 {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                }
                Ok::<_, BoxError>(n + 1)
            });
            Ok(outcome.await?)
        }
    });

    let backoff = Backoff::of::<3>();
    let flow = flow(node.timeout(Duration::from_secs(5)).retry(backoff));
    assert_eq!(run(&flow, &lines).await.unwrap(), 2);
    assert_eq!(
        outcomes(&lines),
        [
            "f/n#1.1/add.1",
            "f/n#1.1/failed.0",
            "f/n#1.2/add.1",
            "f/n#1.2/slow.1",
            "f/n#1"
        ]
    );
}

#[tokio::test]
async fn a_panic_fails_the_attempt() {
    let made = Made::default();
    let lines = Lines::default();
    let panics = Arc::new(AtomicU32::new(1));
    let flow = flow(composite(&made, move |made, n| {
        let panics = Arc::clone(&panics);
        async move {
            let n = add_one(&made, "add", n).await?;
            reach_limit();
            assert_eq!(panics.swap(0, Ordering::Relaxed), 0, "not today");
            Ok(n)
        }
    }));

    let error = run(&flow, &lines).await.unwrap_err();
    assert!(error.is_panic());
    assert_eq!(run(&flow, &lines).await.unwrap(), 1);
    assert_eq!(made.keys(), ["r:f/n#1.1/add.1", "r:f/n#1.2/add.1"]);
}

/// Makes a call, waits for a number, and makes a call that fails at first.
fn breaking(made: &Made) -> impl Node<u64, Prep = u64> + use<> {
    composite(made, |made, n| async move {
        let n = add_one(&made, "before", n).await?;
        let event = scoped_event("more");
        let more = wait_for::<u64>(&event, "", None, None).await?;
        let n = n + more.unwrap_or_default();

        let breaks = recorded("breaks", || async {
            made.add();
            match made.count() < 4 {
                true => Err("no connection"),
                false => Ok(n + 1),
            }
        });
        let n = breaks.await?;
        add_one(&made, "after", n).await
    })
}

#[tokio::test]
async fn a_run_that_failed_with_a_call_makes_only_this_call_again() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = flow(breaking(&made));

    assert!(run(&flow, &lines).await.unwrap_err().paused().is_some());
    let journal = lines.journal();
    let answer = Json::from_record("10");
    journal.deliver("more at f/n#1.1", answer).await.unwrap();
    for _ in 0..2 {
        let error = run(&flow, &lines).await.unwrap_err().to_string();
        assert!(error.ends_with("exec failed: no connection"), "{error}");
    }

    assert_eq!(run(&flow, &lines).await.unwrap(), 13);
    let calls = ["before", "breaks", "breaks", "breaks", "after"];
    assert_eq!(made.keys(), calls.map(|call| format!("r:f/n#1.1/{call}.1")));
    insta::assert_snapshot!(outcomes(&lines).join("\n"), @"
    f/n#1.1/before.1
    f/n#1.1/breaks.1
    f/n#1.1/failed.0.2
    f/n#1.1/breaks.1.2
    f/n#1.1/failed.0.3
    f/n#1.1/breaks.1.3
    f/n#1.1/after.1
    f/n#1
    ");
}

#[tokio::test]
async fn a_run_that_reached_a_limit_makes_no_call_again() {
    let made = Made::default();
    let lines = Lines::default();
    let limit = Arc::new(AtomicU32::new(1));
    let raised = Arc::clone(&limit);
    let flow = flow(composite(&made, move |made, mut n| {
        let limit = Arc::clone(&limit);
        async move {
            for _ in 0..3 {
                if n >= limit.load(Ordering::Relaxed).into() {
                    reach_limit();
                    return Err("the limit is reached".into());
                }
                n = add_one(&made, "add", n).await?;
            }
            Ok(n)
        }
    }));

    for (limit, calls) in [(1, 1), (1, 1), (2, 2)] {
        raised.store(limit, Ordering::Relaxed);
        assert!(run(&flow, &lines).await.is_err());
        assert_eq!(made.count(), calls);
    }
    raised.store(9, Ordering::Relaxed);
    assert_eq!(run(&flow, &lines).await.unwrap(), 3);
    assert_eq!(made.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_retry_makes_only_the_call_again_that_failed() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = flow(breaking(&made).retry(Backoff::of::<3>()));

    assert!(run(&flow, &lines).await.unwrap_err().paused().is_some());
    let journal = lines.journal();
    let answer = Json::from_record("10");
    journal.deliver("more at f/n#1.1", answer).await.unwrap();
    assert_eq!(run(&flow, &lines).await.unwrap(), 13);
    assert_eq!(made.count(), 5);
}

/// What `exec` decided by the failure of a call is decided again.
#[tokio::test]
async fn a_failed_call_is_recorded_with_its_text() {
    let lines = Lines::default();
    let made = Made::default();
    let fails = Arc::new(AtomicU32::new(1));
    let stops = Arc::new(AtomicU32::new(1));
    let flow = flow(composite(&made, move |made, n| {
        let fails = Arc::clone(&fails);
        let stops = Arc::clone(&stops);
        async move {
            let first = recorded("first", || async {
                match fails.swap(0, Ordering::Relaxed) {
                    1 => Err(std::io::Error::other("no connection")),
                    _ => Ok(100),
                }
            });
            let n = match first.await {
                Ok(more) => n + more,
                Err(error) => {
                    assert_eq!(error.to_string(), "no connection");
                    let again = matches!(error, CallError::Recorded(_));
                    assert_eq!(again, stops.load(Ordering::Relaxed) == 0);
                    add_one(&made, "instead", n).await?
                }
            };

            // As if the process were killed here.
            if stops.swap(0, Ordering::Relaxed) == 1 {
                std::future::pending::<()>().await;
            }

            Ok(n)
        }
    }));

    let stopped = tokio::time::timeout(Duration::from_millis(1), run(&flow, &lines)).await;
    assert!(stopped.is_err());
    assert_eq!(run(&flow, &lines).await.unwrap(), 1);
    assert_eq!(made.count(), 1);
}

#[tokio::test]
async fn a_wrapper_around_a_composite_node_is_composite() {
    let made = Made::default();
    let lines = Lines::default();
    let node = failing(&made, 0)
        .timeout(Duration::from_secs(1))
        .fallback(async |_, error| Err(error))
        .retry(Backoff::of::<2>())
        .focus(|n: &mut u64| n);

    assert_eq!(run(&flow(node), &lines).await.unwrap(), 2);
    assert_eq!(
        outcomes(&lines),
        ["f/n#1.1/add.1", "f/n#1.1/add.2", "f/n#1"]
    );
}
