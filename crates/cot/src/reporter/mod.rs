//! What a person is told while thoughts are made.

#[cfg(feature = "console")]
mod console;

#[cfg(feature = "console")]
pub use console::ConsoleReporter;

use std::fmt;

use cogwork_llm::LlmError;

use crate::{Reasoning, ReplyProblem, Rung};

/// Hears what happens in the turns of a [`ChainOfThought`](crate::ChainOfThought).
///
/// Every method has a default that does nothing. One reporter may serve many runs at once. Calls
/// come from inside the run: a reporter that blocks holds it up.
///
/// ```
/// use cogwork_cot::{Reasoning, Reporter};
///
/// /// Counts what is done, for a progress bar of one's own.
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
    /// A problem is about to be thought about for the first time.
    fn started(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }

    /// The model begins to work on a thought; it has stopped when the answer is dropped, be it
    /// with a thought, an error, or because the run was given up.
    fn working(&self, thought_number: u32) -> Working {
        let _ = thought_number;
        Working::default()
    }

    /// The next piece of the reply, from a client that gives it piece by piece. The pieces of one
    /// reply are its raw text; what follows [`asking_again`](Reporter::asking_again) is another reply.
    fn delta(&self, thought_number: u32, text: &str) {
        let _ = (thought_number, text);
    }

    /// A reply could not be used, and the model is asked again.
    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        let _ = (thought_number, problem);
    }

    /// The server refused the form in which the reply was asked for; it is now asked for by the `next` rung.
    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        let _ = (thought_number, refused, next, error);
    }

    /// The last of the thoughts was added.
    fn thought(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }

    /// The last thought brought the answer. Called after [`thought`](Reporter::thought).
    fn answered(&self, reasoning: &Reasoning) {
        let _ = reasoning;
    }
}

/// Held while the model works; dropped when it stops.
#[derive(Default)]
#[must_use = "dropping it says that the model has stopped"]
pub struct Working(Option<Box<dyn Send + Sync>>);

impl Working {
    /// Lasts as long as `guard`, whose `Drop` does what is to be done when the model stops.
    pub fn until_dropped(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Working").field(&self.0.is_some()).finish()
    }
}

/// The reporter that says nothing: the library prints nothing unasked.
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

    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        self.as_ref().asking_again(thought_number, problem);
    }

    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        self.as_ref()
            .format_refused(thought_number, refused, next, error);
    }

    fn thought(&self, reasoning: &Reasoning) {
        self.as_ref().thought(reasoning);
    }

    fn answered(&self, reasoning: &Reasoning) {
        self.as_ref().answered(reasoning);
    }
}
