use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Failure, Recording, wrong};
use crate::{Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, ReplyStream};

const HEAD: &str = "\
# Calls to a model, each with the request as it was sent and the response or error that came back.
# Requests are matched whole; responses may be edited.
";

/// A client that writes every call to another one into a file, a cassette, for
/// [`Replay`](crate::Replay) to play.
///
/// Each call is in the file before its outcome is given on, in the order in which they end, so that
/// a program that crashes has recorded what it saw. A stream is recorded at its end, as the whole
/// response or the error; one that is dropped is not recorded.
///
/// A cassette holds what [`ChatRequest`], [`ChatResponse`] and [`LlmError`] hold. Keys are in none of
/// them, and errors of this crate's clients hide them where a server repeats them; a secret in the
/// conversation itself is recorded.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, Recorder, Replay, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("hello.yaml");
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

#[derive(Debug)]
struct Tape {
    path: PathBuf,
    file: Mutex<File>,
}

impl<C> Recorder<C> {
    /// `client`, recorded in a new file at `path`.
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](crate::LlmErrorKind::Settings), if the file exists or cannot be made. One
    /// that exists is not written over: recording anew means deleting it first, on purpose.
    pub fn create(client: C, path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let mut file =
            File::create_new(&path).map_err(|error| wrong(&path, format_args!("cannot be made: {error}")))?;
        file.write_all(HEAD.as_bytes()).map_err(|error| wrong(&path, error))?;
        Ok(Self { client, tape: Arc::new(Tape { path, file: Mutex::new(file) }) })
    }
}

impl Tape {
    /// Writes one call. A write of a few kilobytes to a local file is over sooner than a thread for
    /// it is found, and recording is for tests.
    fn record(
        &self,
        request: &ChatRequest,
        outcome: Result<&ChatResponse, &LlmError>,
    ) -> Result<(), LlmError> {
        let recording = Recording {
            request: request.clone(),
            response: outcome.ok().cloned(),
            error: outcome.err().map(Failure::of),
        };
        let written =
            serde_yaml::to_string(&[recording]).map_err(|error| error.to_string()).and_then(|text| {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(text.as_bytes()).map_err(|error| error.to_string())
            });
        written.map_err(|error| wrong(&self.path, format_args!("cannot be written: {error}")))
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Recorder<C> {
    /// # Errors
    ///
    /// Those of the client; and of kind [`Settings`](crate::LlmErrorKind::Settings), with the text of
    /// the reply, if the file cannot be written.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let outcome = self.client.complete(request.clone()).await;
        self.tape.record(&request, outcome.as_ref()).map_err(|error| match &outcome {
            Ok(response) => error.with_text_so_far(response.text()),
            Err(_) => error,
        })?;
        outcome
    }

    /// # Errors
    ///
    /// As of `complete`; later ones come through the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let reply = match self.client.stream(request.clone()).await {
            Ok(reply) => reply,
            Err(error) => {
                self.tape.record(&request, Err(&error))?;
                return Err(error);
            }
        };
        let tape = self.tape.clone();
        let recorded = futures_util::StreamExt::map(reply, move |delta| {
            match &delta {
                Ok(Delta::End(response)) => tape.record(&request, Ok(response))?,
                Err(error) => tape.record(&request, Err(error))?,
                Ok(_) => {}
            }
            delta
        });
        Ok(ReplyStream::new(recorded))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
