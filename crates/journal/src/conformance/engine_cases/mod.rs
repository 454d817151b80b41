//! What every engine has to do, whatever stores its runs.

mod answers;
mod changes;
pub(crate) mod crashes;
mod ids;
mod reference;
mod waits;

pub(crate) use ids::hostile;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::conformance::broken_promise::Checked;
use crate::conformance::suite::Case;
use crate::conformance::{Ability, TestedEngine, flows};

pub(crate) struct EngineCase {
    pub(crate) case: Case,
    pub(crate) check: for<'e> fn(&'e dyn TestedEngine) -> BoxFuture<'e, Checked>,
}

macro_rules! cases {
    ($($(#[doc = $promise:literal])+ $name:ident $(needs $($need:ident)+)? => $check:expr;)+) => {
        /// Returns the cases of all engines.
        pub(crate) fn all() -> Vec<EngineCase> {
            vec![$(EngineCase {
                case: Case {
                    name: stringify!($name),
                    promise: concat!($($promise),+).trim_ascii(),
                    needs: &[$($(Ability::$need),+)?],
                },
                check: |engine| $check(engine).boxed(),
            }),+]
        }
    };
}

macro_rules! at_each_call {
    ($kind:ident) => {
        |engine| crashes::at_each_call(engine, &flows::$kind)
    };
}

cases! {
    /// A run in a loop that crashes at any call continues there.
    a_loop_continues_after_a_crash_at_each_call => at_each_call!(A_LOOP);
    /// A run that crashes at each of its calls still comes to its end.
    a_loop_continues_after_crashes_at_all_calls => |engine| crashes::at_all_calls(engine, &flows::A_LOOP);
    /// The items of a batch are recorded one by one, so a crash repeats only those in progress.
    a_batch_continues_after_a_crash_at_each_call => at_each_call!(A_BATCH);
    /// A batch that crashes at each of its items still comes to its end.
    a_batch_continues_after_crashes_at_all_calls => |engine| crashes::at_all_calls(engine, &flows::A_BATCH);
    /// A batch without items takes no calls.
    an_empty_batch_continues_after_a_crash_at_each_call => at_each_call!(AN_EMPTY_BATCH);
    /// A step in a subflow of a subflow continues after a crash.
    a_subflow_continues_after_a_crash_at_each_call => at_each_call!(A_SUBFLOW);
    /// Each item of an `Each` continues where it was.
    items_continue_after_a_crash_at_each_call => at_each_call!(ITEMS);
    /// Each branch continues where it was.
    branches_continue_after_a_crash_at_each_call => at_each_call!(BRANCHES);
    /// Batches in branches in items in a subflow continue where they were.
    nested_parts_continue_after_a_crash_at_each_call => at_each_call!(NESTED);
    /// Each recorded call of a composite node is made once.
    a_composite_node_continues_after_a_crash_at_each_call => at_each_call!(COMPOSITE);
    /// A composite node that crashes at each of its calls still comes to its end.
    a_composite_node_continues_after_crashes_at_all_calls => |engine| crashes::at_all_calls(engine, &flows::COMPOSITE);
    /// Each recorded call of composite items is made once.
    composite_items_continue_after_a_crash_at_each_call => at_each_call!(COMPOSITE_ITEMS);
    /// A failure is reported, also after a crash.
    a_failure_is_reported_after_a_crash_at_each_call => at_each_call!(A_FAILURE);
    /// The failure of an item is reported, also after a crash.
    a_failed_item_is_reported_after_a_crash_at_each_call => at_each_call!(AN_ITEM_THAT_FAILS);
    /// The failure of `post` is reported, also after a crash.
    a_failed_post_is_reported_after_a_crash_at_each_call => at_each_call!(A_POST_THAT_FAILS);
    /// A node that is retried succeeds, also after a crash between its attempts.
    retries_continue_after_a_crash_at_each_call => at_each_call!(A_RETRY);
    /// Items that are retried succeed, also after a crash between their attempts.
    retries_of_items_continue_after_a_crash_at_each_call => at_each_call!(A_BATCH_WITH_RETRIES);
    /// The failure of the last attempt is reported, also after a crash.
    the_last_retry_fails_after_a_crash_at_each_call => at_each_call!(A_RETRY_THAT_FAILS);
    /// The value of a fallback is used, also after a crash.
    a_fallback_is_used_after_a_crash_at_each_call => at_each_call!(A_FALLBACK);
    /// A timeout that doesn't expire changes nothing.
    a_timeout_continues_after_a_crash_at_each_call => at_each_call!(A_TIMEOUT);
    /// A timeout expires, also after a crash.
    a_timeout_expires_after_a_crash_at_each_call => at_each_call!(A_TIMEOUT_THAT_EXPIRES);
    /// A run that crashed before or after a sleep continues.
    a_sleep_continues_after_a_crash_at_each_call => at_each_call!(A_SLEEP);
    /// A run that waits several times gets each answer once, also after a crash.
    waits_continue_after_a_crash_at_each_call => at_each_call!(WAITS_IN_A_LOOP);
    /// Several items wait for the same event, and each gets one answer.
    items_wait_for_the_same_event => at_each_call!(WAITS_OF_ITEMS);
    /// A wait inside a composite node gets its answer, also after a crash.
    a_composite_node_waits => at_each_call!(COMPOSITE_THAT_WAITS);
    /// An answer within the limit of a wait is used.
    a_wait_is_answered_within_its_limit => at_each_call!(A_LIMIT_NOT_REACHED);
    /// A wait without an answer times out.
    a_wait_times_out => at_each_call!(A_LIMIT_REACHED);

    /// A loop may be dropped at any `await`.
    a_loop_may_be_dropped_anywhere needs DropAnywhere => |engine| crashes::anywhere(engine, &flows::A_LOOP);
    /// A batch may be dropped at any `await`.
    a_batch_may_be_dropped_anywhere needs DropAnywhere => |engine| crashes::anywhere(engine, &flows::A_BATCH);
    /// Parts at once may be dropped at any `await`.
    branches_may_be_dropped_anywhere needs DropAnywhere => |engine| crashes::anywhere(engine, &flows::BRANCHES);
    /// A composite node may be dropped at any `await`.
    a_composite_node_may_be_dropped_anywhere needs DropAnywhere => |engine| crashes::anywhere(engine, &flows::COMPOSITE);

    /// A run that has ended makes no calls when it is executed again.
    a_run_that_ended_is_replayed needs ReplayAfterEnd => crashes::after_the_end;

    /// An answer that arrives before the run waits for it is kept.
    an_early_answer_is_kept => answers::early;
    /// Answers to the same event are used in the order in which they were delivered.
    answers_are_used_in_order => answers::in_order;
    /// An answer that was used isn't requested again after a crash.
    a_used_answer_survives_a_crash => answers::survives;
    /// An answer that the flow cannot read is discarded, and the run waits for another.
    a_refused_answer_can_be_replaced => answers::after_a_refusal;
    /// An answer to an event for which no node waits is refused.
    an_unknown_event_is_refused => answers::to_unknown_event;
    /// An answer after the end of the run is refused.
    a_late_answer_is_refused needs LateAnswers => answers::after_the_end;
    /// The limit of a wait doesn't start over when the run is executed again.
    the_limit_of_a_wait_does_not_start_over => waits::limit_is_kept;
    /// A sleep takes at least as long as it should.
    a_sleep_is_not_shortened => waits::sleep_is_not_shortened;
    /// A run that was cancelled stays so, and takes no answers.
    a_cancelled_run_stays_cancelled needs Cancellation => waits::cancelled;

    /// A run is refused if its flow has changed, with the difference. It continues with its flow.
    a_changed_flow_is_refused_with_the_difference needs ChangedFlows => changes::refused;

    /// Runs whose ids are similar, empty, long or hostile are different runs, or are refused.
    hostile_run_ids_are_kept_apart => ids::of_runs;
    /// The name of an event may be any text.
    hostile_event_names_are_kept_apart => ids::of_events;
}
