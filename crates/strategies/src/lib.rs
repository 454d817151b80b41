//! Reasoning strategies for language models: tables of stages, sessions whose thoughts follow a
//! table, and methods that solve problems.
//!
//! ```text
//! Strategy = stages, each with description, prompt, parameters and the stages that may follow
//! Session::think(ThoughtDraft { stage, thought, parameters, … }) -> ThoughtId, or an error
//! Solver::new(client, method).solve(problem).await -> Solving { answer, end, spent, session, … }
//! ```
//!
//! A session checks every move against the table of its strategy:
//!
//! ```
//! use cogwork_strategies::StrategyName;
//! use cogwork_strategies::session::{Session, ThoughtDraft};
//!
//! let mut session = Session::new(StrategyName::React);
//! session.think(ThoughtDraft::at("initial_reasoning", "I must find out how long the way is."))?;
//!
//! // An action must be planned before it is executed.
//! let refused = session.think(ThoughtDraft::at("action_execution", "I search."));
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "`react` does not lead from `initial_reasoning` to `action_execution`; expected `action_planning`",
//! );
//! let refused = session.think(ThoughtDraft::at("action_planning", "I search for it."));
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "the stage `action_planning` of `react`: `action` is missing; expected a text",
//! );
//!
//! // An error leaves the session unchanged.
//! assert_eq!(session.stage().name, "initial_reasoning");
//! let planned = session.think(ThoughtDraft::at("action_planning", "I search for it.").with("action", "search"))?;
//!
//! // A second branch from the same thought.
//! let other = session.fork(planned, "by hand")?;
//! session.think_on(other, ThoughtDraft::at("action_execution", "I measure it on the map."))?;
//! assert_eq!(session.path(session.branch(other)?.tip()).count(), 3);
//! # Ok::<(), cogwork_strategies::session::SessionError>(())
//! ```
//!
//! A [`Solver`] solves a problem with a model, within [`Limits`](cogwork_typed::ask::Limits). It takes the name of a
//! strategy, a method with settings, or a custom [`Method`]:
//!
//! ```
//! use cogwork_llm::ScriptedClient;
//! use cogwork_strategies::Solver;
//! use cogwork_strategies::methods::SelfAsk;
//! use cogwork_typed::ask::Limits;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cogwork_strategies::SolveError> {
//! let client = ScriptedClient::new([
//!     "sub_question: Which is the longest river of France?\nsub_question_answer: the Loire",
//!     "thought: It flows into the Atlantic Ocean.\nanswer: into the Atlantic Ocean",
//! ]);
//! let method = SelfAsk { max_questions: 5 };
//! let solver = Solver::new(client, method).with_limits(Limits::default().with_calls(10));
//! let solved = solver.solve("Where does the longest river of France end?").await?;
//! assert_eq!(solved.answer(), Some("into the Atlantic Ocean"));
//! assert_eq!(solved.spent().calls, 2);
//! # Ok(())
//! # }
//! ```
//!
//! Nine strategies are [built in](StrategyName), and [`Strategies`] reads more from YAML or JSON.
//! Tables and sessions have limits, which are constants.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod mermaid;
mod name;
mod parameter;
mod solve;
mod strategies;
mod strategy;

pub mod methods;
pub mod session;
pub mod table;

pub use name::StrategyName;
pub use solve::{
    Answer, Ask, AskProblem, Asked, Call, Called, EndReason, Method, PlannedCall, Solve,
    SolveError, Solver, Solving, SolvingEvent, StageReply, Stop, TableStage,
};
pub use strategies::{Strategies, UnknownStrategy};
pub use strategy::{Stage, Strategy};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
