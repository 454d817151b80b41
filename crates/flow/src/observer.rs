use crate::{Event, FlowGraph};

/// Receives the events of runs while they are executed, for example to record them.
///
/// Unlike the reader of a [channel](crate::events()), it gets every event at once, on the thread of
/// the run. Its methods must not block, because the run waits for them.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use cogwork_flow::{Event, EventSink, Flow, FlowGraph, Observer, from_fn};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// impl Observer for Lines {
///     fn run_started(&self, run: &str, flow: &FlowGraph) {
///         self.0.lock().unwrap().push(format!("{run} of {}", flow.name));
///     }
///
///     fn event(&self, event: &Event) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
///
/// let lines = Arc::new(Lines::default());
/// let sink = EventSink::new(Arc::clone(&lines));
/// flow.begin().with_id("run 7").with_events(sink).finish(&mut String::new()).await?;
///
/// assert_eq!(lines.0.lock().unwrap()[..2], ["run 7 of greet", "run 7: started"]);
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync {
    /// Called when a run starts, before its first event, with the id of the run and the graph of its
    /// flow.
    fn run_started(&self, _run: &str, _flow: &FlowGraph) {}

    /// Called for each event.
    fn event(&self, event: &Event);

    /// Returns whether the observer wants the pieces of texts that grow: [notes](crate::note_growth)
    /// and [reports](crate::report_growth) whose content is repeated by a later event as a whole.
    ///
    /// The default is `false`.
    fn follows_growth(&self) -> bool {
        false
    }
}
