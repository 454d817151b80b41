//! The stage of a thought that doesn't name one.

use cogwork_strategies::{BranchId, Parameter, Session, Stage};
use serde_json::Value;

use super::given::Given;
use crate::think::failure::fields_of;
use crate::think::report::{Report, following};
use crate::think::sessions::nothing;
use crate::tool::ToolFailure;

/// Returns the stage to which a thought on a branch belongs, or `None` for the first one.
///
/// It is the one that may follow and whose parameters were given. The session checks it like any
/// other.
pub(super) fn stage<'s>(
    session: &'s Session,
    branch: BranchId,
    given: &Given,
) -> Result<Option<&'s Stage>, ToolFailure> {
    let stages = following(session, branch);
    let is_first = session
        .branch(branch)
        .is_ok_and(|line| line.tip().is_none());
    if is_first {
        return Ok(None);
    }
    among(stages, given).map_err(|()| needed(session, branch))
}

/// Returns the stage among those that may follow, or an error if several fit as well.
pub(super) fn among<'s>(stages: Vec<&'s Stage>, given: &Given) -> Result<Option<&'s Stage>, ()> {
    if let [only] = stages[..] {
        return Ok(Some(only));
    }
    if given.wants_end
        && let Some(end) = stages.iter().find(|stage| stage.is_final())
    {
        return Ok(Some(end));
    }

    let has_all = |stage: &&Stage| {
        let mut required = stage.parameters().iter();
        required.all(|(name, of)| !of.is_required() || given.values.contains_key(name))
    };
    let fitting: Vec<&Stage> = stages.into_iter().filter(has_all).collect();
    let most = fitting.iter().map(|stage| used(stage, given)).max();
    let mut best = fitting
        .into_iter()
        .filter(|stage| Some(used(stage, given)) == most);

    match (best.next(), best.next()) {
        (Some(_), Some(_)) => Err(()),
        (best, _) => Ok(best),
    }
}

/// Returns how many of the given values are parameters of a stage.
fn used(stage: &Stage, given: &Given) -> usize {
    let parameters: Vec<(&String, &Parameter)> = stage.parameters().iter().collect();
    let is_given = |(name, _): &&(&String, &Parameter)| given.values.contains_key(*name);
    parameters.iter().filter(is_given).count()
}

/// Returns the failure that asks for a stage.
fn needed(session: &Session, branch: BranchId) -> ToolFailure {
    let report = Report::new(None, session, nothing(branch));
    let names: Vec<&str> = report.next.iter().map(|next| &*next.stage).collect();
    let names = cogwork_text::NameList::or(&names);
    let message = format!("several stages may follow; name one as `stage`: {names}");

    let mut data = fields_of(&report);
    let error = serde_json::json!({"kind": "stage_needed", "message": message});
    data.insert("error".to_owned(), error);
    ToolFailure::Described {
        message,
        data: Value::Object(data),
    }
}
