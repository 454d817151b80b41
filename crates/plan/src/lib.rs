//! Plans as plain data: nested steps with a status, to be searched, compared and rendered.
//!
//! ```text
//! Plan = list of Step { description, status, result?, mark?, sub_steps? }
//! ```
//!
//! A plan is read from the reply of a model, changed, and rendered for the next prompt:
//!
//! ```
//! use cogwork_plan::{Plan, Status, format_plan, format_plan_for_prompt};
//!
//! let mut plan: Plan = serde_yaml::from_str("
//! - description: Multiply the tens
//!   status: Done
//!   result: 600
//! - description: Multiply the ones
//!   status: Pending
//! - description: Conclude
//!   status: Pending
//! ")?;
//! let before = plan.clone();
//!
//! let (path, step) = plan.first_pending().ok_or("nothing left to do")?;
//! assert_eq!((path.to_string().as_str(), step.description.as_str()), ("2", "Multiply the ones"));
//!
//! let step = plan.get_mut(&path).ok_or("no such step")?;
//! step.status = Status::Done;
//! step.result = Some("24".into());
//!
//! assert_eq!(plan.progress().to_string(), "2 of 3 steps done");
//! assert_eq!(plan.changes_since(&before)[0].to_string(), "2 Pending → Done: Multiply the ones");
//! assert_eq!(format_plan(&plan), "\
//! - [Done] Multiply the tens: 600
//! - [Done] Multiply the ones: 24
//! - [Pending] Conclude");
//! assert_eq!(serde_yaml::from_str::<Plan>(&format_plan_for_prompt(&plan))?, plan);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading is bounded: a plan has at most [`MAX_DEPTH`] levels. Renderings keep every step on one line and contain no
//! control characters, even if the texts of the plan do.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod status;
pub use status::Status;

mod step;
pub use step::Step;

mod path;
pub use path::StepPath;

mod plan;
pub use plan::{MAX_DEPTH, Plan};

mod walk;
pub use walk::WalkEntry;

mod progress;
pub use progress::PlanProgress;

mod changes;
pub use changes::{Change, ChangeKind};

mod outline;
pub use outline::{Outline, format_plan};

mod prompt;
pub use prompt::format_plan_for_prompt;

mod mermaid;
pub use mermaid::PlanMermaid;

mod matching;
mod text;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
