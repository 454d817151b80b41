//! Journals behind pointers: a program that keeps one can deliver answers while the run takes
//! steps.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Awaited, FirstState, Journal, Json, Progress, Snapshot, StepError, Waited, Work};
use crate::{BoxError, StepName};

macro_rules! forward {
    ($pointer:ty) => {
        #[async_trait]
        impl<J: Journal + ?Sized> Journal for $pointer {
            fn run_id(&self) -> &str {
                (**self).run_id()
            }

            fn begin(&self, state: FirstState<'_>) -> Result<(), BoxError> {
                (**self).begin(state)
            }

            async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError> {
                (**self).step(step, work).await
            }

            fn loaded(&self, step: &StepName) -> Option<Json> {
                (**self).loaded(step)
            }

            async fn find(&self, step: &StepName) -> Result<Option<Vec<u8>>, BoxError> {
                (**self).find(step).await
            }

            async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
                (**self).sleep(step, duration).await
            }

            async fn wait(
                &self,
                step: &StepName,
                awaited: Awaited<'_>,
            ) -> Result<Waited, BoxError> {
                (**self).wait(step, awaited).await
            }

            async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
                (**self).deliver(event, answer).await
            }

            fn awaits(&self, event: &str) -> bool {
                (**self).awaits(event)
            }

            async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
                (**self).progress(progress).await
            }

            fn in_order(&self) -> bool {
                (**self).in_order()
            }

            fn snapshot(&self) -> Option<Snapshot> {
                (**self).snapshot()
            }

            async fn fold(&self, snapshot: Snapshot) -> Result<(), BoxError> {
                (**self).fold(snapshot).await
            }
        }
    };
}

forward!(&J);
forward!(Arc<J>);
