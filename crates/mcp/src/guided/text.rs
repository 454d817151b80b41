//! What a call returns, as text for a model.

use std::fmt::{self, Write};

use super::view::{QuestionKind, QuestionView, View};
use crate::run::Status;

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for refused in &self.not_accepted {
            let question = &refused.question;
            writeln!(f, "Not accepted: {question}: {}", refused.problem)?;
        }
        for repair in &self.repairs {
            writeln!(f, "Repaired: {repair}")?;
        }

        match self.status {
            Status::Open => self.write_questions(f)?,
            _ => self.write_end(f)?,
        }
        self.write_budget(f)
    }
}

impl View {
    fn write_questions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown: Option<&QuestionView> = None;
        for question in &self.questions {
            let same = shown.filter(|first| first.asks_the_same(question));
            question.write(f, same)?;
            shown = same.or(Some(question));
        }

        let ids = self.questions.iter().map(|question| {
            let id = &question.id;
            format!(r#"{{"question": "{id}", "reply": "…"}}"#)
        });
        let replies = ids.collect::<Vec<_>>().join(", ");
        let session = &self.session_id;
        writeln!(
            f,
            r#"Reply with `answer` {{"sessionId": "{session}", "replies": [{replies}]}}."#
        )?;

        // The messages before those of further questions are shown with the first one.
        let first = self.questions.first();
        if first.is_some_and(|question| question.earlier_messages > 0) {
            writeln!(
                f,
                r#"Earlier messages are left out; `answer` {{"full": true}} shows them."#
            )?;
        }
        if self.questions.len() > 1 {
            writeln!(
                f,
                "The questions are independent, and can be answered one by one or together."
            )?;
        }
        Ok(())
    }

    fn write_end(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.end.as_deref().unwrap_or_default();
        match (self.status, &self.answer) {
            (Status::Failed, _) => writeln!(f, "The session has failed: {end}")?,
            (Status::Stopped, _) => writeln!(f, "The session has ended: {end}")?,
            _ => writeln!(f, "The session is complete.")?,
        }

        match (&self.answer, self.status) {
            (None, _) => writeln!(f, "There is no answer.")?,
            (Some(answer), Status::Answered) => writeln!(f, "Answer: {answer}")?,
            (Some(answer), _) => writeln!(f, "Best answer so far: {answer}")?,
        }
        if let Some(solution) = &self.solution {
            writeln!(f, "Solution: {solution}")?;
        }
        if let Some(confidence) = self.confidence {
            writeln!(f, "Confidence: {confidence:.2}")?;
        }

        for thought in &self.thoughts {
            let number = thought.number;
            writeln!(f, "{number}. {}: {}", thought.stage, thought.text)?;
        }
        Ok(())
    }

    fn write_budget(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = &self.budget;
        write!(
            f,
            "Session {} ({}): {} of {} replies, {} of {} thoughts, {} of {} tokens, {} of {} seconds.",
            self.session_id,
            self.strategy,
            budget.replies,
            budget.max_replies,
            budget.thoughts,
            budget.max_thoughts,
            budget.tokens,
            budget.max_tokens,
            budget.seconds,
            budget.max_seconds,
        )
    }
}

impl QuestionView {
    /// Returns whether the last messages are the same.
    fn asks_the_same(&self, other: &Self) -> bool {
        let last = self.messages.last();
        last.is_some() && last == other.messages.last()
    }

    /// Writes the question. `same` is an earlier question with the same messages.
    fn write(&self, f: &mut fmt::Formatter<'_>, same: Option<&Self>) -> fmt::Result {
        let id = &self.id;
        match &self.asked_again {
            Some(before) => writeln!(
                f,
                "Question {id}, because the reply to {before} was refused:"
            )?,
            None => writeln!(f, "Question {id}:")?,
        }

        if self.kind == QuestionKind::Tool {
            return self.write_tool_call(f);
        }
        if let Some(same) = same {
            let other = &same.id;
            return writeln!(
                f,
                "The same question as {other}. Answer it independently of the other replies.\n"
            );
        }

        let is_only_user = self.messages.iter().all(|message| message.role == "user");
        for message in &self.messages {
            if !is_only_user {
                writeln!(f, "[{}]", message.role)?;
            }
            writeln!(f, "{}\n", message.text.trim_end())?;
        }
        if let Some(most) = self.max_tokens {
            writeln!(f, "Write at most {most} tokens.")?;
        }
        Ok(())
    }

    fn write_tool_call(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_deref().unwrap_or_default();
        write!(f, "Call your tool `{tool}` with ")?;
        match &self.input {
            Some(input) => write!(f, "{input}")?,
            None => f.write_str("no input")?,
        }
        f.write_char('\n')?;
        writeln!(
            f,
            "The reply is its output. If it fails, reply with the error and \"failed\": true.\n"
        )
    }
}
