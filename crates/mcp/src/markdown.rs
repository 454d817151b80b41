//! Sessions as Markdown. Texts of models are code, so that they can't contain headings, links or
//! images.

use std::fmt::Write;

use cogwork_strategies::session::{BranchId, Session, Thought};
use cogwork_text::{MultiLine, OneLine};
use serde::{Deserialize, Serialize};

use crate::store::SessionHeader;

/// The maximum number of characters of a title.
const TITLE: usize = 200;

/// The maximum length of the thoughts that are shown, in bytes, unless the last one is longer. The
/// oldest ones are left out.
pub(crate) const BYTES: usize = 1024 * 1024;

/// A session as people see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    title: String,
    /// Lines such as the strategy and the state.
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) problem: Option<String>,
    /// The number of older thoughts, which aren't shown.
    older: u64,
    steps: Vec<Step>,
    pub(crate) answer: Option<String>,
}

/// A thought of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Unique in the session.
    pub(crate) number: u64,
    /// The thoughts that it follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parents: Vec<u64>,
    /// The branch, unless it is the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The stage of a strategy, the node of a flow, or another short label.
    pub(crate) stage: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revises: Option<u64>,
    pub(crate) text: String,
    /// Names and values, such as parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<(String, String)>,
}

impl Step {
    /// Returns a thought that follows the one before it.
    pub(crate) fn after_last(
        number: u64,
        stage: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let parent = Some(number.saturating_sub(1)).filter(|parent| *parent > 0);
        Self {
            number,
            parents: parent.into_iter().collect(),
            stage: stage.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// Returns a thought of a session that follows a strategy.
    pub(crate) fn of(session: &Session, thought: &Thought) -> Self {
        let branch = session.branch(thought.branch).ok();
        // Most sessions have only the main branch, which would be mentioned at every thought.
        let branch = branch.filter(|branch| branch.id != BranchId::MAIN);
        let details = thought.details();
        let details = details.map(|(name, value)| (name.to_owned(), value));
        let parents = thought.parents().map(|parent| parent.0 as u64);

        Self {
            number: thought.id.0 as u64,
            parents: parents.collect(),
            branch: branch.map(|branch| branch.name.clone()),
            stage: thought.stage.clone(),
            revises: thought.revises.map(|revised| revised.0 as u64),
            text: thought.text.clone(),
            details: details.collect(),
        }
    }

    /// Returns whether there is nothing to show but the stage.
    fn is_folded(&self) -> bool {
        self.text.trim().is_empty() && self.details.is_empty()
    }
}

impl Shown {
    /// Returns a session without its thoughts.
    pub(crate) fn of(session: &SessionHeader) -> Self {
        let mut facts = vec![
            ("Session", session.id.to_string()),
            ("Kind", session.kind.as_str().to_owned()),
            ("State", session.status().to_owned()),
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

    /// Adds as many of the newest thoughts as fit, but at least one. `dropped` older ones are not
    /// among them.
    pub(crate) fn with_steps(mut self, mut steps: Vec<Step>, dropped: u64) -> Self {
        let mut bytes = 0_usize;
        let newest = steps.iter().rev().take_while(|step| {
            bytes = bytes.saturating_add(thought(step).len());
            bytes <= BYTES
        });
        // A reader needs at least the last thought, however long it is.
        let fitting = newest.count().max(1);

        // The newest ones count, so the rest is cut at the beginning.
        let older = steps.len().saturating_sub(fitting);
        self.steps = steps.split_off(older);
        let older = u64::try_from(older).unwrap_or(u64::MAX);
        self.older = dropped.saturating_add(older);
        self
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head();
        let mut folded = Vec::new();
        for step in &self.steps {
            if step.is_folded() {
                folded.push(format!("{}. {}", step.number, code(&step.stage)));
                continue;
            }
            text += &passed(&mut folded);
            text += &thought(step);
        }
        text += &passed(&mut folded);

        if let Some(answer) = &self.answer {
            text += &section("## Answer");
            text += &section(&block(answer));
        }
        text
    }

    /// Returns what comes before the thoughts.
    fn head(&self) -> String {
        let title = OneLine::new(&self.title).with_max_chars(TITLE).to_string();
        let mut text = format!("# {}\n", code(&title));
        let facts = self.facts.iter();
        let facts = facts.map(|(name, value)| format!("- {name}: {}", code(value)));
        text += &section(&facts.collect::<Vec<_>>().join("\n"));

        if let Some(problem) = &self.problem {
            text += &section("## Problem");
            text += &section(&block(problem));
        }
        match self.older {
            0 => {}
            1 => text += &section("1 older thought isn't shown."),
            older => text += &section(&format!("{older} older thoughts aren't shown.")),
        }
        text
    }
}

/// Returns the stages in which there was nothing to say, as one line.
fn passed(folded: &mut Vec<String>) -> String {
    let stages = std::mem::take(folded);
    match stages.as_slice() {
        [] => String::new(),
        stages => section(&format!("Passed: {}", stages.join(", "))),
    }
}

fn thought(thought: &Step) -> String {
    let mut text = section(&heading(thought));
    if !thought.text.is_empty() {
        text += &section(&block(&thought.text));
    }
    if !thought.details.is_empty() {
        let details = thought.details.iter();
        let details = details.map(|(name, value)| format!("- {}: {}", code(name), code(value)));
        text += &section(&details.collect::<Vec<_>>().join("\n"));
    }
    text
}

fn heading(thought: &Step) -> String {
    let mut text = format!("## {}. {}", thought.number, code(&thought.stage));
    // Writing to a text doesn't fail.
    if let Some(branch) = &thought.branch {
        let _ = write!(text, " on {}", code(branch));
    }
    if let Some(revised) = thought.revises {
        let _ = write!(text, ", revises {revised}");
    }
    if thought.parents.len() > 1 {
        let parents: Vec<_> = thought.parents.iter().map(ToString::to_string).collect();
        let _ = write!(text, ", follows {}", parents.join(" and "));
    }
    text
}

fn section(section: &str) -> String {
    format!("\n{section}\n")
}

/// Returns a text on one line as a code span, which it cannot end.
pub(crate) fn code(text: &str) -> String {
    let text = OneLine::new(text).to_string();
    match (text.trim(), longest_run(&text)) {
        ("", _) => "` `".to_owned(),
        (text, 0) => format!("`{text}`"),
        (text, run) => {
            // Longer than any run in the text, so that the text cannot end the code.
            let fence = "`".repeat(run.saturating_add(1));
            format!("{fence} {text} {fence}")
        }
    }
}

/// Returns a text as a code block, which it cannot end.
fn block(text: &str) -> String {
    let text = MultiLine::new(text).to_string();
    let fence = "`".repeat(longest_run(&text).saturating_add(1).max(3));
    format!("{fence}text\n{text}\n{fence}")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}
