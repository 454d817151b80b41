//! Asks a language model until its reply can be used.
//!
//! ```text
//! Asking::run: request a reply → judge it → use it, or continue, or complain and ask again
//! ```
//!
//! A [`Policy`] builds the requests and judges the replies. [`Asking`] does the rest: it streams
//! the reply if the client supports it, moves down to a looser [`Rung`] if the server refuses a
//! form, appends the complaint about an unusable reply to the conversation, stops after a bounded
//! number of attempts, and keeps every raw reply. A policy may also [continue](Verdict::Continue)
//! after a reply, for example with the results of the tool calls that it requests.
//!
//! ```
//! use cogwork_typed::ask::{Asking, Ladder, Limit, Policy, Rung, Verdict};
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
//!     fn request(&self, _: Rung) -> ChatRequest {
//!         ChatRequest::new([Message::user("How many legs does a spider have?")])
//!     }
//!
//!     async fn judge(&mut self, response: &ChatResponse, _: Rung) -> Verdict<u32, String> {
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
//! let ladder = Ladder::default();
//!
//! let mut asking = Asking::new(&client, &ladder, vec![Rung::Text]).with_asks_again(2);
//! let legs = asking.run(&mut Count).await;
//!
//! assert_eq!(legs.ok(), Some(8));
//! assert_eq!(asking.record().tries.len(), 2);
//! # }
//! ```

mod call;
pub use call::call;

mod chat;
pub use chat::event::{ChatCall, ChatEvent, ChatVerdict, EmbeddingCall, PlacedRepair};
pub use chat::reporting::Reporting;
pub use chat::tool::{ToolEvent, report_tool_call};

mod limits;
pub use limits::{Limit, Limits, Reserve};

mod meter;
pub use meter::{Meter, MeteredCall, Running};

mod spent;
pub use spent::Spent;

mod ladder;
pub use ladder::{FormRefusal, Ladder, Rung};

mod format;
pub use format::Format;

mod folded_name;
pub use folded_name::folded_name;

mod repair;
pub use repair::{Repair, RepairKind};

mod record_call;
pub use record_call::{RecordedCall, call_label, record_call};

mod asking;
pub use asking::{Asking, Policy, Record, Try, Unanswered, Verdict, excerpt};

mod answer;
pub use answer::{NoAnswer, is_missing, is_offered, no_answer, stated_answer};
