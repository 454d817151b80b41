//! Runs of a store over HTTP: an API for the flows of a program, and a local page over it.
//!
//! A [`Runner`] starts flows, and continues their runs after answers and restarts. [`api`] makes it a
//! part of a service, which decides who sees what:
//!
//! ```no_run
//! use axum::Router;
//! use axum::http::request::Parts;
//! use cogwork_flow::{Flow, from_fn};
//! use cogwork_journal::Store;
//! use cogwork_studio::{Runner, ServedFlow, View, api};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.insert_str(0, "Hello ")))?;
//! let greet = ServedFlow::new(flow, |input| Ok(serde_json::from_value(input)?), |text: &String| Some(text.clone()));
//!
//! let runner = Runner::new(Store::at("runs")?, vec![greet]);
//! for (run, resumed) in runner.resume_interrupted().await? {
//!     println!("{run}: {resumed:?}");
//! }
//! let view = |request: &Parts| match request.headers.get("authorization") {
//!     Some(key) if key == "Bearer secret" => Some(View::Full),
//!     _ => Some(View::Public),
//! };
//! let service = Router::new().nest("/api", api(runner, view));
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, service).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The command `cogwork studio` serves the page. A [`Studio`] serves it from a program: it listens on
//! the loopback address only, each request needs a random token, which is in the address that
//! [`Studio::url`] returns, and requests of other web pages are refused.
//!
//! | to … | use |
//! |---|---|
//! | run flows, and continue their runs | [`Runner`], [`ServedFlow`] |
//! | open flows on demand | [`Flows`] |
//! | serve them over HTTP | [`api`], [`View`] |
//! | serve the page | [`Studio`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod flow_error;
pub use flow_error::FlowError;

mod flows;
pub use flows::Flows;

mod growing_text;

mod runner;
pub use runner::Runner;

mod served_flow;
pub use served_flow::ServedFlow;

mod api;
pub use api::{View, api};

mod studio;
pub use studio::Studio;

mod http;
mod totals;

mod view;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
