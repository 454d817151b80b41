//! What every store has to do, in addition to what every engine has to.

mod answers;
mod changes;
mod fences;
mod folding;
mod forks;
mod listing;
mod opening;
mod opens;
mod removal;
mod takers;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::conformance::broken_promise::Checked;
use crate::conformance::suite::Case;
use crate::conformance::{Ability, TestedStore};

pub(crate) struct StoreCase {
    pub(crate) case: Case,
    pub(crate) check: fn(Arc<dyn TestedStore>) -> BoxFuture<'static, Checked>,
}

macro_rules! cases {
    ($($(#[doc = $promise:literal])+ $name:ident $(needs $($need:ident)+)? => $check:path;)+) => {
        /// Returns the cases of all stores.
        pub(crate) fn all() -> Vec<StoreCase> {
            vec![$(StoreCase {
                case: Case {
                    name: stringify!($name),
                    promise: concat!($($promise),+).trim_ascii(),
                    needs: &[$($(Ability::$need),+)?],
                },
                check: |store| $check(store).boxed(),
            }),+]
        }
    };
}

cases! {
    /// A run is started once. A second start is refused and changes nothing.
    a_run_is_started_once => opening::once;
    /// A run that doesn't exist cannot be resumed or answered.
    a_missing_run_is_reported => opening::missing;
    /// A resumed run has the input with which it was started.
    the_input_is_kept => opening::keeps_input;
    /// A run is refused if it is started again with a different input, however far it came.
    a_different_input_is_refused_at_any_point => opening::different_input;
    /// A run is resumed if it is started again with the same input, however far it came.
    the_same_input_resumes_a_run_at_any_point => opening::same_input;
    /// A run is refused if it is resumed with a state that isn't the recorded one.
    a_different_state_is_refused needs StateCheck => opening::different_state;

    /// While a process uses a run, others cannot open it. After that, they can.
    of_two_takers_one_is_refused needs TwoTakers => takers::two;
    /// If many processes open a run at once, one of them gets it.
    of_many_takers_one_gets_the_run needs TwoTakers => takers::many;
    /// A run that is in use isn't removed.
    a_run_in_use_is_not_removed needs TwoTakers => takers::removal;

    /// A process that lost its run without noticing can no longer write to it.
    a_process_that_lost_its_run_cannot_write needs Fences => fences::cannot_write;
    /// A process that lost its run without noticing cannot replace the record by a snapshot.
    a_process_that_lost_its_run_cannot_fold needs Fences Snapshots => fences::cannot_fold;

    /// Runs are listed, sorted by id, with their status.
    runs_are_listed_with_their_status => listing::statuses;
    /// A list can be read while a run is in use.
    a_run_in_use_is_listed => listing::in_use;
    /// Runs are listed under the ids with which they were started.
    hostile_ids_are_listed => listing::hostile_ids;

    /// After a run was removed, its id can be used again, and nothing of the old run is left.
    a_removed_run_leaves_nothing => removal::leaves_nothing;
    /// Other runs, also with similar ids, aren't affected by a removal.
    other_runs_are_not_removed => removal::others_stay;
    /// A run that doesn't exist cannot be removed.
    a_missing_run_is_not_removed => removal::missing;

    /// A changed flow is refused, or accepted and recorded if the program asks for it.
    a_changed_flow_is_accepted_on_request needs ChangedFlows => changes::on_request;
    /// A flow with a different name is refused in any case.
    a_different_flow_is_refused needs ChangedFlows => changes::different_flow;
    /// A change before the end of the record is found when the run arrives there.
    a_change_of_the_past_is_found needs ChangedFlows => changes::of_the_past;
    /// A run that has ended continues if its flow became longer.
    a_longer_flow_continues_after_the_end needs ChangedFlows => changes::longer;

    /// Another process answers while nobody executes the run.
    an_answer_comes_from_another_process => answers::from_another_process;
    /// The answers to a run that doesn't use them are limited, and the run stays readable.
    unused_answers_are_limited => answers::limited;

    /// A run continues from its snapshot after a crash at each call.
    a_run_with_snapshots_continues_after_a_crash_at_each_call needs Snapshots => folding::crashes;
    /// A run with snapshots may be dropped at any `await`.
    a_run_with_snapshots_may_be_dropped_anywhere needs Snapshots DropAnywhere => folding::anywhere;
    /// A snapshot keeps unused answers and the input.
    a_snapshot_keeps_answers_and_the_input needs Snapshots => folding::keeps;

    /// A fork at each step has the steps before it, without a call, and executes the others.
    a_fork_takes_earlier_steps_from_the_record needs Forks => forks::at_each_step;
    /// A fork of a run that doesn't exist, at a step that isn't on record, or with an id that is in use is refused, and
    /// leaves no run.
    an_impossible_fork_leaves_no_run needs Forks => forks::refused;
}
