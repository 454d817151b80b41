use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;

use super::{Recording, problem};
use crate::locked::locked;
use crate::reply::{client_from_reply, reply_of};
use crate::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream};

/// A client that records every call to another one in a file, a cassette, for
/// [`Replay`](crate::Replay).
///
/// A cassette has one line of JSON for each call: an object with `request`, and with `response` or
/// `error`. The line is written before the outcome is returned, in the order in which the calls end,
/// so the cassette of a program that crashes contains everything that the program received. A stream
/// is recorded at its end, as the whole response or the error; a dropped stream is not recorded.
///
/// API keys are in no request, and the clients of this crate redact them from errors. Secrets in
/// the conversation itself are recorded.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, Recorder, Replay, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("hello.jsonl");
/// let hello = ChatRequest::new([Message::user("Hello")]);
///
/// let recorder = Recorder::create(ScriptedClient::new(["Hi."]), &path)?;
/// recorder.complete(hello.clone()).await?;
/// assert_eq!(Replay::open(&path)?.complete(hello).await?.text(), "Hi.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recorder<C> {
    client: C,
    cassette: Arc<Cassette>,
}

#[derive(Debug)]
struct Cassette {
    path: PathBuf,
    file: Mutex<File>,
}

impl<C> Recorder<C> {
    /// Wraps `client` and records its calls in a new file at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](LlmErrorKind::Settings) if anything exists at that
    /// path or the file cannot be created. An existing file is never overwritten; delete it to
    /// record again.
    pub fn create(client: C, path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

        let file = options.open(&path).map_err(|error| {
            let what = format_args!("cannot be created: {error}");
            problem(LlmErrorKind::Settings, &path, what)
        })?;

        let file = Mutex::new(file);
        Ok(Self {
            client,
            cassette: Arc::new(Cassette { path, file }),
        })
    }
}

impl Cassette {
    /// Writes one call and returns its outcome. Blocks: writing a few kilobytes to a local file
    /// takes less time than handing the write to a different thread.
    fn record(
        &self,
        request: &ChatRequest,
        outcome: Result<&ChatResponse, &LlmError>,
    ) -> Result<(), LlmError> {
        let recording = Recording {
            request,
            response: outcome.ok(),
            error: outcome.err(),
        };

        let written = serde_json::to_string(&recording).map_err(std::io::Error::from);
        let written =
            written.and_then(|line| locked(&self.file).write_all(format!("{line}\n").as_bytes()));

        written.map_err(|error| {
            let what = format_args!("cannot be written: {error}");
            let text = outcome.map(ChatResponse::text).unwrap_or_default();
            problem(LlmErrorKind::Settings, &self.path, what).with_text_so_far(text)
        })
    }
}

impl<C: LlmClient> Recorder<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let reply = match reply_of(&self.client, request.clone(), streamed).await {
            Ok(reply) => reply,
            Err(error) => {
                self.cassette.record(&request, Err(&error))?;
                return Err(error);
            }
        };

        let cassette = Arc::clone(&self.cassette);
        Ok(ReplyStream::new(reply.map(move |delta| {
            match &delta {
                Ok(Delta::End(response)) => cassette.record(&request, Ok(response))?,
                Err(error) => cassette.record(&request, Err(error))?,
                Ok(_) => {}
            }

            delta
        })))
    }
}

client_from_reply!(Recorder);
