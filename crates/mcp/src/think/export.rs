//! Sessions of `think` as JSON, Markdown and Mermaid, within bounds.

use cogwork_strategies::{Branch, Session, Thought};

use super::sessions::{Begun, ThinkState};
use crate::resources::SessionFormat;
use crate::shown::{Shown, Step, markdown, mermaid};
use crate::store::{Owner, SessionHeader, SessionId, SessionStore, StoreError};
use crate::tool::ToolFailure;

/// The maximum number of branches that are listed.
const BRANCHES: usize = 100;

/// Returns a session in a form, with as many of the newest thoughts as fit.
///
/// # Errors
///
/// Returns an error if the form cannot be divided and is too long.
pub(super) fn export(
    begun: &Begun,
    id: &SessionId,
    format: SessionFormat,
    bytes: usize,
) -> Result<String, ToolFailure> {
    match format {
        SessionFormat::Markdown => Ok(markdown::session(&newest(begun, id, bytes))),
        SessionFormat::Mermaid => Ok(mermaid::session(&newest(begun, id, bytes))),
        SessionFormat::Json => {
            let text = serde_json::to_string_pretty(&begun.session);
            let text = text.map_err(ToolFailure::message)?;
            if text.len() <= bytes {
                return Ok(text);
            }
            let message = format!(
                "the session has more than {bytes} bytes as JSON; export it as markdown, or show \
                 some of its thoughts"
            );
            Err(ToolFailure::of_kind("too_long", message))
        }
    }
}

/// Returns what a resource shows of a session.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let state: ThinkState = store.read(owner, &session.id).await?;
    let bytes = store.limits().export_bytes;
    let shown = state.begun.map(|begun| newest(&begun, &session.id, bytes));
    Ok(shown.unwrap_or_default())
}

fn newest(begun: &Begun, id: &SessionId, bytes: usize) -> Shown {
    let Begun { purpose, session } = begun;
    let branches = session.branches();
    let mut facts = vec![
        ("Session", id.to_string()),
        ("Strategy", session.strategy().name().to_owned()),
    ];
    let listed = branches.iter().take(BRANCHES);
    facts.extend(listed.map(|one| ("Branch", branch(one))));
    if branches.len() > BRANCHES {
        let more = branches.len().saturating_sub(BRANCHES);
        facts.push(("More branches", more.to_string()));
    }

    let title = match purpose.trim() {
        "" => "Session",
        purpose => purpose,
    };
    let thoughts = session.thoughts().iter();
    Shown {
        title: title.to_owned(),
        facts,
        ..Shown::default()
    }
    .with_newest(thoughts.map(|one| thought(session, one)).collect(), bytes)
}

fn branch(branch: &Branch) -> String {
    let name = branch.name();
    let status = branch.status();
    let thoughts = match branch.thoughts().len() {
        1 => "1 thought".to_owned(),
        more => format!("{more} thoughts"),
    };

    let from = branch.forked_from();
    let from = from.map_or_else(String::new, |from| format!(", from thought {from}"));
    let score = branch.score();
    let score = score.map_or_else(String::new, |score| format!(", score {score}"));
    format!("{name}: {status}, {thoughts}{from}{score}")
}

fn thought(session: &Session, thought: &Thought) -> Step {
    let branch = session.branch(thought.branch());
    let branch = branch.map(|branch| branch.name().to_owned());
    let details = thought.parameters();
    let details = details.map(|(name, value)| (name.to_owned(), value.to_string()));

    Step {
        number: thought.id().get().into(),
        stage: thought.stage().to_owned(),
        strategy: Some(thought.strategy().to_owned()),
        branch: branch.ok(),
        parents: thought
            .parents()
            .map(|parent| parent.get().into())
            .collect(),
        revises: thought.revises().map(|revised| revised.get().into()),
        text: thought.text().to_owned(),
        details: details.collect(),
    }
}
