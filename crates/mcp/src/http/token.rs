//! Bearer tokens, of which only digests are kept.

use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

use crate::store::Owner;

/// The minimum length of a token, in bytes.
const MIN_BYTES: usize = 16;

/// The digest of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token([u8; 32]);

impl Token {
    /// Returns the digest of a token, or what is wrong with it.
    pub(crate) fn new(token: &str) -> Result<Self, &'static str> {
        if token.len() < MIN_BYTES {
            return Err("a token is too short; expected at least 16 characters");
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token contains spaces or characters other than those of ASCII");
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
