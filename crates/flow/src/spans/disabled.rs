use std::fmt::Display;
use std::time::Duration;

use crate::boxed::BoxFuture;
use crate::{Action, Operation, RunError, StepName};

#[derive(Debug, Clone)]
pub(crate) struct RunSpan;

impl RunSpan {
    #[inline]
    pub(crate) fn open(_flow: &str, _id: impl FnOnce() -> Option<String>) -> Option<Self> {
        None
    }

    pub(crate) async fn around<T>(self, walk: impl Future<Output = T>) -> T {
        walk.await
    }

    pub(crate) fn ended(&self, _action: &Action, _steps: u64) {}

    pub(crate) fn stopped(&self, _error: &RunError) {}
}

#[derive(Debug, Clone)]
pub(crate) struct StepSpan;

impl StepSpan {
    pub(crate) fn open(_name: &StepName, _operation: &Operation) -> Self {
        Self
    }

    pub(crate) fn around<'a, T>(&self, visit: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        visit
    }

    pub(crate) fn left(&self, _action: &Action) {}

    pub(crate) fn stopped(&self, _error: &RunError) {}
}

#[inline]
pub(crate) fn retrying(_attempts: u32, _delay: Duration, _error: &dyn Display) {}

#[inline]
pub(crate) fn replayed(_name: &StepName) {}

#[inline]
pub(crate) fn are_notes_wanted() -> bool {
    false
}

#[inline]
pub(crate) fn noted(_text: &str) {}
