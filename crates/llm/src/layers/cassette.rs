use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_text::Escaped;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};

use super::reply::{client_from_reply, reply_of};
use crate::backend::Capabilities;
use crate::locked::locked;
use crate::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream};

/// A line of a cassette.
#[derive(Serialize, Deserialize)]
struct Recording<Q = ChatRequest, R = ChatResponse, E = LlmError> {
    request: Q,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<E>,
}

fn problem(kind: LlmErrorKind, path: &Path, what: impl Display) -> LlmError {
    let path = Escaped::new(path.display());
    LlmError::new(kind, format!("the cassette {path}: {what}"))
}

/// A client that records every call to another one in a file, a cassette, for
/// [`Replay`](crate::layers::Replay).
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
/// use cogwork_llm::layers::{Recorder, Replay};
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
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
    tape: Arc<Tape>,
}

/// A cassette that is being recorded.
#[derive(Debug)]
struct Tape {
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
        // A recording may have cost money, so none is overwritten.
        options.append(true).create_new(true);
        // A cassette contains whole conversations, which are nobody else's business.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

        let file = options.open(&path).map_err(|error| {
            let what = format_args!("cannot be created: {error}");
            problem(LlmErrorKind::Settings, &path, what)
        })?;
        let file = Mutex::new(file);
        Ok(Self {
            client,
            tape: Arc::new(Tape { path, file }),
        })
    }
}

impl Tape {
    /// Writes one call. Blocks: writing a few kilobytes to a local file takes less time than handing the
    /// write to a different thread.
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

        let line = serde_json::to_string(&recording).map_err(std::io::Error::from);
        let write = |line| locked(&self.file).write_all(format!("{line}\n").as_bytes());
        line.and_then(write).map_err(|error| {
            let what = format_args!("cannot be written: {error}");
            let text = outcome.map(ChatResponse::text).unwrap_or_default();
            problem(LlmErrorKind::Settings, &self.path, what).with_text_so_far(text)
        })
    }
}

impl<C: LlmClient> Recorder<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let reply = reply_of(&self.client, request.clone(), streamed).await;
        // A cassette with gaps cannot be replayed, so a call that cannot be recorded fails.
        let reply = reply.or_else(|error| {
            self.tape.record(&request, Err(&error))?;
            Err(error)
        })?;

        let tape = Arc::clone(&self.tape);
        Ok(ReplyStream::new(reply.map(move |delta| {
            match &delta {
                // Written before the end is passed on, so that a crash loses nothing that the
                // program has used.
                Ok(Delta::End(response)) => tape.record(&request, Ok(response))?,
                Err(error) => tape.record(&request, Err(error))?,
                Ok(_) => {}
            }

            delta
        })))
    }
}

client_from_reply!(Recorder);

/// A client that replays the calls that a [`Recorder`](crate::layers::Recorder) has recorded.
///
/// A request gets the outcome of the first recording of an equal request that hasn't been replayed
/// yet. Clones share the replay position.
///
/// See [`Recorder`](crate::layers::Recorder) for an example.
#[derive(Debug, Clone)]
pub struct Replay {
    cassette: Arc<Cassette>,
    capabilities: Capabilities,
}

#[derive(Debug)]
struct Cassette {
    path: PathBuf,
    /// The recordings of each request that are left.
    takes: Mutex<HashMap<String, VecDeque<Outcome>>>,
}

type Outcome = Result<ChatResponse, LlmError>;

impl Replay {
    /// Opens the cassette at `path`. Blocks while reading the file.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](LlmErrorKind::Settings) if the file cannot be read, or
    /// with the number of the first line that isn't a recorded call, for example because the program
    /// that wrote it was stopped in the middle of it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let wrong = |what: String| problem(LlmErrorKind::Settings, &path, what);
        let text =
            fs::read_to_string(&path).map_err(|error| wrong(format!("cannot be read: {error}")))?;

        let mut takes: HashMap<_, VecDeque<_>> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let (request, outcome) = read(line, number).map_err(wrong)?;
            // The same request may have been made several times, with different replies.
            takes.entry(request.key()).or_default().push_back(outcome);
        }

        let takes = Mutex::new(takes);
        Ok(Self {
            cassette: Arc::new(Cassette { path, takes }),
            capabilities: Capabilities::none(),
        })
    }

    /// Sets the capabilities of the recorded client, for programs whose requests depend on them.
    ///
    /// None by default.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

fn read(line: &str, number: usize) -> Result<(ChatRequest, Outcome), String> {
    let recording: Recording = serde_json::from_str(line).map_err(|error| {
        let message = error.to_string();
        // serde_json counts lines in what it was given, which is always one line.
        let message = message.split(" at line ").next().unwrap_or_default();
        format!("line {number}, column {}: {message}", error.column())
    })?;

    match (recording.response, recording.error) {
        (Some(response), None) => Ok((recording.request, Ok(response))),
        (None, Some(error)) => Ok((recording.request, Err(error))),
        _ => Err(format!(
            "line {number}: expected either `response` or `error`"
        )),
    }
}

impl Cassette {
    /// Returns the next outcome of a request.
    fn play(&self, request: &ChatRequest) -> Outcome {
        let mut takes = locked(&self.takes);
        let next = takes.get_mut(&request.key()).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| {
            let what =
                "has no recording of this request left; expected one for each time it is asked";
            Err(problem(LlmErrorKind::Other, &self.path, what))
        })
    }
}

#[async_trait]
impl LlmClient for Replay {
    /// # Errors
    ///
    /// Returns the recorded errors, or one of kind [`Other`](LlmErrorKind::Other) if there is no
    /// recording left.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.cassette.play(&request)
    }

    /// Returns the reply as one piece. For an interrupted reply, returns its text and then its
    /// error.
    ///
    /// # Errors
    ///
    /// Returns the errors of `complete`. An error after text is returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let error = match self.cassette.play(&request) {
            Ok(response) => return Ok(response.into()),
            Err(error) => error,
        };

        let text = error.text_so_far().unwrap_or_default().to_owned();
        // The call failed before its reply began, so it fails here before the stream.
        if text.is_empty() {
            return Err(error);
        }

        let pieces = [Ok(Delta::Text(text)), Err(error)];
        Ok(ReplyStream::new(stream::iter(pieces)))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}
