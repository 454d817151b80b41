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
//! | resume a run after a crash | [`Run::with_journal`], the module [`engine`], the crate `cogwork-journal` |
//! | stop a run from outside | [`Run::with_deadline`], [`Run::with_cancellation`] |
//! | watch a run | [`Run::with_events`], [`Flow::stream`], the module [`watch`] |
//! | see a run in `tracing` | [spans](#spans) |
//! | draw a flow | [`Flow::mermaid`], [`Flow::graph`], the module [`draw`] |
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
#![expect(
    clippy::manual_async_fn,
    reason = "the future of an `async fn` holds each argument twice, and thousands of runs wait at once"
)]

mod action;
mod boxed;
mod build_error;
mod builder;
mod check;
mod current;
mod error;
pub(crate) mod event;
mod events;
mod execute;
mod flow;
mod from_phases;
mod graph;
mod into_action;
mod mermaid;
mod node;
mod paused;
mod places;
mod report;
mod run;
mod spans;
mod step_name;
mod wiring;

pub mod engine;
pub mod nodes;

pub use action::Action;
pub use boxed::BoxError;
pub use build_error::{BuildError, WiringProblem};
pub use builder::FlowBuilder;
pub use current::idempotency_key;
pub use error::RunError;
pub use flow::Flow;
pub use from_phases::{from_exec, from_exec_with, from_fn, from_phases, from_phases_with};
pub use into_action::IntoAction;
pub use node::Node;
pub use paused::Paused;
pub use places::branches::Branches;
pub use places::items::{Batch, Each};
pub use places::wait::Wait;
pub use run::{Ended, Proceeded, Run, Stepped};

pub use cogwork_text::Backoff;
pub use tokio_util::sync::CancellationToken;

pub mod draw {
    //! Flows as graphs, for programs that draw them.
    //!
    //! [`Flow::mermaid`](crate::Flow::mermaid) returns a diagram.
    //! [`Flow::graph`](crate::Flow::graph) returns the graph as data, to be drawn in any other way.

    pub use crate::graph::{FlowGraph, GraphEdge, GraphNode, GraphNodeKind};
}

pub mod watch {
    //! What happens in a run, for programs that show or record it.
    //!
    //! | to … | use |
    //! |---|---|
    //! | read the events of a run | [`events`](events()), [`Events`], [`Flow::stream`](crate::Flow::stream) |
    //! | record events before the run continues | [`Observer`] |
    //! | say something in a node | [`note`], [`report_from`] |
    //! | skip the preparation if nobody reads it | [`is_watched`], [`is_followed`] |

    pub use crate::current::{is_followed, is_watched, note, note_growth};
    pub use crate::event::{Event, EventKind};
    pub use crate::events::{EventSink, Events, Observer, events};
    pub use crate::report::{ReportedValue, report_from, report_growth};
    pub use crate::run::{Finished, RunItem, RunStream};
}

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
