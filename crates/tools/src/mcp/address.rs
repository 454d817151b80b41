//! The address of a server over HTTP.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// The address of a server, and its token.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) url: String,
    pub(super) token: Option<SecretString>,
}

impl Address {
    pub(super) fn new(url: String) -> Self {
        Self { url, token: None }
    }

    /// Returns the host for errors.
    pub(super) fn host(&self) -> String {
        let url = reqwest::Url::parse(&self.url);
        let host = url.ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| "http".to_owned())
    }

    /// Removes the token from a problem, which may contain what the server answered.
    pub(super) fn without_token(&self, problem: &str) -> String {
        match &self.token {
            Some(token) if !token.expose_secret().is_empty() => {
                problem.replace(token.expose_secret(), "[token]")
            }
            _ => problem.to_owned(),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}
