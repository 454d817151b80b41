use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_files::Folder;
use cogwork_read::{YamlGuard, at_most, charge};
use serde::Deserialize;

use super::difference::{Difference, Nearness};
use super::{Recording, message, wrong};
use crate::locked::locked;
use crate::request::RequestKey;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// The maximum size of a cassette in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// The maximum number of recordings. Each takes a few kilobytes of memory, however short it is.
const MOST: usize = 20_000;
/// The maximum number of equally similar recordings of which the whole difference is computed.
const MOST_COMPARED: usize = 100;
/// The maximum nesting of collections: slightly more than a recording has.
const NESTING: usize = 32;

/// A client that replays the calls that a [`Recorder`](crate::Recorder) has recorded.
///
/// A request gets the outcome of the first recording of an equal request that hasn't been replayed
/// yet. If there is none, the error names the most similar recording and the difference. Clones
/// share the replay position.
///
/// See [`Recorder`](crate::Recorder) for an example.
#[derive(Debug, Clone)]
pub struct Replay {
    cassette: Arc<Cassette>,
    capabilities: Capabilities,
}

struct Cassette {
    path: PathBuf,
    recordings: Vec<Recording>,
    unplayed: Mutex<Unplayed>,
}

/// The recordings that haven't been replayed yet, by request.
struct Unplayed {
    by_request: HashMap<RequestKey, Takes>,
    count: usize,
}

/// The recordings of one request.
#[derive(Default)]
struct Takes {
    /// The positions of the recordings that haven't been replayed yet, in order.
    unplayed: VecDeque<usize>,
    recorded: usize,
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
        for (number, recording) in (1..).zip(&recordings) {
            if let Some(problem) = recording.problem() {
                return Err(wrong(&path, format_args!("recording {number} {problem}")));
            }
        }

        let unplayed = Mutex::new(Unplayed::of(&recordings));
        Ok(Self {
            cassette: Arc::new(Cassette {
                path,
                recordings,
                unplayed,
            }),
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
        locked(&self.cassette.unplayed).count
    }
}

impl Unplayed {
    fn of(recordings: &[Recording]) -> Self {
        let mut by_request: HashMap<_, Takes> = HashMap::new();
        for (place, recording) in recordings.iter().enumerate() {
            // A request that is unequal to itself cannot be requested again.
            let Some(key) = RequestKey::of(&recording.request) else {
                continue;
            };

            let takes = by_request.entry(key).or_default();
            takes.unplayed.push_back(place);
            takes.recorded += 1;
        }

        Self {
            by_request,
            count: recordings.len(),
        }
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
    /// Returns the next outcome of this request.
    fn play(&self, request: &ChatRequest) -> Result<ChatResponse, LlmError> {
        let place = self.take(request)?;
        let Some(recording) = self.recordings.get(place) else {
            return Err(self.miss(request));
        };

        match (&recording.response, &recording.error) {
            (Some(response), _) => Ok(response.clone()),
            (None, Some(failure)) => Err(failure.error()),
            (None, None) => Err(self.wrong(format_args!("recording {} has no outcome", place + 1))),
        }
    }

    /// Returns the position of the next recording of this request, and marks it as replayed.
    fn take(&self, request: &ChatRequest) -> Result<usize, LlmError> {
        let mut unplayed = locked(&self.unplayed);
        let key = RequestKey::of(request);
        let Some(takes) = key.and_then(|key| unplayed.by_request.get_mut(&key)) else {
            return Err(self.miss(request));
        };

        let Some(place) = takes.unplayed.pop_front() else {
            let times = takes.recorded;
            return Err(self.wrong(format_args!(
                "this request has been played as often as it was recorded ({times}); expected a recording for each \
                 time it is asked"
            )));
        };

        unplayed.count -= 1;
        Ok(place)
    }

    /// Returns the error for a request without a recording.
    fn miss(&self, request: &ChatRequest) -> LlmError {
        let by_nearness: Vec<Nearness> = self
            .recordings
            .iter()
            .map(|recording| Nearness::of(&recording.request, request))
            .collect();

        let nearest = by_nearness.iter().max();
        let nearest = (1..)
            .zip(&self.recordings)
            .zip(&by_nearness)
            .filter(|(_, nearness)| Some(*nearness) == nearest)
            .map(|((number, recording), _)| (number, Difference::of(&recording.request, request)))
            .take(MOST_COMPARED)
            .min_by_key(|(_, difference)| difference.count());

        match nearest {
            None => self.wrong(format_args!(
                "this request was not recorded, nor was any other"
            )),
            Some((number, difference)) => self
                .wrong(format_args!(
                    "this request was not recorded; the most similar one is recording {number}: {difference}"
                ))
                .with_body(difference.whole()),
        }
    }

    fn wrong(&self, what: std::fmt::Arguments<'_>) -> LlmError {
        LlmError::new(LlmErrorKind::Other, message(&self.path, what))
    }
}

impl std::fmt::Debug for Cassette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cassette")
            .field("path", &self.path)
            .field("recordings", &self.recordings.len())
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
