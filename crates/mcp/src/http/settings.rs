use std::time::Duration;

use super::token::Token;

/// Settings for serving over HTTP.
///
/// Every request needs a bearer token. Clients with different tokens have no access to each other's
/// sessions. Requests that name another host than the local one or the one that is served, and
/// requests of web pages from elsewhere, are refused.
///
/// ```
/// use cogwork_mcp::HttpSettings;
///
/// let token = HttpSettings::random_token();
/// let settings = HttpSettings::default()
///     .with_token(&token)
///     .with_connections(16);
/// # let _ = settings;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    pub(crate) tokens: Vec<Result<Token, &'static str>>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    /// The maximum number of connections. Further clients wait. The default is 256.
    pub connections: usize,
    /// The maximum number of sessions of the protocol that one token may have open at the same
    /// time. They end after 5 minutes without a request. The default is 256.
    pub open_sessions: usize,
    /// How long a client may take to send the headers of a request, or to send the next request.
    /// The default is 30 seconds.
    pub header_timeout: Duration,
    /// How long a client may take to send the body of a request. The default is 30 seconds.
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer. The default is 30 seconds.
    pub write_timeout: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"];
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            tokens: Vec::new(),
            hosts: hosts.map(str::to_owned).to_vec(),
            origins: origins.map(str::to_owned).to_vec(),
            connections: 256,
            open_sessions: 256,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
        }
    }
}

impl HttpSettings {
    /// Returns a token that cannot be guessed.
    #[must_use]
    pub fn random_token() -> String {
        Token::random()
    }

    /// Adds the token of a client. A token has at least 16 characters. Only its digest is kept.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.tokens.push(Token::new(token));
        self
    }

    /// Adds a name by which clients may call this server in the header `Host`, with or without a
    /// port. The local names are always allowed.
    #[must_use]
    pub fn with_allowed_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Adds an origin of web pages that may use this server, such as `https://example.com:443` or
    /// `http://example.com:*`. Pages from this machine are always allowed.
    #[must_use]
    pub fn with_allowed_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the maximum number of connections, which is at least 1.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the maximum number of sessions of the protocol that one token may have open at the same
    /// time, which is at least 1.
    #[must_use]
    pub fn with_open_sessions(mut self, open_sessions: usize) -> Self {
        self.open_sessions = open_sessions.max(1);
        self
    }

    /// Sets how long a client may take to send the headers of a request.
    #[must_use]
    pub fn with_header_timeout(mut self, header_timeout: Duration) -> Self {
        self.header_timeout = header_timeout;
        self
    }

    /// Sets how long a client may take to send the body of a request.
    #[must_use]
    pub fn with_body_timeout(mut self, body_timeout: Duration) -> Self {
        self.body_timeout = body_timeout;
        self
    }

    /// Sets how long a client may read nothing of an answer.
    #[must_use]
    pub fn with_write_timeout(mut self, write_timeout: Duration) -> Self {
        self.write_timeout = write_timeout;
        self
    }
}
