//! Agents as nodes of a flow, and flows of agents, chains of thought, strategies and subflows from
//! YAML files.
//!
//! ```text
//! Loader::load(path) -> FileFlow      // or every problem of the file, with its line and column
//! Agent: Node<FlowState>              // the same agent, from Rust
//! ```
//!
//! ```
//! use cogwork_agents::{FlowState, Loader};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let loaded = Loader::new().with_process_environment().load_text("review.yaml", "
//! name: review
//! nodes:
//!   - id: writer
//!     type: agent
//!     config:
//!       provider: scripted        # or openai, anthropic, ollama
//!       replies: [Roses are red., 'Roses are red, violets are blue.']
//!       role: You write verses.
//!       prompt: 'Topic: {input}. Critique so far: {critic}'
//!   - id: critic
//!     type: agent
//!     config:
//!       provider: rules
//!       rules: [{when: violets, reply: 'ACTION: accept'}]
//!       else: |
//!         Something is missing.
//!         ACTION: revise
//!       actions: [accept, revise]
//! edges:
//!   - {from: writer, to: critic}
//!   - {from: critic, action: revise, to: writer}
//!   - {from: critic, action: accept, to: end}
//! ")?;
//!
//! let mut state = FlowState::new("flowers");
//! loaded.flow().run(&mut state).await?;
//! assert_eq!(state.output("writer").map(|said| said.text.as_str()), Some("Roses are red, violets are blue."));
//! # Ok(())
//! # }
//! ```
//!
//! | to … | use |
//! |---|---|
//! | load a file, or list its problems | [`Loader`], [`FileFlow`], [`FileError`], [`FileProblem`] |
//! | support files in an editor | [`Loader::schema`] |
//! | use an agent in your own flow | [`Agent`], [`AgentError`] |
//! | see the outputs of a flow | [`FlowState`], [`Output`] |
//! | see what happened in a run | [`FlowState::visits`], [`Visit`], [`AgentError::visit`] |
//! | use outputs in prompts | [`Template`] |
//! | extend what files can use | [`Loader::with_tools`], [`with_modes`](Loader::with_modes), [`with_provider`](Loader::with_provider), [`with_node_type`](Loader::with_node_type) |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
pub use agent::{Agent, AgentAnswer, AgentError, AgentErrorKind};

mod state;
pub use state::{FlowState, Output, Visit};

mod template;
pub use template::{Template, TemplateError};

mod loader;
pub use loader::Loader;

mod file_flow;
pub use file_flow::{ConnectError, FileFlow};

mod problems;
pub use problems::{FileError, FileProblem, Place};

mod made;
pub use made::Made;

mod load;
pub use load::Making;

mod check;
mod choice;
mod memory;
mod names;
mod node_types;
mod providers;
mod schema;
mod secrets;
mod settings;
mod yaml;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
