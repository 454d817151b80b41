//! Opens and closes branches.

use super::approach::free_name;
use super::tree;
use crate::{
    AskProblem, BranchId, SessionError, SessionLimit, SolveError, Solving, ThoughtDraft, ThoughtId,
};

/// Opens a branch of an approach. Returns `None` if the session has reached its limit of branches.
pub(super) fn fork(
    solving: &mut Solving,
    from: ThoughtId,
    approach: &str,
) -> Result<Option<BranchId>, SolveError> {
    let session = solving.session_mut();
    let name = free_name(session, approach);

    match session.fork(from, name) {
        Ok(branch) => Ok(Some(branch)),
        Err(SessionError::Full {
            limit: SessionLimit::Branches,
            ..
        }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Marks a branch without further steps as ended, or prunes it if it was never scored.
pub(super) fn end_branch(solving: &mut Solving, branch: BranchId) -> Result<(), SolveError> {
    let session = solving.session_mut();
    session.think_on(branch, ThoughtDraft::here("No step is left to take."))?;

    if session.branch(branch)?.score().is_none() {
        return prune(solving, branch);
    }

    tree::mark(solving, tree::ENDED, branch);
    Ok(())
}

/// Prunes a branch for which the model couldn't be asked, unless the run is about to end.
pub(super) fn abandon(
    solving: &mut Solving,
    branch: BranchId,
    what: &str,
    problem: AskProblem,
) -> Result<(), SolveError> {
    if matches!(problem, AskProblem::OutOf(_)) {
        return Ok(());
    }

    let remark = ThoughtDraft::here(format!("{what}: {problem}"));
    solving.session_mut().think_on(branch, remark)?;
    prune(solving, branch)
}

pub(super) fn prune_all(
    solving: &mut Solving,
    branches: impl IntoIterator<Item = BranchId>,
) -> Result<(), SolveError> {
    branches
        .into_iter()
        .try_for_each(|branch| prune(solving, branch))
}

pub(super) fn prune(solving: &mut Solving, branch: BranchId) -> Result<(), SolveError> {
    let session = solving.session_mut();
    if session.current() == branch {
        session.switch(BranchId::MAIN)?;
    }

    Ok(session.prune(branch)?)
}
