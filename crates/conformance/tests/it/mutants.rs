//! The suite can fail: each case finds a mistake that it is about.

use std::collections::BTreeSet;

use cogwork_conformance::{
    CaseResult, check_engine, check_engine_case, check_store, check_store_case, engine_cases,
    store_cases,
};

use crate::engines::{Mistake, OwnEngine};
use crate::own_store::Mutant::{self, *};
use crate::own_store::OwnStore;

#[tokio::test]
async fn a_store_without_mistakes_passes() {
    let report = check_store(OwnStore::default).await;
    assert!(report.failed().is_empty(), "{report}");
    assert_eq!(report.skipped(), ["a_cancelled_run_stays_cancelled"]);
}

#[tokio::test]
async fn an_engine_without_mistakes_passes() {
    let report = check_engine(|| OwnEngine::new(Mistake::None)).await;
    assert!(report.failed().is_empty(), "{report}");
    assert_eq!(
        report.skipped(),
        [
            "a_late_answer_is_refused",
            "a_changed_flow_is_refused_with_the_difference",
            "an_outcome_above_the_limit_is_refused",
            "an_outage_loses_nothing",
        ]
    );
}

/// A report contains what was expected, what happened and where, and the promise.
#[tokio::test]
async fn a_failed_case_is_explained() {
    let report = check_store(|| OwnStore::with_mutant(OverwritesRuns)).await;
    let report = report.to_string();
    let run_id = report.split('"').nth(1).unwrap();
    let report = report.replace(run_id, "ID");
    let lines: Vec<_> = report
        .lines()
        .skip_while(|line| !line.starts_with("failed"))
        .take(2)
        .collect();

    assert_eq!(
        lines,
        [
            "failed   a_run_is_started_once: a second start: expected the refusal `AlreadyThere`; \
             got Opened { run_id: \"ID\", state: [1, 1] }",
            "         promise: A run is started once. A second start is refused and changes nothing.",
        ]
    );
}

/// Each mistake of a store, with cases that have to find it.
const IN_STORES: &[(Mutant, &[&str])] = &[
    (
        LosesTheLastLine,
        &[
            "a_loop_continues_after_a_crash_at_each_call",
            "a_loop_continues_after_crashes_at_all_calls",
            "a_batch_continues_after_a_crash_at_each_call",
            "a_batch_continues_after_crashes_at_all_calls",
            "an_empty_batch_continues_after_a_crash_at_each_call",
            "a_subflow_continues_after_a_crash_at_each_call",
            "items_continue_after_a_crash_at_each_call",
            "branches_continue_after_a_crash_at_each_call",
            "nested_parts_continue_after_a_crash_at_each_call",
            "a_composite_node_continues_after_a_crash_at_each_call",
            "a_composite_node_continues_after_crashes_at_all_calls",
            "composite_items_continue_after_a_crash_at_each_call",
            "retries_continue_after_a_crash_at_each_call",
            "retries_of_items_continue_after_a_crash_at_each_call",
            "a_fallback_is_used_after_a_crash_at_each_call",
            "a_timeout_continues_after_a_crash_at_each_call",
            "a_timeout_expires_after_a_crash_at_each_call",
            "a_loop_may_be_dropped_anywhere",
            "a_batch_may_be_dropped_anywhere",
            "branches_may_be_dropped_anywhere",
            "a_composite_node_may_be_dropped_anywhere",
            "a_large_outcome_is_recorded",
            "the_same_input_resumes_a_run_at_any_point",
            "a_run_with_snapshots_continues_after_a_crash_at_each_call",
            "a_run_with_snapshots_may_be_dropped_anywhere",
        ],
    ),
    (ReturnsLinesOutOfOrder, &["answers_are_used_in_order"]),
    (
        LetsTwoTakersIn,
        &[
            "of_two_takers_one_is_refused",
            "of_many_takers_one_gets_the_run",
            "a_run_in_use_is_not_removed",
        ],
    ),
    (
        IgnoresTheFence,
        &[
            "a_process_that_lost_its_run_cannot_write",
            "a_process_that_lost_its_run_cannot_fold",
        ],
    ),
    (
        ForgetsAnswers,
        &[
            "an_early_answer_is_kept",
            "a_used_answer_survives_a_crash",
            "a_refused_answer_can_be_replaced",
            "waits_continue_after_a_crash_at_each_call",
            "items_wait_for_the_same_event",
            "a_composite_node_waits",
            "a_wait_is_answered_within_its_limit",
            "an_answer_comes_from_another_process",
        ],
    ),
    (AcceptsLateAnswers, &["a_late_answer_is_refused"]),
    (
        AcceptsUnknownEvents,
        &[
            "an_unknown_event_is_refused",
            "hostile_event_names_are_kept_apart",
        ],
    ),
    (KeepsAllAnswers, &["unused_answers_are_limited"]),
    (OverwritesRuns, &["a_run_is_started_once"]),
    (StartsMissingRuns, &["a_missing_run_is_reported"]),
    (
        IgnoresChangedFlows,
        &[
            "a_changed_flow_is_refused_with_the_difference",
            "a_changed_flow_is_accepted_on_request",
        ],
    ),
    (
        ForgetsTheChange,
        &[
            "a_changed_flow_is_accepted_on_request",
            "a_longer_flow_continues_after_the_end",
        ],
    ),
    (RenamesOldSteps, &["a_change_of_the_past_is_found"]),
    (IgnoresTheNamesOfFlows, &["a_different_flow_is_refused"]),
    (
        IgnoresTheInput,
        &["a_different_input_is_refused_at_any_point"],
    ),
    (
        RefusesTheSameInput,
        &["the_same_input_resumes_a_run_at_any_point"],
    ),
    (ForgetsTheFirstState, &["a_different_state_is_refused"]),
    (RoundsTheInput, &["the_input_is_kept"]),
    (
        RefusesTornLines,
        &[
            "a_torn_write_loses_only_what_was_not_written",
            "a_torn_write_keeps_earlier_answers",
        ],
    ),
    (
        DropsTheLineBeforeATornOne,
        &[
            "a_torn_write_loses_only_what_was_not_written",
            "a_torn_write_keeps_earlier_answers",
        ],
    ),
    (
        MixesIds,
        &["hostile_run_ids_are_kept_apart", "hostile_ids_are_listed"],
    ),
    (KeepsRemovedRuns, &["a_removed_run_leaves_nothing"]),
    (RemovesSimilarRuns, &["other_runs_are_not_removed"]),
    (RemovesMissingRuns, &["a_missing_run_is_not_removed"]),
    (
        LosesAnswersInSnapshots,
        &["a_snapshot_keeps_answers_and_the_input"],
    ),
    (ReportsTooEarly, &["an_outage_loses_nothing"]),
    (DropsLargeLines, &["an_outcome_above_the_limit_is_refused"]),
    (
        KeepsRunsThatDidNotStart,
        &["an_input_above_the_limit_is_refused"],
    ),
    (
        ForgetsLimits,
        &[
            "the_limit_of_a_wait_does_not_start_over",
            "a_wait_times_out",
        ],
    ),
    (
        ForksTooLate,
        &["a_fork_takes_earlier_steps_from_the_record"],
    ),
    (
        KeepsForksThatDidNotStart,
        &["an_impossible_fork_leaves_no_run"],
    ),
    (ListsAllAsOpen, &["runs_are_listed_with_their_status"]),
    (HidesRunsInUse, &["a_run_in_use_is_listed"]),
];

/// Each mistake of an engine, with cases that have to find it.
const IN_ENGINES: &[(Mistake, &[&str])] = &[
    (
        Mistake::HidesFailures,
        &[
            "a_failure_is_reported_after_a_crash_at_each_call",
            "a_failed_item_is_reported_after_a_crash_at_each_call",
            "a_failed_post_is_reported_after_a_crash_at_each_call",
            "the_last_retry_fails_after_a_crash_at_each_call",
        ],
    ),
    (Mistake::SkipsSleeps, &["a_sleep_is_not_shortened"]),
    (
        Mistake::ForgetsCancellation,
        &["a_cancelled_run_stays_cancelled"],
    ),
    (
        Mistake::ForgetsEverything,
        &[
            "a_run_that_ended_is_replayed",
            "a_sleep_continues_after_a_crash_at_each_call",
            "a_loop_continues_after_a_crash_at_each_call",
        ],
    ),
];

fn is_failed(verdict: Option<CaseResult>) -> bool {
    matches!(verdict, Some(CaseResult::Failed(_)))
}

#[tokio::test]
async fn each_mistake_of_a_store_is_found_by_the_cases_about_it() {
    let mut missed = Vec::new();
    for (mutant, cases) in IN_STORES {
        for case in *cases {
            let verdict = check_store_case(case, OwnStore::with_mutant(*mutant)).await;
            if !is_failed(verdict) {
                missed.push((*mutant, *case));
            }
        }
    }

    assert!(missed.is_empty(), "{missed:?}");
}

#[tokio::test]
async fn each_mistake_of_an_engine_is_found_by_the_cases_about_it() {
    let mut missed = Vec::new();
    for (mistake, cases) in IN_ENGINES {
        for case in *cases {
            let verdict = check_engine_case(case, &OwnEngine::new(*mistake)).await;
            if !is_failed(verdict) {
                missed.push((*mistake, *case));
            }
        }
    }

    assert!(missed.is_empty(), "{missed:?}");
}

/// A case that no mistake can fail would test nothing.
#[test]
fn each_case_finds_a_mistake() {
    let in_stores = IN_STORES.iter().flat_map(|(_, cases)| cases.iter());
    let in_engines = IN_ENGINES.iter().flat_map(|(_, cases)| cases.iter());
    let finding: BTreeSet<_> = in_stores.chain(in_engines).copied().collect();
    let all = engine_cases().into_iter().chain(store_cases());
    let all: BTreeSet<_> = all.map(|case| case.name).collect();

    let without: Vec<_> = all.difference(&finding).collect();
    assert!(without.is_empty(), "{without:?}");
    assert_eq!(finding.difference(&all).count(), 0, "unknown names");
}
