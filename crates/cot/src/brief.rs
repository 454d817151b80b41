use std::collections::BTreeMap;

use cogwork_llm::{ChatRequest, Messages, ToolChoice};
use cogwork_plan::{Plan, Status, Step};
use cogwork_typed::ask::{Format, Limit, Meter, Reserve};

use crate::ChainOfThought;
use crate::form::Form;
use crate::reply::fits;
use crate::tooling::Calling;

/// The input of `exec` for one turn.
#[derive(Debug)]
pub struct Brief {
    /// The node with the settings of the run.
    pub(crate) node: ChainOfThought,
    pub(crate) thought_number: u32,
    pub(crate) task: Task,
    /// The conversation for each form in which the reply may be requested.
    pub(crate) conversations: BTreeMap<Form, Messages>,
    /// The forms in which the reply may be requested, tightest first.
    pub(crate) formats: Vec<Format>,
    pub(crate) calling: Calling,
    /// The names of the tools that the model may call in its reply.
    pub(crate) tools_in_reply: Vec<String>,
    /// The last plan.
    pub(crate) plan: Option<Plan>,
    /// The cost of all attempts at this turn.
    pub(crate) meter: Meter,
    /// What is kept for the last turn, if the model is asked to conclude.
    pub(crate) reserve: Option<Reserve>,
}

/// What is done in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The model makes the next thought.
    Think,
    /// The model is asked to conclude, because nothing of this limit will be left afterwards.
    Conclude(Limit),
    /// The limit allows no further call.
    Stop(Limit),
}

/// What the model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The next thought, or tool calls before it.
    ThoughtOrCalls,
    /// The next thought, without tool calls.
    Thought,
    /// The conclusion.
    Conclusion,
}

impl Brief {
    /// Returns the request for a reply in this format, but doesn't ask the server for it.
    pub(crate) fn request(&self, format: Format, wanted: Wanted) -> ChatRequest {
        let form = Form::from(format);
        let conversation = self.conversations.get(&form).cloned().unwrap_or_default();

        let conversation = match wanted {
            Wanted::Conclusion => self.node.prompts.concluding(conversation, form),
            Wanted::Thought | Wanted::ThoughtOrCalls => conversation,
        };

        let request = self
            .node
            .request_options(self.calling)
            .with_messages(conversation);

        if self.calling == Calling::Natively && wanted != Wanted::ThoughtOrCalls {
            request.with_tool_choice(ToolChoice::None)
        } else {
            request
        }
    }

    /// Returns whether the server is asked to hold the reply to a form.
    pub(crate) fn has_format(&self, wanted: Wanted) -> bool {
        // Many servers refuse a format next to tools, or never call a tool then.
        self.calling != Calling::Natively || wanted != Wanted::ThoughtOrCalls
    }

    /// Returns the names of the tools that the form of the reply includes.
    pub(crate) fn tools_in_form(&self, wanted: Wanted) -> &[String] {
        if wanted == Wanted::ThoughtOrCalls {
            &self.tools_in_reply
        } else {
            &[]
        }
    }

    /// Returns whether every step of the plan but the conclusion is done.
    pub(crate) fn has_only_conclusion_left(&self) -> bool {
        let steps = self.plan.as_ref().map_or(&[][..], Plan::steps);
        let Some((conclusion, others)) = steps.split_last() else {
            return false;
        };

        let is_done = |step: &Step| step.status == Status::Done;
        conclusion.sub_steps.is_empty() && others.iter().all(is_done)
    }

    /// Returns the formats on which a reply can repeat the whole plan within the tokens of the first
    /// call.
    pub(crate) fn fitting_formats(&self) -> Vec<Format> {
        let Some(plan) = &self.plan else {
            return self.formats.clone();
        };

        let fits = |format: &Format| fits(plan, *format, &self.first_request(*format));
        self.formats.iter().copied().filter(fits).collect()
    }

    /// Returns the first request within what is left.
    fn first_request(&self, format: Format) -> ChatRequest {
        let request = self.request(format, Wanted::ThoughtOrCalls);
        let fitted = self.meter.fit(request, 1);

        // If the call cannot be made, the model is asked to conclude instead.
        fitted.unwrap_or_else(|_| self.node.request.clone())
    }
}
