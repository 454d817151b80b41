//! Runs the cases on a subject.

use std::sync::Arc;

use crate::engine_cases::{self, EngineCase};
use crate::store_cases::{self, StoreCase};
use crate::{
    Ability, CaseResult, ConformanceCase, ConformanceReport, StoreEngine, TestedEngine, TestedStore,
};

/// Returns the cases for engines.
pub fn engine_cases() -> Vec<ConformanceCase> {
    engine_cases::all()
        .into_iter()
        .map(|case| case.case)
        .collect()
}

/// Returns the cases for stores, to which those for engines are added.
pub fn store_cases() -> Vec<ConformanceCase> {
    store_cases::all()
        .into_iter()
        .map(|case| case.case)
        .collect()
}

/// Checks an engine with all cases. `make` returns a new subject for each of them.
pub async fn check_engine<E: TestedEngine>(make: impl Fn() -> E) -> ConformanceReport {
    let mut subject = String::new();
    let mut results = Vec::new();

    for case in engine_cases::all() {
        let engine = make();
        subject = engine.name();
        let verdict = engine_verdict(&case, &engine).await;
        results.push((case.case, verdict));
    }

    ConformanceReport { subject, results }
}

/// Checks a store with all cases, first those for engines and then those for stores. `make` returns
/// a new, empty subject for each of them.
pub async fn check_store<S: TestedStore>(make: impl Fn() -> S) -> ConformanceReport {
    let mut report = check_engine(|| StoreEngine::new(make())).await;

    for case in store_cases::all() {
        let verdict = store_verdict(&case, Arc::new(make())).await;
        report.results.push((case.case, verdict));
    }

    report
}

/// Checks an engine with the case of this name. Returns `None` if there is no such case.
pub async fn check_engine_case(name: &str, engine: &dyn TestedEngine) -> Option<CaseResult> {
    let cases = engine_cases::all();
    let case = cases.iter().find(|case| case.case.name == name)?;
    Some(engine_verdict(case, engine).await)
}

/// Checks a store, which must be empty, with the case of this name, which may be one for engines.
/// Returns `None` if there is no such case.
pub async fn check_store_case(name: &str, store: impl TestedStore) -> Option<CaseResult> {
    let store: Arc<dyn TestedStore> = Arc::new(store);
    let cases = store_cases::all();
    match cases.iter().find(|case| case.case.name == name) {
        Some(case) => Some(store_verdict(case, store).await),
        None => check_engine_case(name, &StoreEngine::over(store)).await,
    }
}

async fn store_verdict(case: &StoreCase, store: Arc<dyn TestedStore>) -> CaseResult {
    if let Some(skipped) = skipped(&case.case, |ability| store.lacks(ability)) {
        return skipped;
    }

    match (case.check)(store).await {
        Ok(()) => CaseResult::Passed,
        Err(problem) => CaseResult::Failed(problem),
    }
}

async fn engine_verdict(case: &EngineCase, engine: &dyn TestedEngine) -> CaseResult {
    if let Some(skipped) = skipped(&case.case, |ability| engine.lacks(ability)) {
        return skipped;
    }

    match (case.check)(engine).await {
        Ok(()) => CaseResult::Passed,
        Err(problem) => CaseResult::Failed(problem),
    }
}

fn skipped(
    case: &ConformanceCase,
    lacks: impl Fn(Ability) -> Option<&'static str>,
) -> Option<CaseResult> {
    case.needs.iter().find_map(|ability| {
        let why = lacks(*ability)?;
        Some(CaseResult::Skipped {
            lacks: *ability,
            why,
        })
    })
}
