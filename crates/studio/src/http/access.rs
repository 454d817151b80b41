//! Who may call the server.

use std::fmt;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use sha2::{Digest, Sha256};

use super::refusal::Refusal;

/// Checks that a request comes from the page itself or from a program that has the token.
///
/// The header `Host` must be one of the local names, so that a foreign domain that resolves to this
/// machine reaches nothing. The header `Origin`, which browsers send with the requests of other
/// pages, must be that of the page.
#[derive(Clone)]
pub(crate) struct Access {
    token: String,
    port: u16,
}

impl Access {
    /// Creates a random token for the page at this port.
    pub(crate) fn new(port: u16) -> Self {
        let [first, second] = [(); 2].map(|()| uuid::Uuid::new_v4().simple());
        let token = format!("{first}{second}");
        Self { token, port }
    }

    /// Returns the address of the page, with the token.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Checks a request. If the token is in its address, returns the cookie with which the token doesn't
    /// stay there.
    pub(crate) fn check(&self, request: &Parts) -> Result<Option<String>, Refusal> {
        // A name of an attacker that leads to 127.0.0.1 reaches this port, but has its own name
        // here.
        self.check_host(&request.headers)?;
        // A browser sends requests of any page to this address.
        self.check_origin(&request.headers)?;

        if let Some(token) = entering(request) {
            return match self.is_token(&token) {
                true => Ok(Some(self.cookie())),
                false => Err(wrong_token()),
            };
        }

        let header = bearer(&request.headers);
        let cookie = self.cookie_of(&request.headers);
        if header.or(cookie).is_some_and(|token| self.is_token(token)) {
            return Ok(None);
        }
        Err(wrong_token())
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        // Two of them could be read differently by a proxy.
        if hosts.next().is_none() && host.is_some_and(|host| self.is_own(host)) {
            return Ok(());
        }

        Err(Refusal::forbidden(
            "the header `Host` isn't an address of this page; expected 127.0.0.1 with its port",
        ))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_own = |origin: &str| {
            let host = origin.strip_prefix("http://");
            host.is_some_and(|host| self.is_own(host))
        };
        let mut origins = headers.get_all(ORIGIN).iter();
        let are_own = origins.all(|origin| origin.to_str().is_ok_and(is_own));

        // Requests of other pages that have no `Origin`, such as those for images.
        let site = headers.get("sec-fetch-site");
        let is_foreign = site.is_some_and(|site| site != "same-origin" && site != "none");

        if are_own && !is_foreign {
            return Ok(());
        }
        Err(Refusal::forbidden(
            "requests of other pages are refused; expected the header `Origin` of this page",
        ))
    }

    fn is_own(&self, host: &str) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        names.contains(&name) && port.parse() == Ok(self.port)
    }

    fn is_token(&self, token: &str) -> bool {
        // Comparing digests takes no time that depends on how much of the token was guessed.
        Sha256::digest(token) == Sha256::digest(&self.token)
    }

    /// Cookies are shared by all ports of a host, so the name contains the port.
    fn cookie_name(&self) -> String {
        // Cookies don't distinguish ports, and several studios may run.
        format!("cogwork_studio_{}", self.port)
    }

    fn cookie(&self) -> String {
        let name = self.cookie_name();
        // Scripts can't read it, and other sites can't make the browser send it.
        format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.token)
    }

    fn cookie_of<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let name = self.cookie_name();
        let lines = headers.get_all(COOKIE).iter();
        let texts = lines.filter_map(|line| line.to_str().ok());

        texts
            .flat_map(|text| text.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Returns the token in the address of the first request.
fn entering(request: &Parts) -> Option<String> {
    // Only the printed address has the token; elsewhere it would get into logs.
    if request.method != Method::GET || request.uri.path() != "/" {
        return None;
    }

    let query = request.uri.query()?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| (key == "token").then(|| value.to_owned()))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn wrong_token() -> Refusal {
    Refusal::forbidden(
        "the token is missing or wrong; open the address that was printed when the studio was started",
    )
}
