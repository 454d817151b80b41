//! Reads one raw reply of a model on standard input and writes the thought as JSON, with what had to be
//! repaired.
//!
//! `cargo run -q --example read_reply < examples/replies/faulty.txt` prints:
//!
//! ```text
//! {
//!   "current_thinking": "Evaluation of thought #1: right. Next I add the fare: 12 + 3.",
//!   "planning": [
//!     {
//!       "description": "Read the prices",
//!       "status": "Done",
//!       "result": "\"12\" euros"
//!     },
//!     {
//!       "description": "Add the fare",
//!       "status": "Done",
//!       "result": "15 euros # with the child"
//!     },
//!     {
//!       "description": "Conclude",
//!       "status": "Pending"
//!     }
//!   ],
//!   "next_thought_needed": true,
//!   "repairs": [
//!     {
//!       "kind": "quotes",
//!       "line": 7,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "form",
//!       "line": 10,
//!       "what": "`/planning/0/status`: read the text \"done\" as \"Done\""
//!     },
//!     {
//!       "kind": "quotes",
//!       "line": 11,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "key",
//!       "line": 12,
//!       "what": "`/planning/1`: read the key `Description` as `description`"
//!     },
//!     {
//!       "kind": "form",
//!       "line": 13,
//!       "what": "`/planning/1/status`: read the text \"DONE\" as \"Done\""
//!     },
//!     {
//!       "kind": "quotes",
//!       "line": 14,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "indentation",
//!       "line": 15,
//!       "what": "read an item in a wrong column"
//!     },
//!     {
//!       "kind": "missing_status",
//!       "line": 15,
//!       "what": "`/planning/2`: `status` is missing; took \"Pending\""
//!     },
//!     {
//!       "kind": "form",
//!       "line": 15,
//!       "what": "`/planning/2`: read a text as `description`"
//!     },
//!     {
//!       "kind": "truth_value",
//!       "line": 16,
//!       "what": "`/next_thought_needed`: read a text as a truth value"
//!     }
//!   ]
//! }
//! ```

use std::error::Error;
use std::io;

use cogwork::cot::Reply;

fn main() -> Result<(), Box<dyn Error>> {
    let reply = io::read_to_string(io::stdin())?;
    let read = Reply::read(&reply)?;

    println!("{}", serde_json::to_string_pretty(&read)?);
    Ok(())
}
