use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_files::Folder;

use super::difference::Difference;
use super::{Recording, message, wrong};
use crate::request::RequestKey;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// The largest cassette that is read, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A client that plays what a [`Recorder`](crate::Recorder) has recorded, and calls nobody.
///
/// A request gets the outcome of the first recording of an equal request that has not been played
/// yet. One that was not recorded, or is asked more often than it was recorded, is an error that says
/// what the nearest recording is and where it differs. Clones share what has been played.
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

/// The recordings that have not been played yet, by their requests.
struct Unplayed {
    by_request: HashMap<RequestKey, Takes>,
    count: usize,
}

/// The recordings of one request.
#[derive(Default)]
struct Takes {
    /// Where those are that have not been played yet, in order.
    unplayed: VecDeque<usize>,
    recorded: usize,
}

impl Replay {
    /// Opens the cassette at `path`, which may be a link to the file. Blocks while the file is read.
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](LlmErrorKind::Settings), if the path leads to no regular file, or one that cannot be
    /// read, is over 64 MiB, or is no cassette; or if any of its recordings was cut off, so that half a reply is
    /// never played as a whole one.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let path = path.into();
        let text =
            read(&path).map_err(|error| wrong(&path, format_args!("cannot be read: {error}")))?;

        // A recorder that saw no call leaves its two lines of comment.
        let recordings: Option<Vec<Recording>> =
            serde_yaml::from_str(&text).map_err(|error| wrong(&path, error))?;

        let recordings = recordings.unwrap_or_default();
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

    /// What the recorded client was able to do, for programs that ask in another way where less is
    /// known.
    ///
    /// # Default
    ///
    /// Nothing known.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How many recordings have not been played yet: 0 at the end of a test that asks for all of them.
    pub fn unplayed(&self) -> usize {
        self.cassette.unplayed().count
    }
}

impl Unplayed {
    fn of(recordings: &[Recording]) -> Self {
        let mut by_request: HashMap<_, Takes> = HashMap::new();
        for (place, recording) in recordings.iter().enumerate() {
            // A request that is unequal to itself can never be asked again.
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

fn read(path: &Path) -> Result<String, cogwork_files::Error> {
    let (folder, name) = Folder::of_linked_file(path)?;
    folder.read_text_file(name, LARGEST)
}

impl Cassette {
    /// The next outcome of this request.
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

    /// Where the next recording of this request is; from now on it counts as played.
    fn take(&self, request: &ChatRequest) -> Result<usize, LlmError> {
        let mut unplayed = self.unplayed();
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

    fn unplayed(&self) -> MutexGuard<'_, Unplayed> {
        self.unplayed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a request that was not recorded.
    fn miss(&self, request: &ChatRequest) -> LlmError {
        let differences = self
            .recordings
            .iter()
            .map(|recording| Difference::of(&recording.request, request));
        let nearest = (1..)
            .zip(differences)
            .max_by(|(_, one), (_, other)| one.nearness().cmp(&other.nearness()));
        match nearest {
            None => self.wrong(format_args!(
                "this request was not recorded, nor was any other"
            )),
            Some((number, difference)) => self
                .wrong(format_args!(
                    "this request was not recorded; the nearest is recording {number}: {difference}"
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
    /// The recorded ones; and of kind [`Other`](LlmErrorKind::Other), if there is no recording left.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.cassette.play(&request)
    }

    /// The reply as one piece. One that broke off gives the text that came, and then its error.
    ///
    /// # Errors
    ///
    /// As of `complete`; an error after text comes through the stream.
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
