//! What a call returns: the open questions or the answer, as text for a model.

use std::fmt;

use cogwork_text::counted;

use super::NAME;
use super::entry::Settings;
use super::questions::{Asked, Question};
use super::replay::Progress;
use crate::resources::session_uri;
use crate::run::{End, Status};
use crate::store::SessionId;

/// The state of a session.
pub(super) struct View {
    pub(super) id: SessionId,
    pub(super) settings: Settings,
    pub(super) progress: Progress,
    /// Whether whole conversations are shown, and not only what is new.
    pub(super) is_whole: bool,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for repair in &self.progress.repairs {
            writeln!(f, "Repaired: {repair}")?;
        }

        match &self.progress.end {
            Some(end) => self.write_end(f, end)?,
            None => self.write_question(f)?,
        }
        self.write_place(f)
    }
}

impl View {
    fn write_question(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(question) = &self.progress.question else {
            return Ok(());
        };

        question.write(f, self.is_whole)?;
        let (session, question) = (&self.id, &question.id);
        writeln!(
            f,
            r#"Call `{NAME}` with {{"sessionId": "{session}", "question": "{question}", "reply": "…"}}."#
        )
    }

    fn write_end(&self, f: &mut fmt::Formatter<'_>, end: &End) -> fmt::Result {
        let reason = &end.reason;
        let is_answered = end.status == Status::Answered;
        match end.status {
            Status::Answered => writeln!(f, "The session is complete.")?,
            Status::Failed => writeln!(f, "The session has failed: {reason}")?,
            _ => writeln!(f, "The session has ended: {reason}")?,
        }

        let Some(best) = &self.progress.best else {
            return writeln!(f, "There is no answer.");
        };
        let label = if is_answered {
            "Answer"
        } else {
            "Best answer so far"
        };
        writeln!(f, "{label}: {}", best.answer)?;
        if let Some(solution) = &best.solution {
            writeln!(f, "Solution: {solution}")?;
        }
        Ok(())
    }

    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            method,
            max_replies,
            ..
        } = &self.settings;
        let replies = self.progress.replies;
        let thoughts = counted(self.progress.steps.len(), "thought");
        write!(
            f,
            "Session `{}` ({method}): {replies} of {max_replies} replies, {thoughts}",
            self.id
        )?;
        match self.progress.end {
            Some(_) => write!(f, " in {}.", session_uri(&self.id)),
            None => f.write_str("."),
        }
    }
}

impl Question {
    fn write(&self, f: &mut fmt::Formatter<'_>, is_whole: bool) -> fmt::Result {
        writeln!(f, "Question {}:", self.id)?;
        let (messages, known) = match &self.asked {
            Asked::Model { messages, known } => (messages, *known),
            Asked::Tool { name, input } => {
                return writeln!(
                    f,
                    "Call your tool `{name}` with {input}\nThe reply is its output. If it fails, \
                     reply with the error, and set `failed`.\n"
                );
            }
        };

        let skipped = if is_whole { 0 } else { known };
        let shown = messages.iter().skip(skipped);
        for message in shown {
            // A message alone is that of the user.
            if messages.len() > skipped.saturating_add(1) {
                writeln!(f, "[{}]", message.role().as_str())?;
            }
            writeln!(f, "{}\n", message.text().trim_end())?;
        }
        Ok(())
    }
}
