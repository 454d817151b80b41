//! Flows of every kind over a list of numbers.

mod around;
mod common;
mod composite;
mod nodes;
mod waiting;
mod wrappers;

use crate::conformance::world::World;

use common::UNLUCKY;
pub(crate) use common::{Built, EVENT, HOUR, SHORT};
pub(crate) use nodes::{changed_loop, longer_than_a_loop, renamed_loop};
pub(crate) use waiting::{sums, waits_once, waits_with_limit};

/// A kind of flow, and what is known of its runs.
pub(crate) struct Kind {
    pub(crate) define: fn(&World) -> Built,
    pub(crate) input: &'static [u64],
    /// The maximum number of calls in progress.
    pub(crate) at_once: usize,
    /// The text of the error with which the run ends; `None` if it succeeds.
    pub(crate) fails: Option<&'static str>,
}

impl Kind {
    const fn new(define: fn(&World) -> Built, input: &'static [u64]) -> Self {
        Self {
            define,
            input,
            at_once: 1,
            fails: None,
        }
    }

    const fn at_once(mut self, calls: usize) -> Self {
        self.at_once = calls;
        self
    }

    const fn failing(mut self, error: &'static str) -> Self {
        self.fails = Some(error);
        self
    }
}

pub(crate) const A_LOOP: Kind = Kind::new(nodes::a_loop, &[3, 60]);
pub(crate) const A_CHECKED_LOOP: Kind = Kind::new(nodes::a_checked_loop, &[3, 60]);
pub(crate) const A_BATCH: Kind = Kind::new(nodes::a_batch, &[3, 60, 7, 1, 5]).at_once(2);
pub(crate) const AN_EMPTY_BATCH: Kind = Kind::new(nodes::an_empty_batch, &[3, 60]);
pub(crate) const A_FAILURE: Kind = Kind::new(nodes::a_step, &[13, 3]).failing(UNLUCKY);
pub(crate) const AN_ITEM_THAT_FAILS: Kind = Kind::new(nodes::a_batch, &[3, 60, 13, 1, 5])
    .at_once(2)
    .failing(UNLUCKY);
pub(crate) const A_POST_THAT_FAILS: Kind =
    Kind::new(nodes::a_post_that_fails, &[13, 3]).failing("26 is twice 13");

pub(crate) const A_SUBFLOW: Kind = Kind::new(around::a_subflow, &[3, 60]);
pub(crate) const ITEMS: Kind = Kind::new(around::items, &[3, 20, 7]).at_once(2);
pub(crate) const BRANCHES: Kind = Kind::new(around::branches, &[3, 20]).at_once(2);
pub(crate) const NESTED: Kind = Kind::new(around::nested, &[3, 20]).at_once(4);

pub(crate) const A_RETRY: Kind = Kind::new(wrappers::a_retry, &[3, 60]);
pub(crate) const A_RETRY_THAT_FAILS: Kind =
    Kind::new(wrappers::a_retry_that_fails, &[13, 3]).failing(UNLUCKY);
pub(crate) const A_BATCH_WITH_RETRIES: Kind =
    Kind::new(wrappers::a_batch_with_retries, &[3, 60, 7]).at_once(2);
pub(crate) const A_FALLBACK: Kind = Kind::new(wrappers::a_fallback, &[3, 13, 5]).at_once(2);
pub(crate) const A_TIMEOUT: Kind = Kind::new(wrappers::a_timeout, &[3, 60]);
pub(crate) const A_TIMEOUT_THAT_EXPIRES: Kind =
    Kind::new(wrappers::a_timeout_that_expires, &[13, 3]);

pub(crate) const COMPOSITE: Kind = Kind::new(composite::a_step, &[3, 60]).at_once(3);
pub(crate) const COMPOSITE_ITEMS: Kind = Kind::new(composite::a_batch, &[3, 60, 7]).at_once(6);
pub(crate) const COMPOSITE_THAT_WAITS: Kind =
    Kind::new(composite::a_step_that_waits, &[3, 60]).at_once(3);

pub(crate) const A_SLEEP: Kind = Kind::new(waiting::a_sleep, &[3, 60]);
pub(crate) const WAITS_IN_A_LOOP: Kind = Kind::new(waiting::waits_in_a_loop, &[3, 1]);
pub(crate) const WAITS_OF_ITEMS: Kind = Kind::new(waiting::waits_of_items, &[3, 20, 7]).at_once(3);
pub(crate) const A_LIMIT_NOT_REACHED: Kind = Kind::new(waiting::a_limit_not_reached, &[3, 1]);
pub(crate) const A_LIMIT_REACHED: Kind = Kind::new(waiting::a_limit_reached, &[3, 1]);
