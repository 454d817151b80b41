//! A run that follows from what the host gave it. It is polled until it waits for the host.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::{Flow, RunError, Stepped};
use cogwork_strategies::Solver;
use cogwork_text::Name;
use cogwork_tools::Tools;
use cogwork_typed::ask::Limits;
use tokio::task::unconstrained;

use super::entry::{GuidedSession, Reply, Settings};
use super::questions::{Asked, HostClient, HostTool, OpenQuestions, Question};
use crate::failure::Failure;
use crate::markdown::Step;
use crate::method::Method;
use crate::run::{Best, End, RunState, Status};

/// How often the model is asked again because its reply cannot be used.
const ASKS_AGAIN: u32 = 8;

/// A host and its tools may take as long as they want, because a person may have to do something.
const NO_TIME_LIMIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Where a session has come to.
pub(super) struct Progress {
    /// The question that the host has to answer next. A run may ask several at once, and the host
    /// gets one after another.
    pub(super) question: Option<Question>,
    /// What was corrected in the new reply.
    pub(super) repairs: Vec<String>,
    /// The number of replies of the model.
    pub(super) replies: u32,
    pub(super) steps: Vec<Step>,
    pub(super) best: Option<Best>,
    /// How the session ended, if it has.
    pub(super) end: Option<End>,
}

/// Gives a session the replies that are on record, and then a new one. May take as long as reading
/// all of them does.
pub(super) fn replay(
    session: &GuidedSession,
    settings: &Settings,
    new: Option<Reply>,
) -> Result<Progress, Failure> {
    let questions = OpenQuestions::default();
    let tools = tools(settings, &questions)?;
    let client = HostClient(questions.clone());
    let problem = settings.problem.as_str();
    let limits = Limits::default()
        .with_calls(settings.max_replies)
        .with_thoughts(10_000)
        // The host's tokens aren't counted, so only the number of replies limits a session.
        .with_tokens(1_000_000_000)
        .with_time(NO_TIME_LIMIT);

    let mut replay = Replay {
        questions,
        session,
        replies: 0,
    };
    match settings.method {
        #[cfg(feature = "agents")]
        Method::Flow => Err(Failure::new("the model of the host follows no flow")),
        Method::Loop => {
            let node = ChainOfThought::new(client)
                .with_tools(tools)
                .with_limits(limits)
                .with_asks_again(ASKS_AGAIN);
            replay.run(&node.into_flow(), limits, Reasoning::new(problem), new)
        }
        Method::Strategy(name) => {
            let solver = Solver::new(client, name)
                .with_tools(tools)
                .with_limits(limits)
                .with_asks_again(ASKS_AGAIN);
            let state = solver.begin(problem);
            let flow = solver.into_flow().map_err(Failure::new)?;
            replay.run(&flow, limits, state, new)
        }
    }
}

fn tools(settings: &Settings, questions: &OpenQuestions) -> Result<Tools, Failure> {
    let tools = Tools::new()
        .with_timeout(NO_TIME_LIMIT)
        // The length of a reply was checked when it came.
        .with_max_bytes(usize::MAX);
    let mut host_tools = settings.tools.iter().map(|tool| HostTool {
        questions: questions.clone(),
        definition: tool.definition(),
    });
    let tools = host_tools.try_fold(tools, |tools, tool| tools.with(tool));
    tools.map_err(Failure::new)
}

struct Replay<'s> {
    questions: OpenQuestions,
    session: &'s GuidedSession,
    /// The number of replies of the model so far.
    replies: u32,
}

/// What became of the replies.
struct Given {
    /// How the run failed, if it has ended with that.
    ended: Option<Option<End>>,
    question: Option<Question>,
    /// The number of repairs before the new reply.
    repairs_before: usize,
}

impl Replay<'_> {
    fn run<S: RunState>(
        &mut self,
        flow: &Flow<S>,
        limits: Limits,
        mut state: S,
        new: Option<Reply>,
    ) -> Result<Progress, Failure> {
        let repairs = Cell::new(0);
        let given = {
            let run = finish(flow, &mut state, limits.max_steps(), &repairs);
            // The scheduler does not interrupt the run, so one that is pending and not woken waits
            // for the host.
            let run = pin!(unconstrained(run));
            self.give_all(run, &repairs, new)?
        };

        let end = given.ended.map(|failure| {
            let end = failure.or_else(|| state.end());
            end.unwrap_or_else(|| End::failed("the run ended without a result"))
        });
        Ok(Progress {
            end: self.end(end),
            question: given.question,
            repairs: state.repairs().split_off(given.repairs_before),
            replies: self.replies,
            steps: state.steps(0),
            best: self.best(&state),
        })
    }

    /// Gives a run the replies that are on record, and then a new one.
    fn give_all(
        &mut self,
        mut run: Pin<&mut impl Future<Output = Option<End>>>,
        repairs: &Cell<usize>,
        new: Option<Reply>,
    ) -> Result<Given, Failure> {
        // Raises the first questions; each reply may raise further ones.
        let mut ended = settle(run.as_mut());
        for reply in &self.session.replies {
            // A recorded reply fitted its question once, so the questions must have changed.
            self.give(reply).map_err(|_| self.changed())?;
            ended = settle(run.as_mut());
        }

        // The host has seen the repairs of earlier replies.
        let repairs_before = repairs.get();
        if let Some(reply) = new {
            self.give(&reply)?;
            ended = settle(run.as_mut());
        }
        Ok(Given {
            ended,
            // The run withdraws it when it is dropped.
            question: self.questions.first(),
            repairs_before,
        })
    }

    /// Gives a reply to its question, or returns what is wrong with it.
    fn give(&mut self, reply: &Reply) -> Result<(), Failure> {
        let open = self.questions.first();
        let open = open.ok_or_else(|| Failure::new("no question is open"))?;
        // A call that is repeated must not answer the next question.
        if reply.question != open.id {
            return Err(Failure::new(format_args!(
                "the reply is for the question `{}`, which isn't open; expected one for `{}`",
                Name(&reply.question),
                open.id
            )));
        }

        let is_for_tool = matches!(open.asked, Asked::Tool { .. });
        // A model has nothing to report but its reply.
        if reply.failed && !is_for_tool {
            let message = "only the call of a tool can fail; write a reply";
            return Err(Failure::new(message));
        }
        if !is_for_tool {
            self.replies = self.replies.saturating_add(1);
        }
        self.questions.reply(reply.clone());
        Ok(())
    }

    fn changed(&self) -> Failure {
        let settings = self.session.settings.as_ref();
        let recorded = settings.map_or("", |settings| &settings.version);
        let current = env!("CARGO_PKG_VERSION");
        Failure::new(format_args!(
            "a recorded reply is for a question that isn't asked here; the session was recorded by \
             version {recorded}, this is version {current}; begin a new session"
        ))
    }

    fn end(&self, end: Option<End>) -> Option<End> {
        if !self.session.is_concluded {
            return end;
        }
        Some(End {
            status: Status::Stopped,
            reason: "ended early, as asked".to_owned(),
        })
    }

    fn best(&self, state: &impl RunState) -> Option<Best> {
        let given = self.session.conclusion.clone().map(|answer| Best {
            answer,
            solution: None,
            confidence: None,
        });
        given.or_else(|| state.best())
    }
}

/// Takes steps until the run ends, and counts the repairs. Returns why it failed, if it did.
async fn finish<S: RunState>(
    flow: &Flow<S>,
    state: &mut S,
    max_steps: u64,
    repairs: &Cell<usize>,
) -> Option<End> {
    let mut run = flow.begin().with_max_steps(max_steps);
    loop {
        let stepped = run.step(state).await;
        repairs.set(state.repairs().len());
        match stepped {
            Ok(Stepped::Moved { .. }) => {}
            Ok(_) => return None,
            Err(error) => return Some(End::failed(reason(error))),
        }
    }
}

/// Returns why a run failed. The flow around the node means nothing to the host.
fn reason(error: RunError) -> String {
    let whole = error.to_string();
    let source = error.into_source();
    source.map_or(whole, |source| source.to_string())
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls a run until it ends or waits for the host.
fn settle<F: Future>(mut run: Pin<&mut F>) -> Option<F::Output> {
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);

    loop {
        if let Poll::Ready(ended) = run.as_mut().poll(&mut context) {
            return Some(ended);
        }
        // Nothing but a reply can wake it any more: there are no timers and no other tasks.
        if !woken.0.swap(false, Ordering::SeqCst) {
            return None;
        }
    }
}
