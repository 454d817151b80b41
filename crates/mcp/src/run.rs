//! The states of runs, as sessions and results show them.

use cogwork_cot::Reasoning;
use cogwork_strategies::{Call, EndReason, Solving};
#[cfg(feature = "agents")]
use cogwork_text::Name;
use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::markdown::Step;

/// The state of a run.
pub(crate) trait RunState: Send {
    /// Returns the thoughts after the first ones.
    fn steps(&self, skipped: usize) -> Vec<Step>;

    /// Returns the calls after the first ones, in the form of the method.
    fn calls(&self, skipped: usize) -> Vec<Value>;

    /// Returns what was repaired in the replies.
    fn repairs(&self) -> Vec<String>;

    fn spent(&self) -> Spent;

    /// Returns the best answer so far.
    fn best(&self) -> Option<Best>;

    /// Returns how the run ended, unless it was interrupted.
    fn end(&self) -> Option<End>;
}

#[derive(Debug, Clone)]
pub(crate) struct Best {
    /// The answer, in a few words if the method provides them.
    pub(crate) answer: String,
    /// The full text, if it isn't the answer itself.
    pub(crate) solution: Option<String>,
    /// From 0 to 1, if the method provides one.
    pub(crate) confidence: Option<f64>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) status: Status,
    /// The reason in words.
    pub(crate) reason: String,
}

impl End {
    pub(crate) fn failed(reason: impl ToString) -> Self {
        Self {
            status: Status::Failed,
            reason: reason.to_string(),
        }
    }
}

/// What has become of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Answered,
    // It reached a limit. The answer, if there is one, is the best one so far.
    Stopped,
    Failed,
    Cancelled,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl RunState for Solving {
    fn steps(&self, skipped: usize) -> Vec<Step> {
        let thoughts = self.session().thoughts().iter().skip(skipped);
        thoughts
            .map(|thought| Step::of(self.session(), thought))
            .collect()
    }

    fn calls(&self, skipped: usize) -> Vec<Value> {
        let calls = self.calls().iter().skip(skipped);
        calls.map(in_json).collect()
    }

    fn repairs(&self) -> Vec<String> {
        let repairs = self.calls().iter().filter_map(|call| match call {
            Call::Model(asked) => Some(&asked.reply.as_ref().ok()?.repairs),
            _ => None,
        });
        repairs.flatten().map(ToString::to_string).collect()
    }

    fn spent(&self) -> Spent {
        self.spent()
    }

    fn best(&self) -> Option<Best> {
        self.answer().map(|answer| Best {
            answer: answer.to_owned(),
            solution: None,
            confidence: self.confidence(),
        })
    }

    fn end(&self) -> Option<End> {
        self.end().map(|reason| End {
            status: match reason {
                EndReason::Answered => Status::Answered,
                _ => Status::Stopped,
            },
            reason: reason.to_string(),
        })
    }
}

impl RunState for Reasoning {
    fn steps(&self, skipped: usize) -> Vec<Step> {
        let thoughts = self.thoughts().iter().skip(skipped);
        let steps = thoughts.map(|thought| {
            let number = thought.thought_number.into();
            let mut step = Step::after_last(number, "thought", thought.current_thinking.trim());
            let plan = thought.planning.outline().to_string();
            step.details.push(("planning".to_owned(), plan));
            step
        });
        steps.collect()
    }

    fn calls(&self, skipped: usize) -> Vec<Value> {
        let traces = self.thoughts().iter().map(|thought| &thought.trace);
        let unfinished = self.cut_short().map(|cut| &cut.trace);
        let traces = traces.chain(unfinished.filter(|trace| !trace.tries.is_empty()));
        traces.skip(skipped).map(in_json).collect()
    }

    fn repairs(&self) -> Vec<String> {
        let thoughts = self.thoughts().iter();
        let repairs = thoughts.flat_map(|thought| &thought.trace.repairs);
        repairs.map(ToString::to_string).collect()
    }

    fn spent(&self) -> Spent {
        self.spent()
    }

    fn best(&self) -> Option<Best> {
        let last = self.thoughts().last()?.current_thinking.as_str();
        let answer = self.answer().unwrap_or(last);
        Some(Best {
            answer: answer.to_owned(),
            // A short answer may be all that the last thought says.
            solution: (answer != last).then(|| last.to_owned()),
            confidence: None,
        })
    }

    fn end(&self) -> Option<End> {
        // Without a solution, the run was interrupted.
        self.solution()?;

        Some(match self.cut_short() {
            Some(cut_short) => End {
                status: Status::Stopped,
                reason: format!("the limit of {} was reached", cut_short.limit),
            },
            None => End {
                status: Status::Answered,
                reason: "answered".to_owned(),
            },
        })
    }
}

/// The state of a flow, with the answer that its file defines.
#[cfg(feature = "agents")]
pub(crate) struct FileView<'a> {
    pub(crate) flow: &'a cogwork_agents::FileFlow,
    pub(crate) state: &'a cogwork_agents::FlowState,
}

#[cfg(feature = "agents")]
impl FileView<'_> {
    /// Returns the visits after the first ones, with their numbers. The oldest may have been dropped.
    fn visits(&self, skipped: usize) -> impl Iterator<Item = (u64, &cogwork_agents::Visit)> {
        let dropped = self.state.dropped_visits();
        let numbers = dropped.saturating_add(1)..;
        let skipped = u64::try_from(skipped).unwrap_or(u64::MAX);
        let visits = numbers.zip(self.state.visits());
        visits.filter(move |(number, _)| *number > skipped)
    }
}

#[cfg(feature = "agents")]
impl RunState for FileView<'_> {
    fn steps(&self, skipped: usize) -> Vec<Step> {
        let steps = self.visits(skipped).map(|(number, visit)| {
            let text = visit.output.as_ref().map_or("", |output| &output.text);
            Step::after_last(number, &visit.node, self.flow.hide_secrets(text))
        });
        steps.collect()
    }

    fn calls(&self, skipped: usize) -> Vec<Value> {
        let calls = self.visits(skipped).map(|(_, visit)| {
            // Secrets are hidden in the text, wherever in the value they are.
            let shown = self.flow.hide_secrets(&in_json(visit).to_string());
            serde_json::from_str(&shown).unwrap_or(Value::String(shown))
        });
        calls.collect()
    }

    fn repairs(&self) -> Vec<String> {
        Vec::new()
    }

    fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        spent.calls = self.state.calls();
        spent.usage = self.state.usage();
        spent
    }

    fn best(&self) -> Option<Best> {
        let mut visits = self.state.visits();
        let has_output = visits.any(|visit| visit.output.is_some());
        let text = match has_output {
            true => {
                let answer = self.flow.answer(self.state).ok();
                let last = || Some(self.state.visits().last()?.output.as_ref()?.text.clone());
                answer.map(|answer| answer.text).or_else(last)?
            }
            // The answer would be made of the problem, but a node may have been stopped in its work.
            false => {
                let mut reasonings = self.state.reasonings().values();
                reasonings.find_map(RunState::best)?.answer
            }
        };
        if text.trim().is_empty() {
            return None;
        }

        Some(Best {
            answer: self.flow.hide_secrets(&text),
            solution: None,
            confidence: None,
        })
    }

    fn end(&self) -> Option<End> {
        let mut outputs = self.state.outputs().iter();
        let cut_off = outputs
            .find(|(_, output)| output.truncated)
            .map(|(node, _)| {
                let node = Name(node);
                format!("the output of `{node}` is cut off, by the token limit or a filter")
            });

        let (status, reason) = match self.flow.answer(self.state) {
            Ok(answer) => match (answer.cut_short, cut_off) {
                (Some(why), _) => (Status::Stopped, why),
                (None, Some(why)) if answer.truncated => (Status::Stopped, why),
                // The answer was made from it, but is whole itself.
                (None, Some(why)) => (Status::Answered, format!("answered, but {why}")),
                (None, None) => (Status::Answered, "answered".to_owned()),
            },
            Err(error) => (Status::Failed, error.to_string()),
        };
        let reason = self.flow.hide_secrets(&reason);
        Some(End { status, reason })
    }
}

pub(crate) fn in_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| json!({"error": error.to_string()}))
}
