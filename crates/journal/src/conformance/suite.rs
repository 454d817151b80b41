//! Runs the cases on a subject.

use std::fmt;
use std::sync::Arc;

use cogwork_text::ErrorText;
use futures_util::{StreamExt, stream};

use super::broken_promise::{BrokenPromise, Checked};
use super::engine_cases::{self, EngineCase};
use super::run::StoreEngine;
use super::store_cases::{self, StoreCase};
use super::{Ability, TestedEngine, TestedStore};

/// How many cases run at the same time.
const AT_ONCE: usize = 8;

/// A case of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// What the contract demands.
    pub(super) promise: &'static str,
    /// The abilities without which the case is skipped.
    pub(super) needs: &'static [Ability],
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseResult {
    /// The subject does what the case demands.
    Passed,
    /// The subject lacks an ability.
    Skipped {
        /// The ability.
        lacks: Ability,
        /// Why the subject lacks it.
        why: &'static str,
    },
    /// The subject doesn't do what the case demands.
    Failed(BrokenPromise),
}

/// Checks an engine with all cases. `make` returns a new subject for each of them.
pub async fn check_engine<E: TestedEngine>(make: impl Fn() -> E) -> ConformanceReport {
    let cases = engine_cases::all().into_iter().map(|case| {
        let engine = make();
        async move { (case.case, engine_result(&case, &engine).await) }
    });

    ConformanceReport {
        subject: make().name(),
        results: stream::iter(cases).buffered(AT_ONCE).collect().await,
    }
}

/// Checks a store with all cases, first those for engines and then those for stores. `make` returns
/// a new, empty subject for each of them.
pub async fn check_store<S: TestedStore>(make: impl Fn() -> S) -> ConformanceReport {
    let mut report = check_engine(|| StoreEngine::over(Arc::new(make()))).await;

    let cases = store_cases::all().into_iter().map(|case| {
        let store = Arc::new(make());
        async move { (case.case, store_result(&case, store).await) }
    });
    let results: Vec<_> = stream::iter(cases).buffered(AT_ONCE).collect().await;
    report.results.extend(results);
    report
}

/// Checks a store, which must be empty, with the case of this name, which may be one for engines.
/// Returns `None` if there is no such case.
pub async fn check_store_case(name: &str, store: impl TestedStore) -> Option<CaseResult> {
    let store: Arc<dyn TestedStore> = Arc::new(store);
    let cases = store_cases::all();
    if let Some(case) = cases.iter().find(|case| case.case.name == name) {
        return Some(store_result(case, store).await);
    }

    let cases = engine_cases::all();
    let case = cases.iter().find(|case| case.case.name == name)?;
    Some(engine_result(case, &StoreEngine::over(store)).await)
}

async fn store_result(case: &StoreCase, store: Arc<dyn TestedStore>) -> CaseResult {
    match skipped(&case.case, |ability| store.lacks(ability)) {
        Some(skipped) => skipped,
        None => result((case.check)(store).await),
    }
}

async fn engine_result(case: &EngineCase, engine: &dyn TestedEngine) -> CaseResult {
    match skipped(&case.case, |ability| engine.lacks(ability)) {
        Some(skipped) => skipped,
        None => result((case.check)(engine).await),
    }
}

fn skipped(case: &Case, lacks: impl Fn(Ability) -> Option<&'static str>) -> Option<CaseResult> {
    case.needs.iter().find_map(|ability| {
        let why = lacks(*ability)?;
        Some(CaseResult::Skipped {
            lacks: *ability,
            why,
        })
    })
}

fn result(checked: Checked) -> CaseResult {
    match checked {
        Ok(()) => CaseResult::Passed,
        Err(problem) => CaseResult::Failed(problem),
    }
}

/// The results of all cases on one subject.
///
/// `Display` writes a line for each case, and for a failed one also the promise that isn't kept.
#[derive(Debug, Clone)]
pub struct ConformanceReport {
    subject: String,
    results: Vec<(Case, CaseResult)>,
}

impl ConformanceReport {
    /// Returns the names of the cases that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = |result: &CaseResult| matches!(result, CaseResult::Failed(_));
        let results = self.results.iter().filter(|(_, result)| failed(result));
        results.map(|(case, _)| case.name).collect()
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", ErrorText(&self.subject))?;

        for (Case { name, promise, .. }, result) in &self.results {
            match result {
                CaseResult::Passed => writeln!(f, "passed   {name}")?,
                CaseResult::Skipped { lacks, why } => {
                    writeln!(f, "skipped  {name}: the subject lacks {lacks}: {why}")?;
                }
                CaseResult::Failed(problem) => {
                    writeln!(f, "failed   {name}: {problem}")?;
                    writeln!(f, "         promise: {promise}")?;
                }
            }
        }
        Ok(())
    }
}
