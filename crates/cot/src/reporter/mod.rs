//! Who is told what happens in a run.

#[cfg(feature = "console")]
mod console;

#[cfg(feature = "console")]
pub use console::ConsoleReporter;

use std::sync::Arc;

use cogwork_flow::watch::{is_followed, is_watched, report_from, report_growth};

use crate::reasoning_event::SOURCE;
use crate::{ChainOfThought, ReasoningEvent};

/// Receives the events of a [`ChainOfThought`].
///
/// Many runs can share a reporter. It is called inside the run, so a reporter that blocks also
/// blocks the run. A closure is a reporter, too:
///
/// ```
/// use cogwork_cot::{ChainOfThought, ReasoningEvent};
/// use cogwork_llm::ScriptedClient;
///
/// let node = ChainOfThought::new(ScriptedClient::new(["…"]));
/// let node = node.with_reporter(|event: &ReasoningEvent| {
///     if let ReasoningEvent::Thought { thought, plan, .. } = event {
///         eprintln!("thought {thought}: {}", plan.progress());
///     }
/// });
/// ```
pub trait Reporter: Send + Sync {
    /// Called with each event.
    fn event(&self, event: &ReasoningEvent);
}

impl<F: Fn(&ReasoningEvent) + Send + Sync> Reporter for F {
    fn event(&self, event: &ReasoningEvent) {
        self(event);
    }
}

impl<R: Reporter + ?Sized> Reporter for Arc<R> {
    fn event(&self, event: &ReasoningEvent) {
        self.as_ref().event(event);
    }
}

impl ChainOfThought {
    /// Passes an event on to the reporter and to the events of the run.
    pub(crate) fn emit(&self, event: impl FnOnce() -> ReasoningEvent) {
        if self.reporter.is_none() && !is_watched() {
            return;
        }

        let event = event();
        self.tell(&event);

        match event {
            // A slow observer may miss pieces of a text, but no other event.
            ReasoningEvent::Thinking { .. } => report_growth(SOURCE, || event),
            event => report_from(SOURCE, || event),
        }
    }

    /// Passes an event on to the reporter only.
    pub(crate) fn tell(&self, event: &ReasoningEvent) {
        if let Some(reporter) = &self.reporter {
            reporter.event(event);
        }
    }

    /// Returns whether anyone follows texts while they grow.
    pub(crate) fn is_followed(&self) -> bool {
        self.reporter.is_some() || is_followed()
    }

    /// Tells the reporter that the model works on a thought, until the guard is dropped.
    pub(crate) fn working(&self, thought: u32) -> Working<'_> {
        self.tell(&ReasoningEvent::Working { thought });

        Working {
            node: self,
            thought,
        }
    }
}

/// The work of the model on a thought. It also ends if the run is dropped.
pub(crate) struct Working<'a> {
    node: &'a ChainOfThought,
    thought: u32,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let thought = self.thought;
        self.node.tell(&ReasoningEvent::Stopped { thought });
    }
}
