//! Flows of every kind over a list of numbers, each inside every kind of flow around it.

use std::time::Duration;

use cogwork_flow::engine::{recorded, wait_for};
use cogwork_flow::{
    Action, Backoff, Batch, BoxError, Branches, Each, Flow, Node, Wait, from_fn, from_phases,
    idempotency_key,
};
use futures_util::future::join_all;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::engine::State;
use super::world::World;

pub(crate) type Define = fn(&World) -> Flow<State>;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Nest {
    Subflow,
    Items,
    Branches,
}

/// Every way to put a flow inside up to two others, and one that is deeper.
pub(crate) fn nests() -> Vec<Vec<Nest>> {
    let kinds = [Nest::Subflow, Nest::Items, Nest::Branches];
    let one = kinds.iter().map(|outer| vec![*outer]);
    let two = kinds
        .iter()
        .flat_map(|outer| kinds.iter().map(|inner| vec![*outer, *inner]));
    let deep = [vec![
        Nest::Subflow,
        Nest::Items,
        Nest::Subflow,
        Nest::Branches,
        Nest::Subflow,
    ]];

    std::iter::once(Vec::new())
        .chain(one)
        .chain(two)
        .chain(deep)
        .collect()
}

pub(crate) fn nested(nests: &[Nest], leaf: Define, world: &World) -> Flow<State> {
    let Some((outer, inner)) = nests.split_first() else {
        return leaf(world);
    };

    let flow = || nested(inner, leaf, world);
    let builder = match outer {
        Nest::Subflow => Flow::builder("sub").subflow("in", flow(), |all: &mut State| all),
        Nest::Items => Flow::builder("items").each(
            "in",
            Each::at_most(
                2,
                flow(),
                |all: &State| all.iter().map(|n| vec![*n]).collect::<Vec<_>>(),
                |all, items| *all = items.concat(),
            ),
        ),
        Nest::Branches => Flow::builder("branches").branches(
            "in",
            Branches::new()
                .branch("left", flow(), State::clone, |all, left| *all = left)
                .branch(
                    "right",
                    flow(),
                    |all: &State| all.iter().map(|n| n + 1).collect::<State>(),
                    |all, right: State| all.extend(right),
                ),
        ),
    };

    builder
        .start("in")
        .end("in", Action::DEFAULT)
        .build()
        .unwrap()
}

/// A node that makes a call: `work` gets the number and how often the same call was made before.
fn node<F: Future<Output = Result<u64, String>> + Send + 'static>(
    world: &World,
    work: fn(u64, usize) -> F,
) -> impl Node<u64, Prep = u64, Exec = u64, Error = BoxError> + use<F> {
    let world = world.clone();
    from_phases(
        |n: &mut u64| *n,
        move |n| {
            let world = world.clone();
            async move {
                let before = world.call();
                yield_now().await;
                work(n, before).await
            }
        },
        |n, brought| *n = brought,
    )
}

async fn double(n: u64, _: usize) -> Result<u64, String> {
    Ok(2 * n)
}

async fn unless_13(n: u64, _: usize) -> Result<u64, String> {
    if n == 13 {
        Err("13 is unlucky".to_owned())
    } else {
        Ok(2 * n)
    }
}

async fn slow_with_13(n: u64, _: usize) -> Result<u64, String> {
    sleep(if n == 13 { HOUR } else { SECOND / 2 }).await;
    Ok(2 * n)
}

async fn the_third_time(n: u64, before: usize) -> Result<u64, String> {
    if before < 2 {
        Err("not yet".to_owned())
    } else {
        Ok(2 * n)
    }
}

fn first<N: Node<u64>>(node: N) -> impl Node<State> {
    node.focus(|all: &mut State| all.first_mut().unwrap())
}

fn single(node: impl Node<State> + 'static) -> Flow<State> {
    Flow::builder("leaf")
        .start("work")
        .node("work", node)
        .end("work", Action::DEFAULT)
        .build()
        .unwrap()
}

fn batch(node: impl Node<u64, Exec = u64> + 'static) -> Flow<State> {
    batch_of(node, |n| n)
}

fn batch_of<N: Node<u64> + 'static>(node: N, number: fn(N::Exec) -> u64) -> Flow<State> {
    let batch = Batch::at_most(2, node, State::clone, move |all, done| {
        *all = done.into_iter().map(number).collect();
    });
    Flow::builder("leaf")
        .start("work")
        .batch("work", batch)
        .end("work", Action::DEFAULT)
        .build()
        .unwrap()
}

pub(crate) fn three() -> Backoff {
    Backoff::of::<3>()
        .with_first(SECOND)
        .with_factor(2.0)
        .with_jitter(false)
}

pub(crate) fn a_loop(world: &World) -> Flow<State> {
    let check = from_fn(|all: &mut State| {
        if all[0] < 50 {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    Flow::builder("leaf")
        .start("double")
        .node("double", first(node(world, double)))
        .node("check", check.with_actions(["again", "default"]))
        .edge("double", Action::DEFAULT, "check")
        .edge("check", "again", "double")
        .end("check", Action::DEFAULT)
        .build()
        .unwrap()
}

pub(crate) fn a_batch(world: &World) -> Flow<State> {
    batch(node(world, unless_13))
}

pub(crate) fn a_step_of_three_attempts(world: &World) -> Flow<State> {
    single(first(node(world, unless_13).retry(three())))
}

pub(crate) fn a_batch_good_at_last(world: &World) -> Flow<State> {
    batch(node(world, the_third_time).retry(three()))
}

pub(crate) fn a_retry_of_a_timeout(world: &World) -> Flow<State> {
    batch(node(world, slow_with_13).timeout(SECOND).retry(three()))
}

/// The first call is recorded and fails; the fallback makes another.
pub(crate) fn a_composite_step_with_a_fallback(world: &World) -> Flow<State> {
    let node = several(world, Also::FailsTwice);
    single(first(node.fallback_with(
        world.clone(),
        async |world, n, _| {
            let outcome = recorded("instead", || async {
                world.call();
                yield_now().await;
                double(n, 0).await
            });
            Ok(outcome.await?)
        },
    )))
}

pub(crate) fn a_sleep(world: &World) -> Flow<State> {
    Flow::builder("leaf")
        .start("sleep")
        .sleep("sleep", |_: &State| HOUR)
        .node("work", first(node(world, double)))
        .edge("sleep", Action::DEFAULT, "work")
        .end("work", Action::DEFAULT)
        .build()
        .unwrap()
}

pub(crate) fn a_wait_in_a_loop(world: &World) -> Flow<State> {
    let ask = Wait::for_event("question", |all: &mut State, answer: u64| {
        all[0] += answer;
        if all[0] < 20 {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    Flow::builder("leaf")
        .start("work")
        .node("work", first(node(world, double)))
        .wait("ask", ask.with_actions(["again", "default"]))
        .edge("work", Action::DEFAULT, "ask")
        .edge("ask", "again", "ask")
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

fn wait_with_limit(event: &str, world: &World) -> Flow<State> {
    let ask =
        Wait::for_event(event, |all: &mut State, answer: u64| all[0] += answer).with_timeout(HOUR);
    Flow::builder("leaf")
        .start("ask")
        .wait("ask", ask)
        .node("work", first(node(world, double)))
        .node("give up", from_fn(|all: &mut State| all[0] += 1000))
        .edge("ask", Action::DEFAULT, "work")
        .edge("ask", Action::TIMED_OUT, "give up")
        .edge("give up", Action::DEFAULT, "work")
        .end("work", Action::DEFAULT)
        .build()
        .unwrap()
}

pub(crate) fn a_wait_answered_in_time(world: &World) -> Flow<State> {
    wait_with_limit("question", world)
}

pub(crate) fn a_wait_that_times_out(world: &World) -> Flow<State> {
    wait_with_limit("silence", world)
}

pub(crate) fn a_panic(world: &World) -> Flow<State> {
    async fn panic_at_13(n: u64, _: usize) -> Result<u64, String> {
        assert_ne!(n, 13, "13 is unlucky");
        Ok(2 * n)
    }

    batch(node(world, panic_at_13))
}

/// A node that makes several calls, some of them at once.
struct Several {
    world: World,
    also: Also,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Also {
    Nothing,
    Chains,
    Waits,
    FailsTwice,
    TimesOut,
    /// Waits, and then makes a call that fails at first.
    Breaks,
}

impl Several {
    async fn double(&self, label: &str, n: u64) -> Result<u64, String> {
        let outcome = recorded(label, || async {
            self.world.call();
            yield_now().await;
            double(n, 0).await
        });
        outcome.await.map_err(|error| error.to_string())
    }

    /// Never ends in the first attempt.
    async fn slow(&self) -> Result<(), String> {
        let outcome = recorded("slow", || async {
            self.world.call();
            if idempotency_key().is_some_and(|key| key.contains(".1/")) {
                std::future::pending::<()>().await;
            }
            Ok::<_, String>(())
        });
        outcome.await.map_err(|error| error.to_string())
    }

    async fn breaks(&self) -> Result<(), String> {
        let outcome = recorded("breaks", || async {
            match self.world.breaks() {
                true => Err("no connection"),
                false => Ok(()),
            }
        });
        outcome.await.map_err(|error| error.to_string())
    }

    /// Fails in the first two attempts. Without a journal, there is no key to tell them by.
    async fn at_last(&self) -> Result<(), String> {
        let key = recorded("key", || async {
            self.world.call();
            Ok::<_, String>(idempotency_key())
        });

        match key.await.map_err(|error| error.to_string())? {
            Some(key) if !key.contains(".3/") => Err("not yet".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Node<u64> for Several {
    type Prep = u64;
    type Exec = u64;
    type Error = String;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, n: &mut u64) -> Result<u64, String> {
        Ok(*n)
    }

    async fn exec(&self, n: &u64) -> Result<u64, String> {
        let mut sum = self.double("first", *n).await?;
        let doubled = (0..3).map(|more| self.double("many", n + more));
        for doubled in join_all(doubled).await {
            sum += doubled?;
        }

        if self.also == Also::Chains {
            let chains = ["left", "middle", "right"].map(|label| async move {
                let n = self.double(label, *n).await?;
                let n = self.double(label, n).await?;
                self.double(label, n).await
            });
            for end in join_all(chains).await {
                sum += end?;
            }
        }

        if matches!(self.also, Also::Waits | Also::Breaks) {
            let answer = wait_for::<u64>("question", "", None, None).await;
            sum += answer
                .map_err(|error| error.to_string())?
                .unwrap_or_default();
        }
        if self.also == Also::FailsTwice {
            self.at_last().await?;
        }
        if self.also == Also::TimesOut {
            self.slow().await?;
        }
        if self.also == Also::Breaks {
            self.breaks().await?;
        }

        self.double("last", sum).await
    }

    fn post(&self, n: &mut u64, _: u64, brought: u64) -> Result<Action, String> {
        *n = brought;
        Ok(Action::DEFAULT)
    }
}

fn several(world: &World, also: Also) -> Several {
    Several {
        world: world.clone(),
        also,
    }
}

pub(crate) fn a_composite_step(world: &World) -> Flow<State> {
    single(first(several(world, Also::Nothing)))
}

/// A timeout drops a call in the middle, and the next attempt makes it again.
pub(crate) fn a_composite_step_that_times_out(world: &World) -> Flow<State> {
    let node = several(world, Also::TimesOut);
    single(first(node.timeout(SECOND).retry(three())))
}

/// Calls that follow one another in futures that run at once: a replay, in which nothing waits, has
/// to make them in the same order.
pub(crate) fn a_composite_step_with_chains(world: &World) -> Flow<State> {
    single(first(several(world, Also::Chains)))
}

pub(crate) fn a_composite_batch(world: &World) -> Flow<State> {
    batch(several(world, Also::Nothing))
}

pub(crate) fn a_composite_step_that_waits(world: &World) -> Flow<State> {
    single(first(several(world, Also::Waits)))
}

pub(crate) fn a_composite_step_good_at_last(world: &World) -> Flow<State> {
    single(first(several(world, Also::FailsTwice).retry(three())))
}

/// Only the call that failed is made again.
pub(crate) fn a_composite_step_with_a_call_that_fails(world: &World) -> Flow<State> {
    single(first(several(world, Also::Breaks).retry(three())))
}
