//! Flows of nodes that share a typed state and are connected by labelled actions.
//!
//! ```text
//! prep(&mut state) -> Prep   →   exec(&Prep).await -> Exec   →   post(&mut state, Prep, Exec) -> Action
//! ```
//!
//! A [`Node`] takes its input from the state, does its work without access to the state, then
//! stores the outcome and returns an [`Action`]: the label of the edge to follow. A [`Flow`]
//! connects nodes by name, and [`build`](FlowBuilder::build) checks the whole graph before it can
//! run.
//!
//! ```
//! use cogwork_flow::{Action, Flow, from_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let flow = Flow::builder("countdown")
//!     .start("count")
//!     .node("count", from_fn(|left: &mut u32| {
//!         *left -= 1;
//!         Action::from_static(if *left == 0 { "lift off" } else { "again" })
//!     }).with_actions(["again", "lift off"]))
//!     .edge("count", "again", "count")
//!     .end("count", "lift off")
//!     .build()?;
//!
//! let mut left = 10;
//! let ended = flow.run(&mut left).await?;
//! assert_eq!((left, ended.action.as_str(), ended.steps), (0, "lift off", 10));
//! # Ok(())
//! # }
//! ```
//!
//! | to … | use |
//! |---|---|
//! | write a node | [`Node`], or closures: [`from_fn`], [`from_phases`], [`from_exec`] |
//! | wire and check a flow | [`Flow::builder`], [`FlowBuilder`], [`Flow::from_node`], [`BuildError`] |
//! | put a node or flow into a larger state | [`Node::focus`], [`FlowBuilder::subflow`] |
//! | run a node or a flow over many items | [`FlowBuilder::batch`], [`FlowBuilder::each`] |
//! | run several flows concurrently | [`FlowBuilder::branches`] |
//! | wait for a person, or sleep | [`FlowBuilder::wait`], [`Run::proceed`], [`FlowBuilder::sleep`] |
//! | retry, time out, fall back | [`Node::retry`], [`Node::timeout`], [`Node::fallback`] |
//! | run a flow, or step through it | [`Flow::run`], [`Flow::begin`], [`Run::step`] |
//! | resume a run after a crash | [`Run::with_journal`], the module [`journal`], the crate `cogwork-journal` |
//! | stop a run from outside | [`Run::with_deadline`], [`Run::with_cancellation`] |
//! | watch a run | [`events`](events()), [`Run::with_events`], [`Run::stream`], [`Observer`] |
//! | see a run in `tracing` | [spans](#spans) |
//! | draw a flow | [`Flow::mermaid`], [`Flow::graph`] |
//!
//! # Spans
//!
//! Each call that takes steps of a run, such as [`Run::finish`], opens a span inside the current one
//! if a subscriber wants it. A run that pauses has one before and one after the pause. Each step opens
//! a span inside that of its run or of the step around it. A step's phases run inside its span, so the
//! spans of clients, tools and databases that its node uses are its children. The spans have the level
//! `INFO`, and names and fields of OpenTelemetry's conventions for generative AI. Without a subscriber
//! that wants them, none is created.
//!
//! | | level | fields |
//! |---|---|---|
//! | span `run` | info | `run`: its id, `flow`, `action`, `steps` |
//! | span `step` | info | `flow`: the path to the node, `node`, `number`, `action` |
//! | event `retrying` | warn | `attempts`, `delay`, `error` |
//! | event `replayed` | debug | `item`, `call` |
//! | event `noted` | debug | `text` |
//! | event `paused` | info | `event`, `why` |
//! | event `failed` | error | `error` |
//!
//! To turn them off, filter the target `cogwork_flow`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod action;
pub use action::Action;

mod boxed;
pub use boxed::BoxError;

mod node;
pub use node::{Node, Operation, Phase};

mod from_phases;
pub use from_phases::{
    FromFn, FromPhases, from_exec, from_exec_with, from_fn, from_phases, from_phases_with,
};

mod into_action;
pub use into_action::{IntoAction, IntoResult};

pub mod wrap;

mod places;
pub use places::branches::Branches;
pub use places::items::{Batch, Each, Items};
pub use places::wait::Wait;

mod flow;
pub use flow::Flow;

mod builder;
pub use builder::FlowBuilder;

mod build_error;
pub use build_error::{BuildError, WiringProblem};

mod run;
pub use run::{Ended, Finished, Proceeded, Run, RunItem, RunStream, Stepped};

mod error;
pub use error::RunError;

mod paused;
pub use paused::Paused;

mod step_name;
pub use step_name::{CallName, Level, Part, StepName};

mod current;
pub use current::{idempotency_key, is_followed, is_watched, note, note_growth};

mod report;
pub use report::{ReportedValue, report_from, report_growth};

pub mod journal;

pub(crate) mod event;
pub use event::{Event, EventKind};

mod events;
pub use events::{EventSink, Events, Observer, events};

mod graph;
mod mermaid;
pub use graph::{FlowGraph, GraphEdge, GraphNode, GraphNodeKind};

mod check;
mod execute;
mod spans;
mod wiring;

pub use cogwork_text::Backoff;
pub use tokio_util::sync::CancellationToken;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
