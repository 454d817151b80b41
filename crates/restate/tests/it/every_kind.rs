//! Flows of every kind, inside every kind of flow around them, come to the same end as in one
//! undisturbed process, with the same calls.

use std::collections::HashMap;

use cogwork_flow::Flow;
use cogwork_flow::journal::MemoryJournal;
use cogwork_restate::{Client, ClientError, Endpoint, Workflow};
use futures_util::future::join_all;
use serde_json::json;

use crate::support::engine::State;
use crate::support::flows::{self, Define};
use crate::support::server::server;
use crate::support::unique;
use crate::support::worker::{Worker, bind};
use crate::support::world::World;

/// The state, and the number of steps or the error.
struct End {
    came_to: Result<(State, u64), String>,
    calls: HashMap<String, usize>,
}

const KEY: &str = "r";

/// Runs the flow without an engine, with paused time.
fn in_one_process(define: impl Fn(&World) -> Flow<State>, start: &[u64]) -> End {
    let world = World::default();
    let flow = define(&world);
    let mut state = start.to_vec();

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let came_to = runtime.block_on(async {
        let mut run = flow.begin().with_journal(MemoryJournal::new(KEY));
        loop {
            match run.finish(&mut state).await {
                Ok(ended) => return Ok(ended.steps),
                Err(error) => match error.into_paused() {
                    Ok(paused) => run.deliver(&paused.event, &7).await.unwrap(),
                    Err(error) => return Err(error.to_string()),
                },
            }
        }
    });

    End {
        came_to: came_to.map(|steps| (state, steps)),
        calls: world.calls(),
    }
}

async fn on_restate(client: &Client, world: &World, start: &[u64], answers: usize) -> End {
    client.start(KEY, &start).await.unwrap();

    // Before or after the run waits for them; flows without a wait refuse them.
    for _ in 0..answers {
        deliver(client).await;
    }

    let came_to = match client.attach::<State>(KEY).await {
        Ok(state) => {
            let progress = client.progress(KEY).await.unwrap().unwrap();
            assert_eq!(progress.ended.as_deref(), Some("default"));
            Ok((state, progress.steps))
        }
        Err(ClientError::Refused {
            status: 500,
            message,
        }) => Err(message),
        Err(error) => panic!("{error}"),
    };

    End {
        came_to,
        calls: world.calls(),
    }
}

/// Answers as soon as the run waits.
async fn deliver(client: &Client) {
    for _ in 0..600 {
        let progress = client.progress(KEY).await.unwrap().unwrap_or_default();
        if progress.is_over() {
            return;
        }
        if progress.waits_for.is_some() {
            return match client.deliver(KEY, "question", &json!(7)).await {
                // The run may have got the answer of an earlier call in between.
                Ok(())
                | Err(ClientError::Refused {
                    status: 404 | 410, ..
                }) => {}
                Err(error) => panic!("{error}"),
            };
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    panic!("the run neither waits nor ends");
}

async fn comes_to_the_same_end(leaf: Define, start: &[u64], answers: usize) {
    let Some(server) = server() else { return };
    let mut builder = Endpoint::builder();
    let mut runs = Vec::new();

    for nest in flows::nests() {
        let world = World::default();
        let name = unique("Every");
        let flow = flows::nested(&nest, leaf, &world);
        builder = bind(builder, Workflow::new(name.as_str(), flow).unwrap());
        runs.push((nest, world, server.client(&name)));
    }

    let worker = Worker::start(builder.build());
    server.register(worker.port).await;

    let checked = runs.iter().map(|(nest, world, client)| async move {
        let start_here = start.to_vec();
        let nest_here = nest.clone();
        let expected = tokio::task::spawn_blocking(move || {
            in_one_process(|world| flows::nested(&nest_here, leaf, world), &start_here)
        });
        let expected = expected.await.unwrap();

        // Each item and branch has waits of its own.
        let answers = answers * 16;
        let end = on_restate(client, world, start, answers).await;
        assert_eq!(end.came_to, expected.came_to, "{nest:?}");

        // In one process, other items and branches may begin before one fails.
        if end.came_to.is_ok() {
            assert_eq!(end.calls, expected.calls, "{nest:?}");
        }
        for (key, made) in end.calls {
            let expected = expected.calls.get(&key).copied().unwrap_or(1);
            assert_eq!(made, expected, "{nest:?}, {key}");
        }
    });
    join_all(checked).await;
}

macro_rules! on_restate {
    ($($name:ident from $start:expr $(, answers $answers:expr)?;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (leaf, start) = $start;
            let answers = [0usize $(, $answers)?].into_iter().sum();
            comes_to_the_same_end(leaf, &start, answers).await;
        }
    )*};
}

on_restate! {
    a_loop from (flows::a_loop, [3, 60]);
    a_batch from (flows::a_batch, [3, 60, 7, 1, 5]);
    an_item_that_fails from (flows::a_batch, [3, 60, 13, 1, 5]);
    a_step_that_fails from (flows::a_step, [13, 3]);
    an_item_that_fails_three_times from (flows::a_batch_of_three_attempts, [3, 13]);
    a_step_that_is_tried_again from (flows::a_step_good_at_last, [3, 60]);
    an_item_that_is_tried_again from (flows::a_batch_good_at_last, [3, 60]);
    a_step_that_fails_three_times from (flows::a_step_of_three_attempts, [13, 3]);
    work_in_time from (flows::a_timeout, [3, 60]);
    work_that_takes_too_long from (flows::a_timeout, [13, 3]);
    work_that_takes_too_long_three_times from (flows::a_retry_of_a_timeout, [3, 13]);
    a_timeout_around_a_retry from (flows::a_timeout_around_a_retry, [13, 3]);
    a_fallback_around_a_retry from (flows::a_fallback_around_a_retry, [13, 3]);
    a_wait_in_a_loop from (flows::a_wait_in_a_loop, [3, 1]), answers 3;
    a_wait_answered_in_time from (flows::a_wait_answered_in_time, [3, 1]), answers 1;
    an_empty_batch from (flows::an_empty_batch, [3, 60]);
    a_post_that_fails from (flows::a_post_that_fails, [13, 3]);
    a_composite_step from (flows::a_composite_step, [3, 60]);
    a_composite_batch from (flows::a_composite_batch, [3, 60, 7]);
    a_composite_step_that_waits from (flows::a_composite_step_that_waits, [3, 60]), answers 1;
    a_composite_step_that_is_tried_again from (flows::a_composite_step_good_at_last, [3, 60]);
}
