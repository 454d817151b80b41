//! Asks a language model until its reply can be used.
//!
//! ```text
//! Asking::run: request a reply → judge it → use it, or continue, or complain and ask again
//! ```
//!
//! A [`Policy`] builds the requests and judges the replies. [`Asking`] does the rest: it streams
//! the reply if the client supports it, moves down to a looser [`Format`] if the server refuses a
//! format, appends the complaint about an unusable reply to the conversation, stops after a bounded
//! number of attempts, and keeps every raw reply. A policy may also [continue](Verdict::Continue)
//! after a reply, for example with the results of the tool calls that it requests.
//!
//! ```
//! use cogwork_typed::ask::{Asking, RefusedFormats, Limit, Policy, Format, Verdict};
//! use cogwork_llm::{ChatRequest, ChatResponse, Message, ScriptedClient};
//!
//! /// Wants a whole number.
//! struct Count;
//!
//! impl Policy for Count {
//!     type Reply = u32;
//!     type Problem = String;
//!     type Stop = Limit;
//!
//!     fn request(&self, _: Format) -> ChatRequest {
//!         ChatRequest::new([Message::user("How many legs does a spider have?")])
//!     }
//!
//!     async fn judge(&mut self, response: &ChatResponse, _: Format) -> Verdict<u32, String> {
//!         match response.text().trim().parse() {
//!             Ok(number) => Verdict::Usable(number),
//!             Err(_) => Verdict::Unusable {
//!                 problem: "the reply is not a number".to_owned(),
//!                 message: Message::user("Answer with a number alone."),
//!             },
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let client = ScriptedClient::new(["Eight, I think.", "8"]);
//! let refused = RefusedFormats::default();
//!
//! let mut asking = Asking::new(&client, &refused, vec![Format::Text]).with_asks_again(2);
//! let legs = asking.run(&mut Count).await;
//!
//! assert_eq!(legs.ok(), Some(8));
//! assert_eq!(asking.log().tries.len(), 2);
//! # }
//! ```

mod answer;
mod asking;
mod events;
mod folded_name;
mod format;
mod limits;
mod log;
mod meter;
mod record_call;
mod repair;
mod reported_call;
mod seconds;
mod spent;
mod tool_calls;

pub use answer::{NoAnswer, is_missing, is_offered, no_answer, stated_answer};
pub use asking::{Asking, Policy, Unanswered, Verdict, cut, excerpt, said};
pub use events::{ChatCall, ChatEvent, ChatVerdict, ToolEvent};
pub(crate) use folded_name::folded_name;
pub use format::{Format, FormatRefusal, RefusedFormats};
pub use limits::{Limit, Limits, Reserve};
pub use log::{AskLog, Try};
pub use meter::{Meter, MeteredCall, Running};
pub use record_call::{RecordedCall, call_label, record_call};
pub use repair::{Repair, RepairKind};
pub use reported_call::Reporting;
pub use spent::Spent;
pub use tool_calls::{ToolCalls, ToolUse, not_admitted};
