//! Streamable HTTP.

mod serve;
mod service;
mod settings;
mod token;

pub use service::HttpService;
pub use settings::HttpSettings;
