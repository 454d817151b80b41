//! What drawings and texts show of a session.

use crate::store::SessionHeader;

/// A session as people see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub(crate) title: String,
    /// Lines such as the strategy and the state.
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) problem: Option<String>,
    /// The number of older thoughts, which aren't shown.
    pub(crate) older: u64,
    pub(crate) thoughts: Vec<ShownThought>,
    pub(crate) answer: Option<String>,
}

/// A thought of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownThought {
    /// Unique in the session.
    pub(crate) number: u64,
    /// The stage, or another short label.
    pub(crate) label: String,
    /// The strategy of the stage, if sessions may follow several.
    pub(crate) strategy: Option<String>,
    pub(crate) branch: Option<String>,
    /// The thoughts that it follows.
    pub(crate) parents: Vec<u64>,
    pub(crate) revises: Option<u64>,
    pub(crate) text: String,
    /// Names and values, such as parameters.
    pub(crate) details: Vec<(String, String)>,
}

impl Shown {
    /// Returns a session without its thoughts.
    pub(crate) fn of(session: &SessionHeader) -> Self {
        let state = if session.is_complete {
            "complete"
        } else {
            "open"
        };
        let mut facts = vec![
            ("Session", session.id.to_string()),
            ("Tool", session.kind.as_str().to_owned()),
            ("State", state.to_owned()),
        ];
        if !session.strategy.is_empty() {
            facts.push(("Strategy", session.strategy.clone()));
        }

        Self {
            title: session.title.clone(),
            facts,
            ..Self::default()
        }
    }
}
