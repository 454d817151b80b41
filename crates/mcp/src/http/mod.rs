//! Streamable HTTP.

mod serve;
mod service;
mod settings;

pub use service::HttpService;
pub use settings::HttpSettings;
