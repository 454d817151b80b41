//! The states of the methods, as sessions show them.

use cogwork_cot::{Reasoning, ReasoningEnd};
use cogwork_strategies::{BranchId, Solving, ThoughtId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::entry::{Outcome, SolveEnd, SolveStep, SolveThought};

/// How much of a state was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) thoughts: usize,
    pub(super) calls: usize,
}

/// The state of a run.
pub(super) trait Traced: Send {
    /// Returns what was added since.
    fn step_after(&self, recorded: Recorded) -> SolveStep;

    /// Returns the end of a run that wasn't interrupted.
    fn end(&self) -> SolveEnd;

    /// Returns the best answer so far.
    fn best(&self) -> Option<String>;
}

impl Recorded {
    pub(super) fn and(self, step: &SolveStep) -> Self {
        Self {
            thoughts: self.thoughts.saturating_add(step.thoughts.len()),
            calls: self.calls.saturating_add(step.calls.len()),
        }
    }
}

impl Traced for Solving {
    fn step_after(&self, recorded: Recorded) -> SolveStep {
        let thoughts = self.session().thoughts().iter();
        let thoughts = thoughts.skip(recorded.thoughts);
        let calls = self.calls().iter().skip(recorded.calls);

        SolveStep {
            thoughts: thoughts.map(|thought| thought_of(self, thought)).collect(),
            calls: calls.map(in_json).collect(),
            spent: self.spent(),
        }
    }

    fn end(&self) -> SolveEnd {
        use cogwork_strategies::EndReason;

        let is_answered = matches!(self.end(), Some(EndReason::Answered));
        let reason = self.end().map(ToString::to_string);
        SolveEnd {
            outcome: answered_or_stopped(is_answered),
            answer: Traced::best(self),
            confidence: self.best().and_then(|answer| answer.confidence),
            reason: reason.unwrap_or_else(|| "the run ended without a reason".to_owned()),
        }
    }

    fn best(&self) -> Option<String> {
        self.best().map(|answer| answer.text.clone())
    }
}

fn thought_of(solving: &Solving, thought: &cogwork_strategies::Thought) -> SolveThought {
    let branch = solving.session().branch(thought.branch()).ok();
    let branch = branch.filter(|branch| branch.id() != BranchId::MAIN);
    let parameters = thought.parameters();
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.clone()));

    SolveThought {
        number: thought.id().get(),
        parents: thought.parents().map(ThoughtId::get).collect(),
        branch: branch.map(|branch| branch.name().to_owned()),
        stage: thought.stage().name().to_owned(),
        text: thought.text().to_owned(),
        parameters: parameters.collect(),
        revises: thought.revises().map(ThoughtId::get),
    }
}

impl Traced for Reasoning {
    fn step_after(&self, recorded: Recorded) -> SolveStep {
        let thoughts = self.thoughts().iter().skip(recorded.thoughts);
        let traces = self.thoughts().iter().map(|thought| thought.trace());
        let unfinished = self.cut_short().map(|cut| cut.trace());
        let traces = traces.chain(unfinished.filter(|trace| !trace.tries.is_empty()));

        SolveStep {
            thoughts: thoughts.map(planned).collect(),
            calls: traces.skip(recorded.calls).map(in_json).collect(),
            spent: self.spent(),
        }
    }

    fn end(&self) -> SolveEnd {
        let end = self.end_reason();
        let reason = match end {
            Some(ReasoningEnd::Limit(limit)) => format!("the limit of {limit} was reached"),
            Some(_) => "answered".to_owned(),
            None => "the run ended without an answer".to_owned(),
        };

        SolveEnd {
            outcome: answered_or_stopped(self.is_complete()),
            answer: self.best(),
            confidence: None,
            reason,
        }
    }

    /// The conclusion is short; the full text is the last thought.
    fn best(&self) -> Option<String> {
        self.conclusion().or(self.answer()).map(str::to_owned)
    }
}

fn planned(thought: &cogwork_cot::Thought) -> SolveThought {
    let number = thought.thought_number();
    let planning = in_json(thought.planning());

    SolveThought {
        number,
        parents: (number > 1)
            .then(|| number.saturating_sub(1))
            .into_iter()
            .collect(),
        branch: None,
        stage: "think".to_owned(),
        text: thought.current_thinking().to_owned(),
        parameters: Map::from_iter([("planning".to_owned(), planning)]),
        revises: None,
    }
}

/// The state of a flow, with the answer that its file defines.
#[cfg(feature = "agents")]
pub(super) struct FileView<'a> {
    pub(super) flow: &'a cogwork_agents::FileFlow,
    pub(super) state: &'a cogwork_agents::FlowState,
}

#[cfg(feature = "agents")]
impl Traced for FileView<'_> {
    fn step_after(&self, recorded: Recorded) -> SolveStep {
        // The oldest visits may have been dropped.
        let dropped = usize::try_from(self.state.dropped_visits()).unwrap_or(usize::MAX);
        let visits = self.state.visits().enumerate();
        let visits = visits.map(|(index, visit)| (index.saturating_add(dropped), visit));
        let visits: Vec<_> = visits
            .filter(|(index, _)| *index >= recorded.thoughts)
            .collect();

        let mut spent = cogwork_strategies::Spent::default();
        spent.calls = self.state.calls();
        spent.usage = self.state.usage();
        SolveStep {
            thoughts: visits
                .iter()
                .map(|(index, visit)| self.visited(*index, visit))
                .collect(),
            calls: visits.iter().map(|(_, visit)| self.shown(visit)).collect(),
            spent,
        }
    }

    fn end(&self) -> SolveEnd {
        let answer = self.flow.answer(self.state);
        let (outcome, reason) = match &answer {
            Ok(answer) => match &answer.cut_short {
                None => (Outcome::Answered, "answered".to_owned()),
                Some(why) => (Outcome::Stopped, why.clone()),
            },
            Err(error) => (Outcome::Failed, error.to_string()),
        };

        SolveEnd {
            outcome,
            answer: answer
                .ok()
                .map(|answer| self.flow.hide_secrets(&answer.text)),
            confidence: None,
            reason: self.flow.hide_secrets(&reason),
        }
    }

    fn best(&self) -> Option<String> {
        let last = self.state.visits().last()?;
        let output = last.output.as_ref()?;
        Some(self.flow.hide_secrets(&output.text))
    }
}

#[cfg(feature = "agents")]
impl FileView<'_> {
    fn visited(&self, index: usize, visit: &cogwork_agents::Visit) -> SolveThought {
        let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        let text = visit.output.as_ref().map_or("", |output| &output.text);

        SolveThought {
            number,
            parents: (number > 1)
                .then(|| number.saturating_sub(1))
                .into_iter()
                .collect(),
            branch: None,
            stage: visit.node.clone(),
            text: self.flow.hide_secrets(text),
            parameters: Map::new(),
            revises: None,
        }
    }

    fn shown(&self, visit: &cogwork_agents::Visit) -> Value {
        let json = in_json(visit).to_string();
        let shown = self.flow.hide_secrets(&json);
        serde_json::from_str(&shown).unwrap_or(Value::String(shown))
    }
}

fn answered_or_stopped(is_answered: bool) -> Outcome {
    if is_answered {
        Outcome::Answered
    } else {
        Outcome::Stopped
    }
}

fn in_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| json!({"error": error.to_string()}))
}
