use cogwork_ask::{GrowingText, Growth};
use cogwork_flow::{is_followed, report_growth};
use serde::Serialize;

use super::fields::INVENTED;
use super::form::{Form, THOUGHT};

/// The source of these events, in the events of a run.
pub(super) const SOURCE: &str = "solving";

/// An event of a strategy, for programs that show it. The events are the
/// [reports](cogwork_flow::EventKind::Reported) with the source `solving` in the events of the run.
///
/// An event is serialised as one object with a `type`:
///
/// ```json
/// {"type": "thinking", "question": "", "text": "First, I", "is_start": true}
/// ```
///
/// Later versions may add types and fields; readers should ignore those that they don't know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SolvingEvent {
    /// The text of a thought grows. The pieces since the last start are the text so far. Of several
    /// questions that are asked at the same time, each thought is reported as a whole.
    Thinking {
        /// The name of the [question](crate::Ask::with_name), which distinguishes it from others
        /// that are asked at the same time.
        question: String,
        /// The next piece of the text.
        text: String,
        /// Whether the text begins with this piece, which replaces all earlier ones of this
        /// question.
        is_start: bool,
    },
}

/// Reports the thought in the replies to a question while it grows, if the run is watched.
pub(super) struct Thinking<'a> {
    question: &'a str,
    growing: Option<GrowingText>,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(question: &'a str, form: &Form) -> Self {
        Self {
            question,
            growing: is_followed().then(|| growing(form)),
        }
    }

    /// Begins with the next reply.
    pub(super) fn begin(&mut self) {
        if let Some(growing) = &mut self.growing {
            growing.reset();
        }
    }

    pub(super) fn push(&mut self, piece: &str) {
        let Some(growing) = &mut self.growing else {
            return;
        };

        if let Some(growth) = growing.push(piece) {
            report_growth(SOURCE, || event(self.question, growth));
        }
    }

    /// Reports what is missing of the thought that was read.
    pub(super) fn finish(&mut self, read: &str) {
        let Some(growing) = &mut self.growing else {
            return;
        };

        if let Some(growth) = growing.finish(read) {
            report_growth(SOURCE, || event(self.question, growth));
        }
    }
}

fn growing(form: &Form) -> GrowingText {
    if form.is_free() {
        return GrowingText::of_reply();
    }

    let fields = form.fields.iter().map(|field| field.name.as_str());
    GrowingText::in_lines(THOUGHT, fields.chain([form.next_label(), INVENTED]))
}

fn event(question: &str, growth: Growth<'_>) -> SolvingEvent {
    SolvingEvent::Thinking {
        question: question.to_owned(),
        text: growth.added().to_owned(),
        is_start: growth.is_start(),
    }
}
