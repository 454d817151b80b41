//! Progress reports of a running chain of thought.

#[cfg(feature = "console")]
mod console;

#[cfg(feature = "console")]
pub use console::ConsoleReporter;

use std::fmt;

use cogwork_llm::{LlmError, ToolCall};

use crate::{Growth, Limit, Reasoning, ReplyProblem, Rung, ToolCallRecord};

/// Receives the progress of a [`ChainOfThought`](crate::ChainOfThought).
///
/// By default, every method does nothing. Many runs can share a reporter. Methods are called inside
/// the run, so a reporter that blocks also blocks the run.
///
/// ```
/// use cogwork_cot::{Reasoning, Reporter};
///
/// /// Prints how many steps are done.
/// struct Progress;
///
/// impl Reporter for Progress {
///     fn thought(&self, reasoning: &Reasoning) {
///         if let Some(plan) = reasoning.plan() {
///             eprintln!("{}", plan.progress());
///         }
///     }
/// }
/// ```
pub trait Reporter: Send + Sync {
    /// Called before the first thought about a problem.
    fn started(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }

    /// Called when the model starts to work on a thought. The returned guard is dropped when the
    /// model stops, because of a thought or an error, or because the run was dropped.
    fn working(&self, thought_number: u32) -> Working {
        let _ = thought_number;
        Working::default()
    }

    /// Called with each piece of a streamed reply. Together, the pieces are the raw text of the
    /// reply. After [`asking_again`](Reporter::asking_again), a new reply begins. See
    /// [`thinking`](Reporter::thinking) for the text of the thought alone.
    fn delta(&self, thought_number: u32, text: &str) {
        let _ = (thought_number, text);
    }

    /// Called when the text of the thought has grown: the value of `current_thinking`, without the
    /// rest of the reply.
    ///
    /// If [`growth.is_start()`](Growth::is_start), the text replaces any earlier text of this
    /// thought, for example that of a reply that could not be used. Once the reply was read, the
    /// text is that of the thought. A reply that isn't streamed is reported as a whole.
    fn thinking(&self, thought_number: u32, growth: Growth<'_>) {
        let _ = (thought_number, growth);
    }

    /// Called before a tool is called. The calls of a reply are made concurrently.
    fn calling_tool(&self, thought_number: u32, call: &ToolCall) {
        let _ = (thought_number, call);
    }

    /// Called with the result of a tool call, or with the reason why the call wasn't made. After
    /// the last result of a reply, a new reply begins.
    fn tool_returned(&self, thought_number: u32, used: &ToolCallRecord) {
        let _ = (thought_number, used);
    }

    /// Called when a reply could not be used and the model is asked again.
    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        let _ = (thought_number, problem);
    }

    /// Called when the server refused the form of the reply. The `next` rung is requested instead.
    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        let _ = (thought_number, refused, next, error);
    }

    /// Called before the model is asked to conclude because of a limit.
    fn concluding(&self, thought_number: u32, limit: Limit) {
        let _ = (thought_number, limit);
    }

    /// Called after a thought was added.
    fn thought(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }

    /// Called after the last [`thought`](Reporter::thought), once there is an answer. It is the best
    /// one so far if a limit was reached; see [`Reasoning::end_reason`].
    fn answered(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }
}

/// A guard that is dropped when the model stops working.
#[derive(Default)]
#[must_use = "dropping the guard means that the model has stopped"]
pub struct Working(Option<Box<dyn Send + Sync>>);

impl Working {
    /// Wraps `guard`, which is dropped when the model stops.
    pub fn until_dropped(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Working").field(&self.0.is_some()).finish()
    }
}

/// A reporter that does nothing. This is the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {}

impl<R: Reporter + ?Sized> Reporter for std::sync::Arc<R> {
    fn started(&self, reasoning: &Reasoning) {
        self.as_ref().started(reasoning);
    }

    fn working(&self, thought_number: u32) -> Working {
        self.as_ref().working(thought_number)
    }

    fn delta(&self, thought_number: u32, text: &str) {
        self.as_ref().delta(thought_number, text);
    }

    fn thinking(&self, thought_number: u32, growth: Growth<'_>) {
        self.as_ref().thinking(thought_number, growth);
    }

    fn calling_tool(&self, thought_number: u32, call: &ToolCall) {
        self.as_ref().calling_tool(thought_number, call);
    }

    fn tool_returned(&self, thought_number: u32, used: &ToolCallRecord) {
        self.as_ref().tool_returned(thought_number, used);
    }

    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        self.as_ref().asking_again(thought_number, problem);
    }

    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        self.as_ref()
            .format_refused(thought_number, refused, next, error);
    }

    fn concluding(&self, thought_number: u32, limit: Limit) {
        self.as_ref().concluding(thought_number, limit);
    }

    fn thought(&self, reasoning: &Reasoning) {
        self.as_ref().thought(reasoning);
    }

    fn answered(&self, reasoning: &Reasoning) {
        self.as_ref().answered(reasoning);
    }
}
