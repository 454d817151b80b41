//! The calls that would cost money, counted independently of Restate.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork::flow::idempotency_key;
use cogwork::llm::backend::Capabilities;
use cogwork::llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Usage, async_trait,
};

/// Writes down that a call begins, then takes a while. Returns how often the call has been made,
/// which becomes a part of its outcome.
///
/// There is a file for each idempotency key, with a byte for each time.
pub(crate) async fn make(calls: &Path) -> std::io::Result<u64> {
    let key = idempotency_key().unwrap_or_default();
    let path = calls.join(key.replace('/', SLASH));
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(b".")?;
    let times = file.metadata()?.len();

    tokio::time::sleep(Duration::from_millis(crate::random() % 30)).await;
    Ok(times)
}

/// A character that looks like a slash and may be in a file name.
const SLASH: &str = "\u{2215}";

/// Returns how often each call was made whose key has this prefix.
pub(crate) fn read(calls: &Path, prefix: &str) -> std::io::Result<HashMap<String, u64>> {
    let mut made = HashMap::new();
    for file in fs::read_dir(calls)? {
        let file = file?;
        let key = file.file_name().to_string_lossy().replace(SLASH, "/");
        if key.starts_with(prefix) {
            made.insert(key, file.metadata()?.len());
        }
    }

    Ok(made)
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
        let times = made.map_err(|error| LlmError::new(LlmErrorKind::Other, error.to_string()))?;

        // The number of tokens is a part of every outcome.
        let response = self.client.complete(request).await?;
        Ok(response.with_usage(Usage::new(times, 0)))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
