//! Branches by name.

use cogwork_strategies::{Branch, BranchId, Session};
use cogwork_text::{Name, NameList};
use serde_json::json;

use crate::tool::ToolFailure;

/// Returns the branch with this name, or the current one.
pub(crate) fn branch(session: &Session, name: Option<&str>) -> Result<BranchId, ToolFailure> {
    let Some(name) = name else {
        return Ok(session.current());
    };
    let found = session.branch_named(name).map(Branch::id);
    found.ok_or_else(|| unknown(session, name))
}

fn unknown(session: &Session, name: &str) -> ToolFailure {
    let names: Vec<&str> = session.branches().iter().map(Branch::name).collect();
    let expected = NameList::or(&names);
    let message = format!("there is no branch `{}`; expected {expected}", Name(name));
    let data = json!({"error": {
        "kind": "no_such_branch",
        "message": message,
        "branch": Name(name).to_string(),
    }});
    ToolFailure::Described { message, data }
}

/// Returns the name for a new branch without one.
pub(crate) fn new_name(session: &Session) -> String {
    let count = session.branches().len();
    let mut numbers = count..;
    let name = numbers.find_map(|number| {
        let name = format!("branch-{number}");
        session.branch_named(&name).is_none().then_some(name)
    });
    name.unwrap_or_default()
}
