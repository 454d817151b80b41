//! Retries, fallbacks and timeouts.

use std::time::Duration;

use cogwork_flow::{Backoff, Node};

use super::common::{Built, HOUR, SHORT};
use super::nodes::{batch, of_first, of_number, single, unless_13};
use crate::conformance::world::World;

/// Three attempts with short delays.
fn three() -> Backoff {
    Backoff::of::<3>()
        .with_first(Duration::from_millis(5))
        .with_jitter(false)
}

fn slow_with_13(n: u64, _: usize) -> Result<Result<u64, Duration>, String> {
    if n == 13 {
        Ok(Err(HOUR))
    } else {
        Ok(Ok(2 * n))
    }
}

fn the_third_time(n: u64, before: usize) -> Result<Result<u64, Duration>, String> {
    if before < 2 {
        Err("not yet".to_owned())
    } else {
        Ok(Ok(2 * n))
    }
}

pub(super) fn a_retry(world: &World) -> Built {
    single(world, of_first(world, the_third_time).retry(three()))
}

pub(super) fn a_retry_that_fails(world: &World) -> Built {
    single(world, of_first(world, unless_13).retry(three()))
}

pub(super) fn a_batch_with_retries(world: &World) -> Built {
    batch(world, of_number(world, the_third_time).retry(three()))
}

pub(super) fn a_fallback(world: &World) -> Built {
    let node = of_number(world, unless_13).retry(three());
    batch(
        world,
        node.fallback(async |n, _| Ok((String::new(), n + 1000))),
    )
}

pub(super) fn a_timeout(world: &World) -> Built {
    single(world, of_first(world, slow_with_13).timeout(HOUR))
}

pub(super) fn a_timeout_that_expires(world: &World) -> Built {
    let node = of_first(world, slow_with_13).timeout(SHORT);
    single(
        world,
        node.fallback(async |n, _| Ok((String::new(), n + 1000))),
    )
}
