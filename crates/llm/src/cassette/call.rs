//! What the two kinds of calls have in common.

use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::difference::{Difference, Nearness};
use crate::request::RequestKey;
use crate::{ChatRequest, ChatResponse, Embeddings};

/// The request of a recorded call.
pub(super) trait Call: Sized {
    type Response: Clone;
    type Key: Eq + Hash;

    /// Returns `None` for a request that is unequal to itself, which cannot be requested again.
    fn key(&self) -> Option<Self::Key>;

    /// Returns how similar this recorded request is to the one that was asked for.
    fn nearness(&self, asked: &Self) -> Nearness;

    fn difference(&self, asked: &Self) -> Difference;
}

impl Call for ChatRequest {
    type Response = ChatResponse;
    type Key = RequestKey;

    fn key(&self) -> Option<RequestKey> {
        RequestKey::of(self)
    }

    fn nearness(&self, asked: &Self) -> Nearness {
        Nearness::of_messages(self, asked)
    }

    fn difference(&self, asked: &Self) -> Difference {
        Difference::of_requests(self, asked)
    }
}

/// The texts that were embedded together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    pub(super) model: String,
    pub(super) texts: Vec<String>,
}

impl Call for Texts {
    type Response = Embeddings;
    type Key = Self;

    fn key(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn nearness(&self, asked: &Self) -> Nearness {
        Nearness::of_texts(&self.texts, &asked.texts)
    }

    fn difference(&self, asked: &Self) -> Difference {
        Difference::of_texts(&self.texts, &asked.texts)
    }
}
