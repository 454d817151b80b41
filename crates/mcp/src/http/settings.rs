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
///     .with_allowed_host("thinking.example");
/// # let _ = settings;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    pub(crate) tokens: Vec<Result<Token, &'static str>>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"];
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            tokens: Vec::new(),
            hosts: hosts.map(str::to_owned).to_vec(),
            origins: origins.map(str::to_owned).to_vec(),
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
}
