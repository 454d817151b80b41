//! Runs the cases on a subject.

use std::fmt;
use std::sync::Arc;

use cogwork_flow::BoxError;
use cogwork_text::ErrorText;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

use super::engine_cases::ENGINE_CASES;
use super::store_cases::{STORE_CASES, Store};
use super::trial::StoreEngine;
use super::{Ability, TestedEngine, TestedStore};

/// How many cases run at the same time.
const AT_ONCE: usize = 8;

/// What a case found.
pub(super) type Checked = Result<(), BoxError>;

/// A case for a subject of this type: its name, the ability without which it is skipped, and the check.
pub(super) type Case<Check> = (&'static str, Option<Ability>, Check);
pub(super) type EngineCase = Case<for<'e> fn(&'e dyn TestedEngine) -> BoxFuture<'e, Checked>>;
pub(super) type StoreCase = Case<fn(Store) -> BoxFuture<'static, Checked>>;

/// Makes a table of cases of functions with their names.
macro_rules! cases {
    ($table:ident: $case:ty, |$subject:ident|; $($name:ident $(needs $ability:ident)?,)+) => {
        pub(super) const $table: &[$case] = &[$((
            stringify!($name),
            [$(Some(super::Ability::$ability),)? None][0],
            |$subject| Box::pin($name($subject)),
        )),+];
    };
}
pub(super) use cases;

/// Checks an engine with all cases. `make` returns a new subject for each of them.
pub async fn check_engine<E: TestedEngine>(make: impl Fn() -> E) -> ConformanceReport {
    let cases = ENGINE_CASES.iter().map(|(name, needs, check)| {
        let engine = make();
        async move {
            match needs.filter(|ability| engine.lacks().contains(ability)) {
                Some(ability) => (*name, Found::Skipped(ability)),
                None => (*name, Found::of(check(&engine).await)),
            }
        }
    });

    ConformanceReport(stream::iter(cases).buffered(AT_ONCE).collect().await)
}

/// Checks a store with all cases, first those for engines and then those for stores. `make` returns
/// a new, empty subject for each of them.
pub async fn check_store<S: TestedStore>(make: impl Fn() -> S) -> ConformanceReport {
    let mut report = check_engine(|| StoreEngine::over(Arc::new(make()))).await;

    let cases = STORE_CASES.iter().map(|(name, needs, check)| {
        let store = make();
        async move {
            match needs.filter(|ability| store.lacks().contains(ability)) {
                Some(ability) => (*name, Found::Skipped(ability)),
                None => (*name, Found::of(check(Arc::new(store)).await)),
            }
        }
    });
    let found: Vec<_> = stream::iter(cases).buffered(AT_ONCE).collect().await;
    report.0.extend(found);
    report
}

/// What all cases found of one subject.
///
/// `Display` writes a line for each of them.
#[derive(Debug, Clone)]
pub struct ConformanceReport(Vec<(&'static str, Found)>);

#[derive(Debug, Clone)]
enum Found {
    Passed,
    Skipped(Ability),
    Failed(String),
}

impl Found {
    fn of(checked: Checked) -> Self {
        match checked {
            Ok(()) => Self::Passed,
            Err(problem) => Self::Failed(ErrorText(problem).to_string()),
        }
    }
}

impl ConformanceReport {
    /// Returns the names of the cases that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        let has_failed = |found: &Found| matches!(found, Found::Failed(_));
        let failed = self.0.iter().filter(|(_, found)| has_failed(found));
        failed.map(|(name, _)| *name).collect()
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, found) in &self.0 {
            match found {
                Found::Passed => writeln!(f, "passed   {name}")?,
                Found::Skipped(lacks) => writeln!(f, "skipped  {name} (lacks {lacks:?})")?,
                Found::Failed(problem) => writeln!(f, "failed   {name}: {problem}")?,
            }
        }
        Ok(())
    }
}

/// Returns a problem unless the two are equal.
pub(super) fn equal<T: PartialEq + fmt::Debug>(
    at: impl fmt::Display,
    expected: &T,
    got: &T,
) -> Checked {
    if expected == got {
        return Ok(());
    }

    unexpected(at, format_args!("{expected:?}"), got)
}

/// Returns the problem that something else happened than was expected.
pub(super) fn unexpected<T>(
    at: impl fmt::Display,
    expected: impl fmt::Display,
    got: &dyn fmt::Debug,
) -> Result<T, BoxError> {
    Err(format!("{at}: expected {expected}; got {got:?}").into())
}
