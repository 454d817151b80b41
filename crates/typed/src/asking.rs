//! Asks for an answer.

use crate::ask::{Asking, Meter, Rung, Spent, Unanswered};

use crate::policy::{Answering, OnGrowth};
use crate::{Answered, AskError, AskErrorKind, AskLog, GrowingAnswer, Model, Prompt};

impl<T: Send + 'static> Model<T> {
    /// Asks for an answer.
    ///
    /// # Errors
    ///
    /// Returns an error if a call fails, if no reply can be used, or if a limit is reached.
    pub async fn ask(&self, prompt: impl Into<Prompt>) -> Result<Answered<T>, AskError> {
        self.answer(prompt.into(), &self.meter(), None).await
    }

    /// Asks for an answer, and calls `on_growth` whenever a streamed reply has grown.
    ///
    /// [`GrowingAnswer::value`] is what has arrived of the value so far. If the model starts over or
    /// is asked again, the value does so, too.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`ask`](Self::ask).
    pub async fn ask_streaming(
        &self,
        prompt: impl Into<Prompt>,
        mut on_growth: impl FnMut(&GrowingAnswer) + Send,
    ) -> Result<Answered<T>, AskError> {
        let on_growth: OnGrowth<'_> = &mut on_growth;
        self.answer(prompt.into(), &self.meter(), Some(on_growth))
            .await
    }

    /// Returns the meter of an answer.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.limits, Spent::default())
    }

    /// Asks for an answer. The meter includes the cost of earlier attempts.
    pub(crate) async fn answer<'a>(
        &'a self,
        prompt: Prompt,
        meter: &'a Meter,
        on_growth: Option<OnGrowth<'a>>,
    ) -> Result<Answered<T>, AskError> {
        let rungs = self.rungs();
        let mut asking = Asking::new(&*self.client, &self.ladder, rungs)
            .with_meter(meter)
            .with_asks_again(self.asks_again)
            .with_streaming(self.streaming)
            .with_recording(self.recording);

        let mut answering = Answering::new(self, prompt, meter, on_growth);
        let running = meter.run();
        let result = meter.limit(asking.run(&mut answering)).await;
        let result = result.unwrap_or_else(|limit| Err(Unanswered::Stopped(limit)));
        drop(running);

        let record = asking.into_record();
        let log = AskLog {
            tries: record.tries,
            rung: record.rung,
            refusals: record.refusals,
            spent: meter.spent(),
        };

        match result {
            Ok(read) => Ok(Answered {
                value: read.value,
                repairs: read.repairs,
                log,
                messages: answering.into_messages(),
            }),
            Err(Unanswered::Client(error)) => Err(AskError::client(error, log)),
            Err(Unanswered::Unusable(problem)) => Err(AskError::unusable(problem, log)),
            Err(Unanswered::Stopped(limit)) => {
                let message = format!("the limit of {limit} allows no further call");
                Err(AskError::of(AskErrorKind::Limit, message, log))
            }
        }
    }

    /// Returns the forms to request, tightest first.
    fn rungs(&self) -> Vec<Rung> {
        let Some(form) = &self.answer.form else {
            return vec![Rung::Text];
        };

        let flat = form.flat_schema();
        let mut rungs = self.format.rungs(self.client.capabilities());
        let has_schema = rungs.contains(&Rung::Schema);

        // An equal schema would be refused as well.
        let is_useful = flat.is_some_and(|flat| !has_schema || flat != form.schema());
        rungs.retain(|rung| *rung != Rung::FlatSchema || is_useful);
        rungs
    }
}
