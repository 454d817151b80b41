//! The body of generated tests.

use std::io::Write;

use tokio::runtime::Builder;

use crate::{CaseResult, TestedEngine, TestedStore, check_engine_case, check_store_case, report};

/// Runs one case in a runtime of its own.
///
/// # Panics
///
/// Panics if the case fails.
#[doc(hidden)]
pub fn run_engine_test<E: TestedEngine>(name: &str, make: impl FnOnce() -> Option<E>) {
    block_on(async {
        let Some(engine) = make() else { return };
        let verdict = check_engine_case(name, &engine).await;
        judge(&engine.name(), name, verdict);
    });
}

/// Runs one case in a runtime of its own.
///
/// # Panics
///
/// Panics if the case fails.
#[doc(hidden)]
pub fn run_store_test<S: TestedStore>(name: &str, make: impl FnOnce() -> Option<S>) {
    block_on(async {
        let Some(store) = make() else { return };
        let subject = store.name();
        let verdict = check_store_case(name, store).await;
        judge(&subject, name, verdict);
    });
}

#[expect(clippy::panic, reason = "a test fails by a panic")]
fn block_on(test: impl Future<Output = ()>) {
    match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(test),
        Err(error) => panic!("the runtime of the test cannot be created: {error}"),
    }
}

#[expect(clippy::panic, reason = "a test fails by a panic")]
fn judge(subject: &str, name: &str, verdict: Option<CaseResult>) {
    let Some(verdict) = verdict else {
        panic!("there is no case `{name}`");
    };

    let line = report::line(name, &verdict);
    match verdict {
        CaseResult::Failed(_) => panic!("{subject}: {line}"),
        // Past the capture of the output of tests that pass, since nothing was tested.
        CaseResult::Skipped { .. } => {
            let _ = writeln!(std::io::stderr(), "{subject}: {line}");
        }
        CaseResult::Passed => {}
    }
}
