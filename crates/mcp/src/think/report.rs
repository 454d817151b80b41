//! Where a session is, and what may follow, for a model.

use std::fmt;

use cogwork_strategies::Stage;
use cogwork_strategies::session::{Branch, BranchId, BranchStatus, Session};
use cogwork_text::{Name, NameList, OneLine};

use super::change::following;
use crate::store::SessionId;

/// The maximum number of other open branches that are listed.
const BRANCHES: usize = 8;

/// Where a session is, on one of its branches. Its length doesn't depend on the number of thoughts.
pub(super) struct Report<'s> {
    /// Missing if no session has begun.
    pub(super) id: Option<&'s SessionId>,
    pub(super) session: &'s Session,
    pub(super) branch: BranchId,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => write!(f, "Session `{id}`, ")?,
            None => f.write_str("No session has begun; ")?,
        }
        if let Ok(branch) = self.session.branch(self.branch) {
            self.write_branch(f, branch)?;
        }

        let strategy = self.session.strategy();
        let stage = self.session.stage_on(self.branch);
        let stage = stage.unwrap_or_else(|_| strategy.start());
        let (stage_name, strategy) = (Name(&stage.name), Name(strategy.name()));
        write!(f, "stage `{stage_name}` of `{strategy}`.")?;

        self.write_others(f)?;
        self.write_next(f, stage)
    }
}

impl Report<'_> {
    fn write_branch(&self, f: &mut fmt::Formatter<'_>, branch: &Branch) -> fmt::Result {
        let is_only = self.session.branches().len() == 1;
        if is_only && branch.status == BranchStatus::Open {
            return Ok(());
        }

        write!(f, "branch `{}` ({}", Name(&branch.name), branch.status)?;
        if self.session.current() != self.branch {
            f.write_str(", not the current one")?;
        }
        if let Some(score) = branch.score {
            write!(f, ", score {score}")?;
        }
        f.write_str("), ")
    }

    /// Lists other open branches, the newest first.
    fn write_others(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A model most likely continues what it began last.
        let newest_first = self.session.branches().iter().rev();
        let others = newest_first
            .filter(|branch| branch.status == BranchStatus::Open && branch.id != self.branch);
        let names: Vec<_> = others.map(|branch| &*branch.name).take(BRANCHES).collect();
        match names.as_slice() {
            [] => Ok(()),
            names => write!(f, " Other open branches: {}.", NameList::and(names)),
        }
    }

    fn write_next(&self, f: &mut fmt::Formatter<'_>, stage: &Stage) -> fmt::Result {
        let next = following(self.session, self.branch);
        match next[..] {
            [] => return f.write_str("\nNothing follows on this branch."),
            [_] => f.write_str("\nNext stage:")?,
            _ => f.write_str("\nNext, one of these stages:")?,
        }

        for next in next {
            write_stage(f, next)?;
        }
        let stage = Name(&stage.name);
        write!(f, "\nA thought without a stage stays in `{stage}`.")
    }
}

fn write_stage(f: &mut fmt::Formatter<'_>, stage: &Stage) -> fmt::Result {
    let prompt = OneLine::new(&stage.prompt);
    write!(f, "\n- `{}`: {prompt}", Name(&stage.name))?;
    if stage.is_final {
        f.write_str(" (final)")?;
    }

    for (name, parameter) in &stage.parameters {
        let is_optional = parameter.is_optional;
        let needs = if is_optional { "may have" } else { "needs" };
        let schema = OneLine::new(&parameter.schema);
        let description = OneLine::new(&parameter.description);
        write!(f, "\n  {needs} `{}` ({schema}): {description}", Name(name))?;
    }
    Ok(())
}
