//! Streamable HTTP.

mod body;
mod listen;
mod refusal;
mod service;
mod settings;
mod token;

pub use service::HttpService;
pub use settings::HttpSettings;
