use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream;

use super::{Recording, problem};
use crate::locked::locked;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// A client that replays the calls that a [`Recorder`](crate::Recorder) has recorded.
///
/// A request gets the outcome of the first recording of an equal request that hasn't been replayed
/// yet. If there is none, the error says how many recordings there are. Clones share the replay
/// position.
///
/// See [`Recorder`](crate::Recorder) for an example.
#[derive(Debug, Clone)]
pub struct Replay {
    cassette: Arc<Cassette>,
    capabilities: Capabilities,
}

#[derive(Debug)]
struct Cassette {
    path: PathBuf,
    recordings: usize,
    takes: Mutex<HashMap<ChatRequest, Takes>>,
}

/// The recordings of one request: how many there are, and which are left.
type Takes = (usize, VecDeque<Outcome>);
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

        let mut recordings = 0;
        let mut takes: HashMap<_, Takes> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let (request, outcome) = read(line, number).map_err(wrong)?;
            let (recorded, left) = takes.entry(request).or_default();
            *recorded += 1;
            left.push_back(outcome);
            recordings += 1;
        }

        let takes = Mutex::new(takes);
        Ok(Self {
            cassette: Arc::new(Cassette {
                path,
                recordings,
                takes,
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
        let takes = locked(&self.cassette.takes);
        takes.values().map(|(_, left)| left.len()).sum()
    }
}

fn read(line: &str, number: usize) -> Result<(ChatRequest, Outcome), String> {
    let recording: Recording = serde_json::from_str(line).map_err(|error| {
        let message = error.to_string();
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
        let (recorded, left) = takes
            .get_mut(request)
            .map_or((0, None), |(recorded, left)| (*recorded, left.pop_front()));
        left.unwrap_or_else(|| {
            let what = format!(
                "has {} recordings, {recorded} of them of this request, of which none is left; \
                 expected one for each time it is asked",
                self.recordings
            );
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
