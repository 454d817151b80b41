use std::fmt;

use cogwork_text::ErrorText;

use crate::{CaseResult, ConformanceCase};

/// The results of all cases on one subject.
///
/// `Display` writes a line for each case, and for a failed one also the promise that isn't kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConformanceReport {
    /// The name of the subject.
    pub subject: String,
    /// Each case with its result.
    pub results: Vec<(ConformanceCase, CaseResult)>,
}

impl ConformanceReport {
    /// Returns the names of the cases that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        self.names(|verdict| matches!(verdict, CaseResult::Failed(_)))
    }

    /// Returns the names of the cases that were skipped.
    pub fn skipped(&self) -> Vec<&'static str> {
        self.names(|verdict| matches!(verdict, CaseResult::Skipped { .. }))
    }

    fn names(&self, matches: impl Fn(&CaseResult) -> bool) -> Vec<&'static str> {
        let matching = self.results.iter().filter(|(_, verdict)| matches(verdict));
        matching.map(|(case, _)| case.name).collect()
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.failed().len();
        let skipped = self.skipped().len();
        let passed = self.results.len() - failed - skipped;
        writeln!(
            f,
            "{}: {passed} passed, {failed} failed, {skipped} skipped",
            ErrorText(&self.subject)
        )?;

        for (case, verdict) in &self.results {
            writeln!(f, "{}", line(case.name, verdict))?;
            if matches!(verdict, CaseResult::Failed(_)) {
                writeln!(f, "         promise: {}", case.promise)?;
            }
        }
        Ok(())
    }
}

/// Returns the line of a case.
pub(crate) fn line(name: &str, verdict: &CaseResult) -> String {
    match verdict {
        CaseResult::Passed => format!("passed   {name}"),
        CaseResult::Skipped { lacks, why } => {
            format!("skipped  {name}: the subject lacks {lacks}: {why}")
        }
        CaseResult::Failed(problem) => format!("failed   {name}: {problem}"),
    }
}
