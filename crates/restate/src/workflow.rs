use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::watch::EventSink;
use cogwork_flow::{Flow, Run};
use cogwork_text::Name;
use restate_sdk::discovery::ServiceName;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::service::{IntoServiceDefinition, ServiceDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::settings::{Inner, Settings, SinkOfRun};
use crate::{DEFAULT_MAX_MESSAGE, service};

/// A flow as a workflow of Restate.
///
/// The key of a workflow is the id of the run. The input is the initial state and the output is the
/// final state, both as JSON.
///
/// Serve [`endpoint`](Workflow::endpoint), or bind it yourself, for example to set a retry policy or
/// to serve several workflows:
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_restate::restate_sdk::endpoint::{Endpoint, ServiceOptions};
/// use cogwork_restate::restate_sdk::service::IntoServiceDefinition;
/// use cogwork_restate::Workflow;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("count")
///     .start("one")
///     .node("one", from_fn(|count: &mut u32| *count += 1))
///     .end("one", "default")
///     .build()?;
///
/// let workflow = Workflow::new("Count", flow)?.with_deadline(Duration::from_secs(3600));
/// let options = ServiceOptions::new().retry_policy_max_interval(Duration::from_secs(5));
/// let endpoint = Endpoint::builder()
///     .bind(workflow.into_service_definition().options(options))
///     .build();
/// # Ok(())
/// # }
/// ```
///
/// # Handlers
///
/// `run` is the workflow. `deliver`, `progress` and `cancel` can be called while it runs, by a
/// [`Client`](crate::Client) or over HTTP.
///
/// # How runs end
///
/// A flow that fails ends the run with the error; so do a panic, the maximum number of steps and a
/// deadline. Restate doesn't repeat such a run. A run that was cancelled ends with the status 409,
/// after the `exec` in progress, if there is one.
pub struct Workflow<S> {
    pub(crate) inner: Arc<Inner<S>>,
}

/// A workflow that cannot be served.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The name cannot be the name of a service.
    #[error(
        "`{}` cannot be the name of a workflow; use letters, digits, `.`, `-` and `_`, starting \
         with a letter",
        Name(.0)
    )]
    Name(String),
}

cogwork_text::debug_as_display!(WorkflowError);

impl<S: Serialize + DeserializeOwned + Send + 'static> Workflow<S> {
    /// Creates a workflow with this name. Letters, digits, `.`, `-` and `_` are allowed.
    ///
    /// # Errors
    ///
    /// Returns an error if the name isn't allowed.
    pub fn new(
        name: impl Into<String>,
        flow: impl Into<Arc<Flow<S>>>,
    ) -> Result<Self, WorkflowError> {
        let name = name.into();
        if !is_allowed(&name) {
            return Err(WorkflowError::Name(name));
        }

        // Its graph is compared with each run, so it is computed once.
        let flow = flow.into();
        let graph = flow.graph();
        let inner = Inner {
            name: ServiceName::try_from(name.as_str()).map_err(|_| WorkflowError::Name(name))?,
            flow,
            graph,
            settings: Settings {
                deadline: None,
                max_steps: Run::<S>::DEFAULT_MAX_STEPS,
                max_message: DEFAULT_MAX_MESSAGE,
                longest_call: DEFAULT_LONGEST_CALL,
                events: None,
            },
        };

        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Sets the maximum duration of a run, counted from its first attempt, including sleeps, waits
    /// and times in which no worker was running. The run then ends with the status 408.
    ///
    /// # Default
    ///
    /// Unlimited.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        self.with(|settings| settings.deadline = Some(deadline))
    }

    /// Sets the maximum number of steps, including those in subflows, items and branches.
    ///
    /// # Default
    ///
    /// [`Run::DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn with_max_steps(self, steps: u64) -> Self {
        self.with(|settings| settings.max_steps = steps)
    }

    /// Sets the maximum size of a message to Restate, in bytes: an outcome, an answer or a state. What is larger is refused with an error that names it. Set it below the limit of the
    /// server, `message-size-limit`, which otherwise repeats the attempt.
    ///
    /// # Default
    ///
    /// [`DEFAULT_MAX_MESSAGE`].
    #[must_use]
    pub fn with_max_message(self, bytes: usize) -> Self {
        self.with(|settings| settings.max_message = bytes)
    }

    /// Sets the maximum duration of a call of `exec`. If it takes longer, Restate assumes that the
    /// worker is stuck, and makes the attempt again. It is the abort timeout of the service, so
    /// `ServiceOptions::abort_timeout` also changes it.
    ///
    /// # Default
    ///
    /// One hour.
    #[must_use]
    pub fn with_longest_call(self, duration: Duration) -> Self {
        self.with(|settings| settings.longest_call = duration)
    }

    /// Sends the events of each run to the sink that `sink` returns for its key; see
    /// [`Run::with_events`]. Only the events of this process are sent, and each attempt at a run
    /// sends the earlier ones again: a recorded `exec` as
    /// [`Replayed`](cogwork_flow::watch::EventKind::Replayed).
    ///
    /// To keep them in a store of `cogwork-journal`, from which the command makes a page, start a run
    /// there and take its events: Restate keeps the outcomes.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// use cogwork::trace::{RecorderSettings, RunRecorder};
    /// use cogwork_journal::Store;
    ///
    /// # fn with(workflow: cogwork_restate::Workflow<u32>, flow: Arc<cogwork_flow::Flow<u32>>) {
    /// let store = Store::files("runs");
    /// let workflow = workflow.with_events(move |key| {
    ///     let (store, flow) = (store.clone(), Arc::clone(&flow));
    ///     async move {
    ///         let journal = store.start_or_resume_any_input(&key, &flow, &()).await.ok()?;
    ///         let recorder = RunRecorder::owning(journal, RecorderSettings::default()).await;
    ///         Some(recorder.sink())
    ///     }
    /// });
    /// # }
    /// ```
    ///
    /// # Default
    ///
    /// No events.
    #[must_use]
    pub fn with_events<F>(self, sink: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<EventSink>> + Send + 'static,
    {
        let sink: Arc<SinkOfRun> = Arc::new(move |key| Box::pin(sink(key)));
        self.with(|settings| settings.events = Some(sink))
    }

    fn with(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        let inner = &*self.inner;
        let mut settings = inner.settings.clone();
        set(&mut settings);

        self.inner = Arc::new(Inner {
            name: inner.name.clone(),
            flow: Arc::clone(&inner.flow),
            graph: inner.graph.clone(),
            settings,
        });
        self
    }

    /// Returns an endpoint with the workflow.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::builder().bind(self.clone()).build()
    }
}

impl<S> Clone for Workflow<S> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<S> std::fmt::Debug for Workflow<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workflow")
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}

impl<S: Serialize + DeserializeOwned + Send + 'static> IntoServiceDefinition for Workflow<S> {
    fn into_service_definition(self) -> ServiceDefinition {
        service::workflow(self.inner)
    }
}

const DEFAULT_LONGEST_CALL: Duration = Duration::from_secs(3600);

/// Restate also allows names that start with an underscore, which are easy to confuse with its own.
fn is_allowed(name: &str) -> bool {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(allowed)
}
