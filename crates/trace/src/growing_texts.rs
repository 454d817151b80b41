use std::collections::{HashMap, HashSet};
use std::{fmt, mem};

use cogwork_flow::engine::StepName;
use cogwork_flow::nodes::Phase;
use cogwork_flow::watch::{Event, EventKind, ReportedValue};
use cogwork_typed::ask::ChatEvent;
use serde::{Deserialize, Serialize};

/// The number of bytes that are held back. They contain at least 8 characters in any spelling, and
/// parts of secrets of that length are hidden.
const HELD: usize = 128;

/// How many places to try at which a text can be split.
const TRIED: usize = 64;

/// Follows the texts that models write in a run: the thoughts of loops and strategies, and otherwise
/// the replies.
///
/// A secret may arrive in pieces. If there are secrets, the end of a text is held back until it is clear
/// that it isn't the beginning of one.
///
/// ```
/// use cogwork_flow::watch::{events, note_growth};
/// use cogwork_flow::{Flow, from_exec};
/// use cogwork_trace::GrowingTexts;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let write = from_exec(async |()| {
///     for piece in ["hun", "ter2 is the password"] {
///         note_growth(|| piece.to_owned());
///     }
///     Ok::<_, std::io::Error>(())
/// });
/// let flow = Flow::from_node("write", write)?;
/// let (sink, mut events) = events(100);
/// flow.begin().with_events(sink).finish(&mut ()).await?;
///
/// let mut texts = GrowingTexts::default().with_secrets(|text| text.replace("hunter2", "…"));
/// let mut shown = String::new();
/// while let Some(event) = events.next().await {
///     shown.extend(texts.add(&event).map(|piece| piece.text));
/// }
/// assert_eq!(shown, "… is the password");
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct GrowingTexts {
    secrets: Option<Box<Hide>>,
    /// The nodes that report their thoughts. Their raw replies aren't for people.
    thinkers: HashSet<String>,
    /// The steps that wrote something since their last whole text.
    writing: HashSet<StepName>,
    held: HashMap<StepName, Held>,
}

/// Hides secrets in a text.
type Hide = dyn Fn(&str) -> String + Send + Sync;

/// A piece of a text that a model writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Piece {
    /// The name of the step, as in its events.
    pub step: StepName,
    /// The text.
    pub text: String,
    /// Whether it replaces the earlier pieces of the step.
    pub is_start: bool,
    /// Whether the text ends with this piece, which may be empty. It has all of a text that didn't
    /// grow.
    pub is_end: bool,
}

/// A report as far as it is about texts. Loops and strategies use the same names.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Report {
    Thinking {
        text: String,
        is_start: bool,
    },
    Thought {
        text: String,
    },
    Stage {
        text: String,
    },
    #[serde(other)]
    Other,
}

impl GrowingTexts {
    /// Sets a function that hides secrets in the texts, such as
    /// [`Mask::hide`](cogwork_text::Mask::hide). Nothing is hidden by default.
    #[must_use]
    pub fn with_secrets(mut self, hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.secrets = Some(Box::new(hide));
        self
    }

    /// Returns what an event adds to the text of its step, if it adds anything.
    pub fn add(&mut self, event: &Event) -> Option<Piece> {
        let step = event.step.as_deref()?;
        match &event.kind {
            // Another note isn't a part of what the model writes.
            EventKind::Noted {
                text,
                is_growth: true,
            } if !self.thinkers.contains(&step.place()) => self.grow(step, text, false),
            EventKind::Reported { report } => self.add_report(step, report),
            EventKind::PhaseFinished { phase, .. } => {
                let piece = self.finish(step);
                if *phase == Phase::Post {
                    // Also the items of the visit, which have no post of their own.
                    self.writing.retain(|other| visit(other) != *step);
                }
                piece
            }
            // Whoever is asked has to see all that was written.
            EventKind::Paused(_) => self.finish(&without_call(step)),
            _ => None,
        }
    }

    /// Ends all texts with what was held back. For a run that stops, since nothing may follow.
    pub fn end_all(&mut self) -> Vec<Piece> {
        self.writing.clear();
        let mut held: Vec<_> = mem::take(&mut self.held).into_iter().collect();
        held.retain(|(_, held)| !held.0.is_empty());
        let pieces = held.into_iter().map(|(step, held)| Piece {
            step,
            text: self.hidden(&held.0),
            is_start: false,
            is_end: true,
        });
        pieces.collect()
    }

    fn add_report(&mut self, step: &StepName, report: &ReportedValue) -> Option<Piece> {
        if let Some(ChatEvent::Replied { response, .. }) = report.downcast_ref() {
            let is_thinker = self.thinkers.contains(&step.place());
            return if is_thinker {
                None
            } else {
                self.end(step, response.text())
            };
        }
        // Other reports, such as those of tools and programs, aren't about thoughts.
        if !["reasoning", "solving"].contains(&report.source()) {
            return None;
        }

        self.thinkers.insert(step.place());
        match serde_json::from_str(&report.to_json().ok()?).ok()? {
            Report::Thinking { text, is_start } => self.grow(step, &text, is_start),
            Report::Thought { text } | Report::Stage { text } => self.end(step, &text),
            Report::Other => None,
        }
    }

    fn grow(&mut self, step: &StepName, text: &str, is_start: bool) -> Option<Piece> {
        if is_start {
            self.held.remove(step);
        }
        // A reply after another one takes its place, since that could not be used.
        let is_start = self.writing.insert(without_call(step)) || is_start;
        let text = match &self.secrets {
            Some(hide) => {
                let held = self.held.entry(step.clone()).or_default();
                held.push(text, hide)
            }
            None => text.to_owned(),
        };

        // A start also says that the earlier pieces are void.
        let is_shown = is_start || !text.is_empty();
        is_shown.then(|| Piece {
            step: step.clone(),
            text,
            is_start,
            is_end: false,
        })
    }

    /// Ends a text with what was held back, or with all of it if it didn't grow.
    fn end(&mut self, step: &StepName, whole: &str) -> Option<Piece> {
        let has_grown = self.writing.remove(&without_call(step));
        let text = match self.held.remove(step) {
            Some(held) => held.0,
            None if has_grown => String::new(),
            None => whole.to_owned(),
        };
        Some(Piece {
            step: step.clone(),
            text: self.hidden(&text),
            is_start: !has_grown,
            is_end: true,
        })
    }

    /// Ends the texts of a step, also of calls in it that were stopped.
    fn finish(&mut self, step: &StepName) -> Option<Piece> {
        let held = self.held.extract_if(|name, _| without_call(name) == *step);
        let text: String = held.map(|(_, held)| held.0).collect();
        (!text.is_empty()).then(|| Piece {
            step: step.clone(),
            text: self.hidden(&text),
            is_start: false,
            is_end: true,
        })
    }

    fn hidden(&self, text: &str) -> String {
        self.secrets
            .as_ref()
            .map_or_else(|| text.to_owned(), |hide| hide(text))
    }
}

/// Returns the step around a call: a thought is reported after the calls for it.
fn without_call(step: &StepName) -> StepName {
    let mut step = step.clone();
    step.call = None;
    step
}

/// Returns the step around an item or a call.
fn visit(step: &StepName) -> StepName {
    let mut step = without_call(step);
    step.item = None;
    step
}

/// The end of a text, which may be the beginning of a secret.
#[derive(Default)]
struct Held(String);

impl Held {
    /// Adds a piece, and returns what can be shown now.
    fn push(&mut self, piece: &str, hide: impl Fn(&str) -> String) -> String {
        self.0.push_str(piece);
        let Some(end) = self.0.len().checked_sub(HELD) else {
            return String::new();
        };

        // What is shown now and what is shown later must be the whole text without secrets. Where a
        // secret spans the split, its two halves would be hidden separately or not at all.
        let whole = hide(&self.0);
        let places = (0..=end).rev().filter(|at| self.0.is_char_boundary(*at));
        let split = places.take(TRIED).find_map(|at| {
            let (before, after) = self.0.split_at_checked(at)?;
            let shown = hide(before);
            (shown.clone() + &hide(after) == whole).then_some((at, shown))
        });

        let Some((at, shown)) = split else {
            return String::new();
        };
        self.0.drain(..at);
        shown
    }
}

impl fmt::Debug for GrowingTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingTexts").finish_non_exhaustive()
    }
}
