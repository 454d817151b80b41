use std::time::Duration;

use crate::Action;
use crate::execute::failure::Failure;
use crate::execute::here::Here;
use crate::execute::visit::{Visit, Visited};

/// A place where the run sleeps for the duration that the closure returns.
pub(crate) struct Sleep<F>(pub(crate) F);

impl<S: Send, F: Fn(&S) -> Duration + Send + Sync> Visit<S> for Sleep<F> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let duration = (self.0)(state);
            let (step, journal) = here.on_record("a sleep inside items or branches")?;
            let slept = journal.sleep(&step.name, duration).await;
            slept.map_err(Failure::Journal)?;

            Ok(Action::DEFAULT)
        })
    }
}
