//! Macros that make a test of each case. `tests/it/macros.rs` compares their names with the cases.

/// Makes a test of each case for engines. The expression is evaluated in each test, and returns an
/// `Option` with the engine; with `None`, the test is skipped.
///
/// ```
/// mod memory {
///     cogwork_conformance::engine_tests!(Some(cogwork_conformance::MemoryEngine::new()));
/// }
/// ```
#[macro_export]
macro_rules! engine_tests {
    ($make:expr) => {
        $crate::__tests! {
            $crate::run_engine_test, $make,
            a_loop_continues_after_a_crash_at_each_call
            a_loop_continues_after_crashes_at_all_calls
            a_batch_continues_after_a_crash_at_each_call
            a_batch_continues_after_crashes_at_all_calls
            an_empty_batch_continues_after_a_crash_at_each_call
            a_subflow_continues_after_a_crash_at_each_call
            items_continue_after_a_crash_at_each_call
            branches_continue_after_a_crash_at_each_call
            nested_parts_continue_after_a_crash_at_each_call
            a_composite_node_continues_after_a_crash_at_each_call
            a_composite_node_continues_after_crashes_at_all_calls
            composite_items_continue_after_a_crash_at_each_call
            a_failure_is_reported_after_a_crash_at_each_call
            a_failed_item_is_reported_after_a_crash_at_each_call
            a_failed_post_is_reported_after_a_crash_at_each_call
            retries_continue_after_a_crash_at_each_call
            retries_of_items_continue_after_a_crash_at_each_call
            the_last_retry_fails_after_a_crash_at_each_call
            a_fallback_is_used_after_a_crash_at_each_call
            a_timeout_continues_after_a_crash_at_each_call
            a_timeout_expires_after_a_crash_at_each_call
            a_sleep_continues_after_a_crash_at_each_call
            waits_continue_after_a_crash_at_each_call
            items_wait_for_the_same_event
            a_composite_node_waits
            a_wait_is_answered_within_its_limit
            a_wait_times_out
            a_loop_may_be_dropped_anywhere
            a_batch_may_be_dropped_anywhere
            branches_may_be_dropped_anywhere
            a_composite_node_may_be_dropped_anywhere
            a_run_that_ended_is_replayed
            an_early_answer_is_kept
            answers_are_used_in_order
            a_used_answer_survives_a_crash
            a_refused_answer_can_be_replaced
            an_unknown_event_is_refused
            a_late_answer_is_refused
            the_limit_of_a_wait_does_not_start_over
            a_sleep_is_not_shortened
            a_cancelled_run_stays_cancelled
            a_changed_flow_is_refused_with_the_difference
            a_large_outcome_is_recorded
            an_outcome_above_the_limit_is_refused
            hostile_run_ids_are_kept_apart
            hostile_event_names_are_kept_apart
            an_outage_loses_nothing
        }
    };
}

/// Makes a test of each case for stores and for engines. The expression is evaluated in each test,
/// and returns an `Option` with a new, empty store; with `None`, the test is skipped.
#[macro_export]
macro_rules! store_tests {
    ($make:expr) => {
        $crate::engine_tests!($make.map($crate::StoreEngine::new));
        $crate::__tests! {
            $crate::run_store_test, $make,
            a_run_is_started_once
            a_missing_run_is_reported
            the_input_is_kept
            a_different_input_is_refused_at_any_point
            the_same_input_resumes_a_run_at_any_point
            a_different_state_is_refused
            of_two_takers_one_is_refused
            of_many_takers_one_gets_the_run
            a_run_in_use_is_not_removed
            a_process_that_lost_its_run_cannot_write
            a_process_that_lost_its_run_cannot_fold
            a_torn_write_loses_only_what_was_not_written
            a_torn_write_keeps_earlier_answers
            runs_are_listed_with_their_status
            a_run_in_use_is_listed
            hostile_ids_are_listed
            a_removed_run_leaves_nothing
            other_runs_are_not_removed
            a_missing_run_is_not_removed
            a_changed_flow_is_accepted_on_request
            a_different_flow_is_refused
            a_change_of_the_past_is_found
            a_longer_flow_continues_after_the_end
            an_answer_comes_from_another_process
            unused_answers_are_limited
            a_run_with_snapshots_continues_after_a_crash_at_each_call
            a_run_with_snapshots_may_be_dropped_anywhere
            a_snapshot_keeps_answers_and_the_input
            a_fork_takes_earlier_steps_from_the_record
            an_impossible_fork_leaves_no_run
            an_input_above_the_limit_is_refused
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ($run:path, $make:expr, $($name:ident)+) => {
        $(#[test]
        fn $name() {
            $run(stringify!($name), || $make)
        })+
    };
}
