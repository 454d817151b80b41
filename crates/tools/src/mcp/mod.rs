//! Tools of servers that speak the Model Context Protocol (MCP).
//!
//! [`McpServer`] describes a server: a command that is started as a child process and speaks over
//! its standard input and output, or an address (feature `mcp-http`). [`connect`](McpServer::connect)
//! starts it and asks for its tools:
//!
//! ```no_run
//! use std::process::Command;
//!
//! use cogwork_tools::Tools;
//! use cogwork_tools::mcp::McpServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let package = "@modelcontextprotocol/server-filesystem";
//! let files = McpServer::command(Command::new("npx").args(["-y", package, "notes"]))
//!     .with_only(["read_text_file", "list_directory"])
//!     .connect()
//!     .await?;
//!
//! let tools = Tools::new().with_all(files.tools())?;
//! # let _ = tools;
//! # Ok(())
//! # }
//! ```
//!
//! # What a server can do
//!
//! A server is a program with the rights of the user, so only start servers that you trust. Nothing
//! is started that was not named, and a server receives only [a few environment
//! variables](McpServer::command), so it cannot read the keys of the program.
//!
//! What a server sends is not trusted. A message is at most 16 MiB long; a longer one is skipped, so
//! that the call it answers times out. A tool whose name or schema can't be used is [left
//! out](McpTools::tools). Results are cut to the [limit of the registry](crate::Tools::with_max_bytes).
//!
//! # When a server fails
//!
//! If a server ends, the calls that wait for it fail, and the next call starts it
//! again. A call that takes [too long](McpServer::with_timeout), or that
//! is dropped, is cancelled at the server. What a server writes to its standard error goes to that of
//! the program, as it is.
//!
//! When the last tool and the last [`McpTools`] of a server are dropped, its standard input is closed,
//! at which it should end. If it hasn't after 3 seconds, it is told to, and after 3 more it is killed.
//! On Unix, whatever it has left running is killed then, except for processes that left its group
//! with `setsid`. If the program itself is killed, a server only notices that its standard input is
//! closed.
//!
//! # Results
//!
//! Texts are passed to the model as they are. Models accept only text as the result of a tool, so
//! of images, audio and other data, the model reads the type. A result that the server marks
//! as an error becomes [`ToolError::Failed`](crate::ToolError::Failed).

mod call;
mod connection;
mod error;
#[cfg(feature = "mcp-http")]
mod http;
mod listing;
mod process;
mod server;
mod tools;

pub use error::McpError;
pub use server::McpServer;
pub use tools::{McpTool, McpTools};
