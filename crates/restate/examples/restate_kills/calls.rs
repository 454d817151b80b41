//! The calls that would cost money, counted independently of Restate.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cogwork::flow::idempotency_key;
use cogwork::llm::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, async_trait,
};

/// A call that began, in one of the workers.
pub(crate) struct Call {
    pub(crate) key: String,
    /// In milliseconds since 1970.
    pub(crate) at: u64,
}

/// Writes down that a call begins, then takes a while.
pub(crate) async fn make(calls: &Path) -> std::io::Result<()> {
    // A kill can truncate a line, so each one starts with a line break and is only complete with
    // its `;`.
    let key = idempotency_key().unwrap_or_default();
    let line = format!("\n{} {key};", now());
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(calls)?
        .write_all(line.as_bytes())?;

    tokio::time::sleep(Duration::from_millis(crate::random() % 30)).await;
    Ok(())
}

/// Reads the calls so far.
pub(crate) fn read(calls: &Path) -> Vec<Call> {
    let text = fs::read_to_string(calls).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_suffix(';'));
    let calls = lines.filter_map(|line| {
        let (at, key) = line.split_once(' ')?;
        Some(Call {
            key: key.to_owned(),
            at: at.parse().ok()?,
        })
    });
    calls.collect()
}

fn now() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis()
}

/// A client that writes down its calls.
pub(crate) struct Counted<C> {
    client: C,
    calls: PathBuf,
}

impl<C> Counted<C> {
    pub(crate) fn new(client: C, calls: &Path) -> Self {
        let calls = calls.to_owned();
        Self { client, calls }
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Counted<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let made = make(&self.calls).await;
        made.map_err(|error| LlmError::new(LlmErrorKind::Other, error.to_string()))?;
        self.client.complete(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
