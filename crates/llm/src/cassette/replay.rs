use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_files::Folder;
use cogwork_read::{YamlGuard, at_most, charge};
use cogwork_text::Name;
use serde::Deserialize;

use super::call::{Call, Texts};
use super::calls::{Calls, Miss, Recorded};
use super::recording::{Kind, Recording};
use super::{message, wrong};
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, Embedder, Embeddings, LlmClient, LlmError,
    LlmErrorKind, ReplyStream,
};

/// The maximum size of a cassette in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// The maximum number of recordings. Each takes a few kilobytes of memory, however short it is.
const MOST: usize = 20_000;
/// The maximum nesting of collections: slightly more than a recording has.
const NESTING: usize = 32;

/// A client and embedder that replays the calls that a [`Recorder`](crate::Recorder) has recorded.
///
/// A request gets the outcome of the first recording of an equal request that hasn't been replayed
/// yet. If there is none, the error names the most similar recording and the difference. Clones
/// share the replay position. As an [`Embedder`], it has the name of the recorded model.
///
/// See [`Recorder`](crate::Recorder) for an example.
#[derive(Debug, Clone)]
pub struct Replay {
    cassette: Arc<Cassette>,
    capabilities: Capabilities,
}

struct Cassette {
    path: PathBuf,
    chats: Calls<ChatRequest>,
    embeddings: Calls<Texts>,
    /// The model of the embeddings; empty if there are none.
    model: String,
    dimension: Option<usize>,
}

impl Replay {
    /// Opens the cassette at `path`, which may be a link to the file. Blocks while reading the
    /// file.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](LlmErrorKind::Settings) if the path isn't a regular
    /// file, or the file cannot be read, is larger than 64 MiB, isn't a cassette, or contains more
    /// than 20,000 recordings, a truncated recording, or YAML that no recording needs, such as
    /// anchors, tags or deep nesting.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let text =
            read(&path).map_err(|error| wrong(&path, format_args!("cannot be read: {error}")))?;

        let recordings = recordings(&text).map_err(|error| wrong(&path, error))?;
        let cassette = Cassette::of(path.clone(), recordings).map_err(|(number, problem)| {
            wrong(&path, format_args!("recording {number} {problem}"))
        })?;

        Ok(Self {
            cassette: Arc::new(cassette),
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

    /// Returns the number of recordings that haven't been replayed yet.
    pub fn unplayed(&self) -> usize {
        self.cassette.chats.unplayed() + self.cassette.embeddings.unplayed()
    }
}

/// Reads the text of a cassette.
fn recordings(text: &str) -> Result<Vec<Recording>, String> {
    let guard = YamlGuard::new(NESTING).allow_trailing_comments();
    guard
        .check(text)
        .map_err(|refusal| format!("line {}: {}", refusal.line(text), refusal.reason))?;

    charge(text.len());

    // The cassette of a recorder without calls contains only two lines of comment.
    let recordings: Option<Recordings> =
        serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    Ok(recordings.map(|read| read.0).unwrap_or_default())
}

/// The recordings of a cassette.
#[derive(Deserialize)]
struct Recordings(#[serde(deserialize_with = "at_most::<_, _, MOST>")] Vec<Recording>);

fn read(path: &Path) -> Result<String, cogwork_files::Error> {
    let (folder, name) = Folder::of_linked_file(path)?;
    folder.read_text_file(name, LARGEST)
}

impl Cassette {
    /// Returns the number of the recording that is wrong, and the problem, if one is.
    fn of(path: PathBuf, recordings: Vec<Recording>) -> Result<Self, (usize, String)> {
        let mut chats = Vec::new();
        let mut embeddings: Vec<Recorded<Texts>> = Vec::new();

        for (number, recording) in (1..).zip(recordings) {
            match recording.kind(number).map_err(|what| (number, what))? {
                Kind::Chat(chat) => chats.push(chat),
                Kind::Embedding(embedding) => {
                    check_model(embeddings.first(), &embedding).map_err(|what| (number, what))?;
                    embeddings.push(embedding);
                }
            }
        }

        let model = embeddings.first().map(|first| first.request.model.clone());
        let dimension = embeddings.iter().find_map(|embedding| {
            let made = embedding.outcome.as_ref().ok()?;
            Some(made.dimension()).filter(|dimension| *dimension > 0)
        });

        Ok(Self {
            path,
            chats: Calls::new(chats),
            embeddings: Calls::new(embeddings),
            model: model.unwrap_or_default(),
            dimension,
        })
    }

    fn play<C: Call>(&self, calls: &Calls<C>, request: &C) -> Result<C::Response, LlmError> {
        let played = calls.play(request);
        played.unwrap_or_else(|miss| Err(self.missed(miss)))
    }

    fn missed(&self, miss: Miss) -> LlmError {
        let error = LlmError::new(LlmErrorKind::Other, message(&self.path, miss.message));
        match miss.difference {
            Some(difference) => error.with_body(difference),
            None => error,
        }
    }
}

/// Checks that all embeddings are of one model, since those of several can't be compared.
fn check_model(first: Option<&Recorded<Texts>>, this: &Recorded<Texts>) -> Result<(), String> {
    let expected = first.map_or(&this.request.model, |first| &first.request.model);
    if this.request.model == *expected {
        return Ok(());
    }

    Err(format!(
        "has embeddings of the model `{}`; expected `{}`, as in the first one",
        Name(&this.request.model),
        Name(expected)
    ))
}

impl std::fmt::Debug for Cassette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cassette")
            .field("path", &self.path)
            .field(
                "recordings",
                &(self.chats.count() + self.embeddings.count()),
            )
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl LlmClient for Replay {
    /// # Errors
    ///
    /// Returns the recorded errors, or one of kind [`Other`](LlmErrorKind::Other) if there is no
    /// recording left.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.cassette.play(&self.cassette.chats, &request)
    }

    /// Returns the reply as one piece. For an interrupted reply, returns its text and then its
    /// error.
    ///
    /// # Errors
    ///
    /// Returns the errors of `complete`. An error after text is returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let error = match self.cassette.play(&self.cassette.chats, &request) {
            Ok(response) => return Ok(response.into()),
            Err(error) => error,
        };
        let Some(text) = error
            .text_so_far()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
        else {
            return Err(error);
        };

        Ok(ReplyStream::new(futures_util::stream::iter([
            Ok(Delta::Text(text)),
            Err(error),
        ])))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}

#[async_trait]
impl Embedder for Replay {
    /// # Errors
    ///
    /// Returns the recorded errors, or one of kind [`Other`](LlmErrorKind::Other) if there is no
    /// recording left.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let texts = Texts {
            model: self.cassette.model.clone(),
            texts: texts.to_vec(),
        };
        self.cassette.play(&self.cassette.embeddings, &texts)
    }

    /// Returns the name of the model whose embeddings were recorded; an empty text if none were.
    fn model(&self) -> &str {
        &self.cassette.model
    }

    fn dimension(&self) -> Option<usize> {
        self.cassette.dimension
    }
}
