use std::fmt;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message};
use cogwork_typed::ask::{
    Asking, Format, Limit, Meter, Policy, RefusedFormats, Unanswered, Verdict,
};

use super::attempt::Attempt;

/// A request, and a function that reads its reply.
pub(super) struct Question<R> {
    request: ChatRequest,
    read: R,
    meter: Meter,
}

/// The reason why a reply cannot be used.
pub(super) struct Unusable {
    /// What is wrong with the reply.
    pub(super) problem: &'static str,
    /// The complaint to the model.
    pub(super) complaint: String,
}

impl<T, R> Question<R>
where
    T: Send,
    R: Fn(ChatResponse) -> Result<T, Unusable> + Send + Sync,
{
    pub(super) fn new(request: ChatRequest, read: R, meter: &Meter) -> Self {
        Self {
            request,
            read,
            meter: meter.share(),
        }
    }

    /// Asks until `read` accepts a reply, at most `asks_again` more times after the first. Returns
    /// `None` if it accepts none of them. The attempt keeps every reply.
    pub(super) async fn ask(
        &mut self,
        client: &dyn LlmClient,
        asks_again: u32,
        attempt: &Attempt<'_>,
    ) -> Result<Option<T>, LlmError> {
        let refused = RefusedFormats::default();
        let asking = Asking::new(client, &refused, Vec::new())
            .with_meter(&self.meter)
            .with_asks_again(asks_again)
            // The client records its calls, including those of hooks, under the hash of the request.
            .with_recording(false);
        let mut kept = Kept { asking, attempt };

        match kept.asking.run(self).await {
            Ok(read) => Ok(Some(read)),
            Err(Unanswered::Unusable(_)) => Ok(None),
            Err(Unanswered::Client(error)) => Err(error),
            Err(Unanswered::Stopped(limit)) => {
                let message = format!("the limit of {limit} allows no further call");
                Err(LlmError::new(LlmErrorKind::Budget, message))
            }
        }
    }
}

/// An asking whose replies are kept when it ends, even if it is dropped.
struct Kept<'a> {
    asking: Asking<'a>,
    attempt: &'a Attempt<'a>,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.attempt.keep_tries(&self.asking.log().tries);
    }
}

impl<T, R> Policy for Question<R>
where
    T: Send,
    R: Fn(ChatResponse) -> Result<T, Unusable> + Send + Sync,
{
    type Reply = T;
    type Problem = Unusable;
    type Stop = Limit;

    fn request(&self, _: Format) -> ChatRequest {
        self.request.clone()
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Verdict<T, Unusable> {
        // The thinking is not part of the answer.
        match (self.read)(response.clone().separate_thinking()) {
            Ok(read) => Verdict::Usable(read),
            Err(problem) => {
                let message = Message::user(problem.complaint.as_str());
                Verdict::Unusable { problem, message }
            }
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.problem)
    }
}
