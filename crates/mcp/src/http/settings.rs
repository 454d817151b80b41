//! Settings, and the bearer tokens of clients, of which only digests are kept.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

use crate::ServerError;
use crate::store::Owner;

/// Settings for serving over HTTP.
///
/// Every request needs a bearer token. Clients with different tokens have no access to each other's
/// sessions. Requests that name another host than the local one or the one that is served, and
/// requests of web pages from elsewhere, are refused.
///
/// ```
/// use cogwork_mcp::HttpSettings;
///
/// # fn main() -> Result<(), cogwork_mcp::ServerError> {
/// let token = HttpSettings::random_token();
/// let settings = HttpSettings::default()
///     .with_token(&token)?
///     .with_allowed_host("thinking.example");
/// # let _ = settings;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    pub(crate) tokens: Vec<Token>,
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

    /// Adds the token of a client. Only its digest is kept.
    ///
    /// # Errors
    ///
    /// Returns an error if the token has less than 16 characters, or other ones than the visible ones
    /// of ASCII.
    pub fn with_token(mut self, token: &str) -> Result<Self, ServerError> {
        let token = Token::new(token).map_err(ServerError::of)?;
        self.tokens.push(token);
        Ok(self)
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

/// The minimum length of a token, in bytes.
const MIN_BYTES: usize = 16;

/// The digest of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token([u8; 32]);

impl Token {
    /// Returns the digest of a token, or what is wrong with it.
    pub(crate) fn new(token: &str) -> Result<Self, &'static str> {
        if token.len() < MIN_BYTES {
            return Err("the token is too short; expected at least 16 characters");
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(
                "the token has characters that cannot be sent; expected visible ones of ASCII",
            );
        }
        Ok(Self::digest(token))
    }

    /// Returns the digest of the token in a request.
    pub(crate) fn of_request(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| Self::digest(token.trim()))
    }

    /// Returns a random token.
    pub(crate) fn random() -> String {
        let [first, second] = [(); 2].map(|()| uuid::Uuid::new_v4().simple());
        format!("{first}{second}")
    }

    /// Returns the owner of the sessions of everyone with this token.
    pub(crate) fn owner(&self) -> Owner {
        let digest = self.0.iter().take(16);
        let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
        Owner(format!("token:{digest}"))
    }

    fn digest(token: &str) -> Self {
        // Comparing digests takes no time that depends on how much of a token was guessed.
        Self(Sha256::digest(token).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
