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
use super::{TestedEngine, TestedStore};

/// How many cases run at the same time.
const AT_ONCE: usize = 8;

/// What a case found.
pub(super) type Checked = Result<(), BoxError>;

/// A case: its name, and the check of a subject.
pub(super) type EngineCase = (
    &'static str,
    for<'e> fn(&'e dyn TestedEngine) -> BoxFuture<'e, Checked>,
);
pub(super) type StoreCase = (&'static str, fn(Store) -> BoxFuture<'static, Checked>);

/// Makes a table of cases of functions with their names.
macro_rules! cases {
    ($table:ident: $case:ty, |$subject:ident|; $($name:ident,)+) => {
        pub(super) const $table: &[$case] =
            &[$((stringify!($name), |$subject| Box::pin($name($subject)))),+];
    };
}
pub(super) use cases;

/// Checks an engine with all cases. `make` returns a new subject for each of them.
pub async fn check_engine<E: TestedEngine>(make: impl Fn() -> E) -> ConformanceReport {
    let cases = ENGINE_CASES.iter().map(|(name, check)| {
        let engine = make();
        async move { (*name, check(&engine).await) }
    });

    ConformanceReport::of(cases).await
}

/// Checks a store with all cases, first those for engines and then those for stores. `make` returns
/// a new, empty subject for each of them.
pub async fn check_store<S: TestedStore>(make: impl Fn() -> S) -> ConformanceReport {
    let engine = || StoreEngine::over(Arc::new(make()));
    let ConformanceReport(mut found) = check_engine(engine).await;

    let cases = STORE_CASES.iter().map(|(name, check)| {
        let store = Arc::new(make());
        async move { (*name, check(store).await) }
    });
    found.extend(ConformanceReport::of(cases).await.0);
    ConformanceReport(found)
}

/// What all cases found of one subject.
///
/// `Display` writes a line for each of them.
#[derive(Debug, Clone)]
pub struct ConformanceReport(Vec<(&'static str, Option<String>)>);

impl ConformanceReport {
    async fn of<C>(cases: impl Iterator<Item = C>) -> Self
    where
        C: Future<Output = (&'static str, Checked)>,
    {
        // Not `buffer_unordered`, so that the report has the cases in their order.
        let found = stream::iter(cases).buffered(AT_ONCE);
        let found = found.map(|(name, checked)| {
            let problem = checked.err().map(|problem| ErrorText(problem).to_string());
            (name, problem)
        });
        Self(found.collect().await)
    }

    /// Returns the names of the cases that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.0.iter().filter(|(_, problem)| problem.is_some());
        failed.map(|(name, _)| *name).collect()
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, problem) in &self.0 {
            match problem {
                None => writeln!(f, "passed  {name}")?,
                Some(problem) => writeln!(f, "failed  {name}: {problem}")?,
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
