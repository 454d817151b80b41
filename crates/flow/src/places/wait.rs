use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::draw::GraphNodeKind;
use crate::engine::{Awaited, Json};
use crate::execute::context::Here;
use crate::execute::cursor::At;
use crate::execute::failure::Failure;
use crate::execute::recorder::{accept, wait};
use crate::execute::visit::{Visit, Visited};
use crate::graph::ANY_KEY;
use crate::nodes::Phase;
use crate::wiring::Inside;
use crate::{Action, BoxError, IntoAction};

/// A place where a run waits for an external event, such as a person's decision.
///
/// When the run reaches the wait before the event has arrived, it pauses:
/// [`Run::proceed`](crate::Run::proceed) returns a [`Paused`](crate::Paused). No task or timer is left
/// running. [`Run::deliver`](crate::Run::deliver) provides the answer, before or after the run reaches
/// the wait, and the next call of `proceed` resumes the run. Each answer is used once, oldest first. With a journal on disk, the program can exit in between.
///
/// Inside items and branches, a wait needs a journal: the other items and branches run until they
/// end or pause, and only a journal keeps their outcomes until the run is resumed.
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Action, Flow, Proceeded, Wait};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Refund { amount: u32, granted: bool }
///
/// let approval = Wait::for_event("approval", |refund: &mut Refund, granted: bool| refund.granted = granted)
///     .with_reason(|refund| format!("a refund of {} needs a person", refund.amount))
///     .with_timeout(Duration::from_secs(3600));
/// let flow = Flow::builder("refund")
///     .start("approval")
///     .wait("approval", approval)
///     .end("approval", Action::DEFAULT)
///     .end("approval", Action::TIMED_OUT)
///     .build()?;
///
/// let mut refund = Refund { amount: 900, granted: false };
/// let mut run = flow.begin();
/// if let Proceeded::Paused(paused) = run.proceed(&mut refund).await? {
///     assert_eq!(paused.event, "approval");
///     assert_eq!(paused.why, "a refund of 900 needs a person");
///     run.deliver(&paused.event, &true).await?;
/// }
///
/// assert_eq!(run.finish(&mut refund).await?.action, Action::DEFAULT);
/// assert!(refund.granted);
/// # Ok(())
/// # }
/// ```
pub struct Wait<S> {
    event: String,
    key: Option<Box<Describe<S>>>,
    why: Box<Describe<S>>,
    within: Option<Duration>,
    schema: Option<Json>,
    accept: Arc<Accept>,
    use_answer: Box<UseAnswer<S>>,
    actions: Vec<Action>,
}

type Describe<S> = dyn Fn(&S) -> String + Send + Sync;

pub(crate) type Accept = dyn Fn(&Json) -> Result<(), BoxError> + Send + Sync;

type UseAnswer<S> = dyn Fn(&mut S, &Json) -> Result<Action, BoxError> + Send + Sync;

impl<S> Wait<S> {
    /// Creates a wait for the event with this name. `use_answer` stores the answer in the state and
    /// returns nothing, an action, the label of one, or a `Result` with one of these.
    pub fn for_event<T, A>(
        event: impl Into<String>,
        use_answer: impl Fn(&mut S, T) -> A + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned + 'static,
        A: IntoAction,
    {
        Self {
            event: event.into(),
            key: None,
            why: Box::new(|_| String::new()),
            within: None,
            schema: None,
            accept: Arc::new(|answer| accept(answer, |_: &T| Ok(()))),
            use_answer: Box::new(move |state, answer| {
                use_answer(state, answer.read()?).into_result()
            }),
            actions: vec![Action::DEFAULT],
        }
    }

    /// Sets a closure that returns what tells this wait from others for the same event, such as the id
    /// of an item. The run then waits for `<event> <key>`. The key must be the same in a resumed run.
    ///
    /// # Default
    ///
    /// None: of several waits for one event, as in the items of a list, any gets an answer.
    #[must_use]
    pub fn with_key(mut self, key: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.key = Some(Box::new(key));
        self
    }

    /// Sets a closure that describes what the run waits for, for the person who answers.
    ///
    /// # Default
    ///
    /// No reason; the person only sees the name of the event.
    #[must_use]
    pub fn with_reason(mut self, why: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.why = Box::new(why);
        self
    }

    /// Sets the maximum time to wait, counted from when the run first reaches the wait. After that,
    /// the next step leaves the wait with [`Action::TIMED_OUT`], unless an answer has
    /// arrived by then. If the clock was set back in the meantime, a resumed run waits for at most
    /// `limit` after it is resumed.
    ///
    /// # Default
    ///
    /// Unlimited.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.within = Some(limit);
        self
    }

    /// Sets a JSON Schema of the answer, so that a program can show a form for it. It is in
    /// [`Paused::schema`](crate::Paused::schema), and is recorded with the wait. With `schemars`:
    /// `with_schema(schema_for!(Decision))`.
    ///
    /// Its properties keep their order, if the type of the schema does. A `serde_json::Value` sorts
    /// them, unless the feature `preserve_order` of `serde_json` is enabled; a
    /// `Box<serde_json::value::RawValue>`, which is made of a text, keeps them.
    ///
    /// A store refuses answers that don't match it, if they arrive while the run waits. Without a
    /// store, the wait accepts every answer that it can read and that its [check](Self::with_check)
    /// accepts. A schema of more than 64 KiB as JSON
    /// isn't recorded.
    ///
    /// ```
    /// use cogwork_flow::Wait;
    /// use serde_json::json;
    ///
    /// let approval = Wait::for_event("approval", |granted: &mut bool, answer: bool| *granted = answer)
    ///     .with_schema(json!({"type": "boolean", "title": "Grant the refund?"}));
    /// # let _ = approval;
    /// ```
    ///
    /// # Default
    ///
    /// None.
    #[must_use]
    pub fn with_schema(mut self, schema: impl Serialize) -> Self {
        // The wait works without a schema, so one that cannot be written is left out.
        self.schema = Json::of(&schema).ok();
        self
    }

    /// Refuses answers for which `check` returns what is expected instead. `T` is the type that the wait
    /// reads. [`Run::deliver`](crate::Run::deliver) refuses such an answer. A store, which only knows the
    /// [schema](Self::with_schema), may take it; the step that would use it then fails, and waits again
    /// once the run is resumed.
    ///
    /// # Default
    ///
    /// Every answer that can be read is accepted.
    #[must_use]
    pub fn with_check<T: DeserializeOwned>(
        mut self,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.accept = Arc::new(move |answer| accept(answer, &check));
        self
    }

    /// Sets all actions that the closure may return. The default is only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn inside(&self) -> Inside {
        Inside {
            event: Some(match &self.key {
                Some(_) => format!("{} {ANY_KEY}", self.event),
                None => self.event.clone(),
            }),
            accept: Some(Arc::clone(&self.accept)),
            ..Inside::of(GraphNodeKind::Wait)
        }
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        let timed_out = self.within.map(|_| Action::TIMED_OUT);
        let actions = self.actions.iter().cloned();
        actions.chain(timed_out).collect()
    }
}

impl<S: Send> Visit<S> for Wait<S> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            // Made in each visit, since it is recorded with the first alone and shown at every
            // pause.
            let why = (self.why)(state);
            let event = match &self.key {
                Some(key) => format!("{} {}", self.event, key(state)),
                None => self.event.clone(),
            };
            let (step, journal) = here.on_record("a wait inside items or branches")?;
            let awaited = Awaited {
                event: &event,
                why: &why,
                within: self.within,
                schema: self.schema.as_ref(),
                is_live: false,
                accept: &*self.accept,
            };

            let Some(answer) = wait(step, journal, awaited).await? else {
                return Ok(Action::TIMED_OUT);
            };

            let used = (self.use_answer)(state, &answer);
            used.map_err(|error| Failure::node(Phase::Post, error).into())
        })
    }
}

/// A place where the run sleeps for the duration that the closure returns.
pub(crate) struct Sleep<F>(pub(crate) F);

impl<S: Send, F: Fn(&S) -> Duration + Send + Sync> Visit<S> for Sleep<F> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let duration = (self.0)(state);
            let (step, journal) = here.on_record("a sleep inside items or branches")?;
            let slept = journal.sleep(&step.name, duration).await;
            slept.map_err(Failure::Journal)?;

            Ok(Action::DEFAULT)
        })
    }
}
