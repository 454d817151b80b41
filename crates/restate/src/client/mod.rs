mod error;
mod tls;
pub use error::ClientError;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{DEFAULT_MAX_MESSAGE, RunProgress, discovery};
use error::refused;

/// A client for the runs of one [`Workflow`](crate::Workflow), over the ingress of Restate.
///
/// # Keys
///
/// A key may be any text of 1 to 1,024 bytes, except `.` and `..`, which cannot be sent in an
/// address.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    ingress: Url,
    workflow: String,
    max_message: usize,
}

/// The result of [`Client::start`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Started {
    /// The id of the invocation in Restate, for its tools.
    pub invocation_id: String,
    /// Whether a run with this key had already been started. Its state isn't changed.
    pub already: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accepted {
    invocation_id: String,
    status: String,
}

#[derive(Serialize)]
struct Delivery<'a, A> {
    event: &'a str,
    answer: &'a A,
}

impl Client {
    /// Creates a client for the workflow with this name. `ingress` is the address of Restate for
    /// clients, by default `http://127.0.0.1:8080`. The HTTP client has no timeouts and trusts the
    /// system's certificates; to change that, or to send a token, see
    /// [`with_http`](Client::with_http).
    ///
    /// # Errors
    ///
    /// Returns an error if the address isn't one, or if the system's certificates cannot be read.
    pub fn new(ingress: &str, workflow: impl Into<String>) -> Result<Self, ClientError> {
        let refused = || ClientError::Address(ingress.to_owned());
        let ingress = Url::parse(ingress).map_err(|_| refused())?;
        // Other addresses would only fail at the first request, with a message about HTTP.
        if !matches!(ingress.scheme(), "http" | "https") {
            return Err(refused());
        }

        Ok(Self {
            http: tls::http(&ingress).map_err(ClientError::Tls)?,
            ingress,
            workflow: workflow.into(),
            max_message: DEFAULT_MAX_MESSAGE,
        })
    }

    /// Sets the HTTP client.
    #[must_use]
    pub fn with_http(mut self, http: reqwest::Client) -> Self {
        self.http = http;
        self
    }

    /// Sets the maximum size of a state or an answer, in bytes. Set it to the value of
    /// [`Workflow::with_max_message`](crate::Workflow::with_max_message).
    ///
    /// # Default
    ///
    /// [`DEFAULT_MAX_MESSAGE`].
    #[must_use]
    pub fn with_max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self
    }

    /// Starts a run with this key from an initial state, and returns once Restate has stored it. If
    /// a run with this key exists, nothing happens.
    ///
    /// # Errors
    ///
    /// Returns an error if the state is too large or cannot be written as JSON, or if Restate
    /// cannot be reached or refuses the request.
    pub async fn start(&self, key: &str, state: &impl Serialize) -> Result<Started, ClientError> {
        let body = self.to_json("the state", state)?;
        // `send` returns once the run is accepted, and not at its end.
        let url = self.url(&[&self.workflow, checked(key)?, discovery::RUN, "send"])?;
        let accepted: Accepted = self.call(self.post(url, body)).await?;

        Ok(Started {
            invocation_id: accepted.invocation_id,
            // Restate keeps one run for each key.
            already: accepted.status == "PreviouslyAccepted",
        })
    }

    /// Waits until a run ends, and returns its final state. It is available for as long as Restate
    /// retains it, by default one day.
    ///
    /// # Errors
    ///
    /// Returns an error if the run ended with one or doesn't exist, if its final state isn't an
    /// `S`, or if Restate cannot be reached. In the last case, the call can be repeated.
    pub async fn attach<S: DeserializeOwned>(&self, key: &str) -> Result<S, ClientError> {
        let path = [
            "restate",
            "workflow",
            &self.workflow,
            checked(key)?,
            "attach",
        ];
        let url = self.url(&path)?;
        self.call(self.http.request(Method::GET, url)).await
    }

    /// Delivers the answer to an event that the run waits for, now or later. The run uses answers
    /// to the same event in the order of their delivery. The request is repeated if Restate cannot
    /// be reached for a moment, but the answer is delivered only once.
    ///
    /// If the run waits for the event now, and the wait has a
    /// [schema](cogwork_flow::Wait::with_schema), the answer must match it, even if there are answers before
    /// it that the run hasn't used yet. If the step cannot read the
    /// answer, the run discards it and waits for another; [`WaitsFor::refused`](crate::WaitsFor::refused)
    /// contains the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if no node waits for this event, if the run has ended, if the answer doesn't match
    /// the schema of its wait (status 422), is too large or cannot be written as JSON, or if Restate cannot
    /// be reached or refuses the request.
    /// The events of composite nodes are known once the run waits for them.
    pub async fn deliver(
        &self,
        key: &str,
        event: &str,
        answer: &impl Serialize,
    ) -> Result<(), ClientError> {
        let body = self.to_json("the answer", &Delivery { event, answer })?;
        let url = self.url(&[&self.workflow, checked(key)?, discovery::DELIVER])?;
        // One for all attempts, so that an answer that arrived is not delivered again.
        let once = once();

        let mut delay = FIRST_DELAY;
        loop {
            let request = self.post(url.clone(), body.clone());
            let delivered: Result<(), _> = self.call(request.header(IDEMPOTENCY_KEY, &once)).await;

            match delivered {
                // Whether the answer arrived is unknown, and repeating it is harmless.
                Err(error) if error.is_unreachable() && delay <= LAST_DELAY => {}
                delivered => return delivered,
            }

            tokio::time::sleep(delay).await;
            delay = delay.saturating_mul(2);
        }
    }

    /// Returns how far a run has come; `None` if it hasn't begun or doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns an error if Restate cannot be reached or refuses the request.
    pub async fn progress(&self, key: &str) -> Result<Option<RunProgress>, ClientError> {
        let url = self.url(&[&self.workflow, checked(key)?, discovery::PROGRESS])?;
        self.call(self.http.request(Method::POST, url)).await
    }

    /// Cancels a run, which ends after the `exec` in progress, if there is one. Returns whether
    /// there was a run that hadn't ended. If the run hasn't begun yet, this waits until it has.
    ///
    /// # Errors
    ///
    /// Returns an error if Restate cannot be reached or refuses the request.
    pub async fn cancel(&self, key: &str) -> Result<bool, ClientError> {
        let cancel = self.url(&[&self.workflow, checked(key)?, discovery::CANCEL])?;
        let output = self.url(&["restate", "workflow", &self.workflow, key, "output"])?;

        loop {
            let request = self.http.request(Method::POST, cancel.clone());
            // False before the run has begun: its invocation isn't known yet.
            if self.call(request).await? {
                return Ok(true);
            }

            let request = self.http.request(Method::GET, output.clone());
            let answer = request.send().await.map_err(ClientError::Unreachable)?;
            // The run is over, or there is none.
            if answer.status().as_u16() != NOT_READY {
                return Ok(false);
            }
            tokio::time::sleep(FIRST_DELAY).await;
        }
    }

    fn url(&self, path: &[&str]) -> Result<Url, ClientError> {
        let mut url = self.ingress.clone();
        match url.path_segments_mut() {
            // An address may end with a slash.
            Ok(mut segments) => segments.pop_if_empty().extend(path),
            Err(()) => return Err(ClientError::Address(self.ingress.to_string())),
        };

        Ok(url)
    }

    fn to_json(&self, what: &'static str, value: &impl Serialize) -> Result<Bytes, ClientError> {
        let json = serde_json::to_vec(value);
        let json = json.map_err(|source| ClientError::Json { what, source })?;

        let size = json.len();
        let max = self.max_message;
        // Restate would refuse it with a message that doesn't name the limit.
        if size > max {
            return Err(ClientError::TooLarge { what, size, max });
        }

        Ok(json.into())
    }

    fn post(&self, url: Url, body: Bytes) -> RequestBuilder {
        self.http
            .request(Method::POST, url)
            .header(CONTENT_TYPE, "application/json")
            .body(body)
    }

    async fn call<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let response = request.send().await.map_err(ClientError::Unreachable)?;
        let status = response.status();
        let body = response.bytes().await.map_err(ClientError::Unreachable)?;

        if !status.is_success() {
            return Err(refused(status.as_u16(), &body));
        }

        let what = "the response";
        serde_json::from_slice(&body).map_err(|source| ClientError::Json { what, source })
    }
}

const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The status with which Restate answers a request for the output of a run that hasn't ended.
const NOT_READY: u16 = 470;

const FIRST_DELAY: Duration = Duration::from_millis(100);
const LAST_DELAY: Duration = Duration::from_secs(2);

/// The maximum length of a key, in bytes. Longer ones don't fit into all addresses once they are
/// escaped.
const MAX_KEY: usize = 1_024;

fn checked(key: &str) -> Result<&str, ClientError> {
    let expected = match key {
        "" => "expected at least one character",
        // They would be resolved as parts of the path.
        "." | ".." => "an address cannot contain it; add another character",
        _ if key.len() > MAX_KEY => "expected at most 1,024 bytes",
        _ => return Ok(key),
    };

    let key = key.to_owned();
    Err(ClientError::Key { key, expected })
}

/// Returns a text that no other request has.
fn once() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);

    // The states have random keys, and the number keeps calls of one process apart.
    let first = RandomState::new().hash_one(number);
    let second = RandomState::new().hash_one(std::process::id());
    format!("{first:016x}{second:016x}{number:x}")
}
