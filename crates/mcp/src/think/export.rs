//! Sessions as JSON, Markdown and Mermaid, within bounds.

use cogwork_strategies::{Branch, Session, Thought};
use cogwork_text::OneLine;

use crate::shown::mermaid::Drawing;
use crate::shown::{Shown, ShownThought, markdown};
use crate::store::SessionId;

/// The maximum number of characters of a title.
const TITLE: usize = 120;

/// The maximum number of branches that are listed.
const BRANCHES: usize = 100;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A snapshot that `Session::from_json` reads.
    Json,
    Markdown,
    Mermaid,
}

impl Format {
    pub(crate) const ALL: [(&str, Self); 3] = [
        ("json", Self::Json),
        ("markdown", Self::Markdown),
        ("mermaid", Self::Mermaid),
    ];
}

/// What to export.
pub(crate) struct Exporting<'a> {
    pub(crate) id: &'a SessionId,
    pub(crate) purpose: &'a str,
    pub(crate) session: &'a Session,
    /// How many thoughts are before the exported ones.
    pub(crate) offset: usize,
    /// The maximum length in bytes.
    pub(crate) bytes: usize,
}

/// A session in one of the forms.
pub(crate) struct Export {
    pub(crate) text: String,
    /// The offset at which to continue, if not all thoughts fit.
    pub(crate) next_offset: Option<usize>,
}

/// Returns a session in this form.
///
/// # Errors
///
/// Returns an error if the form cannot be divided and is too long.
pub(crate) fn export(format: Format, exporting: &Exporting<'_>) -> Result<Export, String> {
    match format {
        Format::Json => json(exporting),
        Format::Markdown => Ok(divided(exporting)),
        Format::Mermaid => Ok(drawing(exporting)),
    }
}

/// Returns the snapshot of a session.
fn json(exporting: &Exporting<'_>) -> Result<Export, String> {
    let most = exporting.bytes;
    let text =
        serde_json::to_string_pretty(exporting.session).map_err(|error| error.to_string())?;
    if text.len() > most {
        return Err(format!(
            "the session has more than {most} bytes as JSON; export it as markdown, which is \
             divided, or show some of its thoughts"
        ));
    }
    Ok(Export {
        text,
        next_offset: None,
    })
}

/// Returns thoughts as Markdown.
fn divided(exporting: &Exporting<'_>) -> Export {
    let session = exporting.session;
    let total = session.thoughts().len();
    let mut text = markdown::head(&head(exporting));

    let thoughts = session.thoughts().iter().enumerate();
    for (index, one) in thoughts.skip(exporting.offset) {
        let section = markdown::thought(&thought(session, one));
        let is_first = index == exporting.offset;
        if !is_first && text.len().saturating_add(section.len()) > exporting.bytes {
            let more = total.saturating_sub(index);
            let note = format!("\n{more} more thoughts from the offset {index}.\n");
            text.push_str(&note);
            return Export {
                text,
                next_offset: Some(index),
            };
        }
        text.push_str(&section);
    }

    Export {
        text,
        next_offset: None,
    }
}

/// Draws thoughts.
fn drawing(exporting: &Exporting<'_>) -> Export {
    let session = exporting.session;
    let title = match (exporting.offset, exporting.purpose.trim()) {
        (0, "") => "Session".to_owned(),
        (0, purpose) => OneLine::new(purpose).with_max_chars(TITLE).to_string(),
        (1, _) => "1 earlier thought".to_owned(),
        (earlier, _) => format!("{earlier} earlier thoughts"),
    };
    let mut drawing = Drawing::new(&title, exporting.bytes);

    let thoughts = session.thoughts().iter().enumerate();
    let mut thoughts = thoughts.skip(exporting.offset);
    let full = thoughts.find(|(_, one)| !drawing.add(&thought(session, one)));
    Export {
        text: drawing.finish(None),
        next_offset: full.map(|(index, _)| index),
    }
}

/// Returns a session without its thoughts.
pub(crate) fn head(exporting: &Exporting<'_>) -> Shown {
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
pub(crate) fn thought(session: &Session, thought: &Thought) -> ShownThought {
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
