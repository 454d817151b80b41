//! What Markdown and drawings show of a session.

use cogwork_strategies::{Branch, Session, Thought};

use super::Exporting;
use crate::shown::{Shown, ShownThought};

/// The maximum number of branches that are listed.
const BRANCHES: usize = 100;

/// Returns a session without its thoughts.
pub(super) fn head(exporting: &Exporting<'_>) -> Shown {
    let session = exporting.session;
    let mut facts = vec![
        ("Session", exporting.id.to_string()),
        ("Strategy", session.strategy().name().to_owned()),
    ];

    let branches = session.branches().iter();
    facts.extend(branches.take(BRANCHES).map(|one| ("Branch", branch(one))));
    let more = session.branches().len().saturating_sub(BRANCHES);
    if more > 0 {
        facts.push(("More branches", more.to_string()));
    }

    let title = match exporting.purpose.trim() {
        "" => "Session",
        purpose => purpose,
    };
    Shown {
        title: title.to_owned(),
        facts,
        ..Shown::default()
    }
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

/// Returns a thought.
pub(super) fn thought(session: &Session, thought: &Thought) -> ShownThought {
    let branch = session.branch(thought.branch());
    let branch = branch.map(|branch| branch.name().to_owned());
    let details = thought.parameters();
    let details = details.map(|(name, value)| (name.to_owned(), value.to_string()));

    ShownThought {
        number: thought.id().get().into(),
        label: thought.stage().name().to_owned(),
        strategy: Some(thought.strategy().name().to_owned()),
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
