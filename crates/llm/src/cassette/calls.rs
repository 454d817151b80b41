//! The recorded calls of one kind.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use super::call::Call;
use super::difference::{Difference, Nearness};
use super::failure::Failure;
use crate::LlmError;
use crate::locked::locked;

/// The maximum number of equally similar recordings of which the whole difference is computed.
const MOST_COMPARED: usize = 100;

/// A recorded call.
pub(super) struct Recorded<C: Call> {
    /// The number in the cassette, from 1.
    pub(super) number: usize,
    pub(super) request: C,
    pub(super) outcome: Result<C::Response, Failure>,
}

/// The recorded calls of one kind, and which of them were replayed.
pub(super) struct Calls<C: Call> {
    recorded: Vec<Recorded<C>>,
    unplayed: Mutex<Unplayed<C::Key>>,
}

/// The recordings that haven't been replayed yet, by request.
struct Unplayed<K> {
    by_request: HashMap<K, Takes>,
    count: usize,
}

/// The recordings of one request.
#[derive(Default)]
struct Takes {
    /// The positions of the recordings that haven't been replayed yet, in order.
    unplayed: VecDeque<usize>,
    recorded: usize,
}

/// Why there is no recording for a request.
pub(super) struct Miss {
    pub(super) message: String,
    /// The whole difference to the most similar recording.
    pub(super) difference: Option<String>,
}

impl<C: Call> Calls<C> {
    pub(super) fn new(recorded: Vec<Recorded<C>>) -> Self {
        let mut by_request: HashMap<_, Takes> = HashMap::new();
        for (place, recording) in recorded.iter().enumerate() {
            let Some(key) = recording.request.key() else {
                continue;
            };

            let takes = by_request.entry(key).or_default();
            takes.unplayed.push_back(place);
            takes.recorded += 1;
        }

        let count = recorded.len();
        Self {
            recorded,
            unplayed: Mutex::new(Unplayed { by_request, count }),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.recorded.len()
    }

    pub(super) fn unplayed(&self) -> usize {
        locked(&self.unplayed).count
    }

    /// Returns the next outcome of this request, and marks it as replayed.
    pub(super) fn play(&self, request: &C) -> Result<Result<C::Response, LlmError>, Miss> {
        let place = self.take(request)?;
        let recording = self.recorded.get(place);
        let recording = recording.ok_or_else(|| self.miss(request))?;

        Ok(match &recording.outcome {
            Ok(response) => Ok(response.clone()),
            Err(failure) => Err(failure.error()),
        })
    }

    fn take(&self, request: &C) -> Result<usize, Miss> {
        let mut unplayed = locked(&self.unplayed);
        let key = request.key();
        let Some(takes) = key.and_then(|key| unplayed.by_request.get_mut(&key)) else {
            return Err(self.miss(request));
        };

        let Some(place) = takes.unplayed.pop_front() else {
            let times = takes.recorded;
            return Err(Miss::of(format!(
                "this request has been played as often as it was recorded ({times}); expected a recording for each \
                 time it is asked"
            )));
        };

        unplayed.count -= 1;
        Ok(place)
    }

    fn miss(&self, request: &C) -> Miss {
        match self.nearest(request) {
            None => Miss::of("this request was not recorded, nor was any other".to_owned()),
            Some((number, difference)) => Miss {
                message: format!(
                    "this request was not recorded; the most similar one is recording {number}: {difference}"
                ),
                difference: Some(difference.whole()),
            },
        }
    }

    /// Returns the number of the most similar recording, and the difference to it.
    fn nearest(&self, request: &C) -> Option<(usize, Difference)> {
        let by_nearness: Vec<Nearness> = self
            .recorded
            .iter()
            .map(|recording| recording.request.nearness(request))
            .collect();

        let nearest = by_nearness.iter().max();
        self.recorded
            .iter()
            .zip(&by_nearness)
            .filter(|(_, nearness)| Some(*nearness) == nearest)
            .map(|(recording, _)| (recording.number, recording.request.difference(request)))
            .take(MOST_COMPARED)
            .min_by_key(|(_, difference)| difference.count())
    }
}

impl Miss {
    fn of(message: String) -> Self {
        Self {
            message,
            difference: None,
        }
    }
}
