use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_files::Folder;

use super::recording::Recording;
use super::wrong;
use crate::locked::locked;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, Embedder, Embeddings, LlmClient, LlmError,
    ReplyStream,
};

const HEAD: &str = "\
# Calls to a model, each with the request as it was sent and the response or error that came back.
# Requests are matched whole; responses may be edited. A call without `complete: true` at its end was cut off.
";

/// A client or embedder that records every call to another one in a file, a cassette, for
/// [`Replay`](crate::Replay).
///
/// Each call is written before its outcome is returned, in the order in which the calls end, so the
/// cassette of a program that crashes contains everything that the program received. A stream is
/// recorded at its end, as the whole response or the error; a dropped stream is not recorded.
///
/// Each recording ends with the line `complete: true`. A recording without it may have been
/// truncated when the program or the machine stopped during a write, and [`Replay`](crate::Replay)
/// refuses the cassette. There is no other integrity check, so cassettes can be edited; add the
/// line to recordings that are written by hand or by older versions.
///
/// A cassette contains the fields of [`ChatRequest`], [`ChatResponse`] and [`LlmError`]. API keys
/// are in none of them, and the clients of this crate redact them from errors. Secrets in the
/// conversation itself are recorded.
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
    folder: Folder,
    name: OsString,
    end: Mutex<End>,
}

/// The end of the file, where the next call is written.
#[derive(Debug)]
struct End {
    file: File,
    /// The length of the file with all completely written calls.
    bytes: u64,
}

impl<C> Recorder<C> {
    /// Wraps `client` and records its calls in a new file at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](crate::LlmErrorKind::Settings) if anything exists at
    /// that path or the file cannot be created. An existing file is never overwritten; delete it to
    /// record again.
    pub fn create(client: C, path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let cannot_be_made = |error| wrong(&path, format_args!("cannot be created: {error}"));
        let (folder, name) = Folder::of_file(&path).map_err(cannot_be_made)?;
        let file = folder.create_new(&name).map_err(cannot_be_made)?;

        let mut end = End { file, bytes: 0 };
        end.append(HEAD.as_bytes())
            .map_err(|error| wrong(&path, error))?;
        Ok(Self {
            client,
            tape: Arc::new(Tape {
                path,
                folder,
                name,
                end: Mutex::new(end),
            }),
        })
    }
}

impl Tape {
    /// Writes one call. Blocks: writing a few kilobytes to a local file takes less time than
    /// handing the write to a different thread.
    fn record(&self, recording: Recording) -> Result<(), LlmError> {
        let text =
            serde_yaml::to_string(&[recording]).map_err(|error| self.cannot_be_written(error))?;
        self.append(text.as_bytes())
            .map_err(|error| self.cannot_be_written(error))
    }

    fn append(&self, call: &[u8]) -> io::Result<()> {
        let mut end = locked(&self.end);
        end.append(call)?;

        // Checked after the write, which may have gone to a file that was deleted.
        if self.folder.holds(&self.name, &end.file)? {
            return Ok(());
        }

        let lost = "the file was removed or replaced during recording; expected it to remain";
        Err(io::Error::new(io::ErrorKind::NotFound, lost))
    }

    fn cannot_be_written(&self, error: impl Display) -> LlmError {
        wrong(&self.path, format_args!("cannot be written: {error}"))
    }
}

impl End {
    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        // A failed write, for example on a full disk, may have left a partial recording.
        if self.file.metadata()?.len() > self.bytes {
            self.file.set_len(self.bytes)?;
        }

        self.file.write_all(text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Recorder<C> {
    /// # Errors
    ///
    /// Returns the error of the client, or one of kind [`Settings`](crate::LlmErrorKind::Settings)
    /// with the text of the reply if the file cannot be written.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let outcome = self.client.complete(request.clone()).await;
        self.tape
            .record(Recording::of_chat(&request, outcome.as_ref()))
            .map_err(|error| match &outcome {
                Ok(response) => error.with_text_so_far(response.text()),
                Err(_) => error,
            })?;

        outcome
    }

    /// # Errors
    ///
    /// Returns the errors of `complete`. Later errors are returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let reply = match self.client.stream(request.clone()).await {
            Ok(reply) => reply,
            Err(error) => {
                self.tape
                    .record(Recording::of_chat(&request, Err(&error)))?;
                return Err(error);
            }
        };

        let tape = self.tape.clone();
        let recorded = futures_util::StreamExt::map(reply, move |delta| {
            match &delta {
                Ok(Delta::End(response)) => {
                    tape.record(Recording::of_chat(&request, Ok(response)))?;
                }
                Err(error) => tape.record(Recording::of_chat(&request, Err(error)))?,
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

#[async_trait]
impl<E: Embedder> Embedder for Recorder<E> {
    /// # Errors
    ///
    /// Returns the error of the embedder, or one of kind
    /// [`Settings`](crate::LlmErrorKind::Settings) if the file cannot be written.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let outcome = self.client.embed(texts).await;
        let model = self.client.model();
        let recording = Recording::of_embedding(model, texts, outcome.as_ref());

        self.tape.record(recording)?;
        outcome
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
