use std::fmt;

use cogwork_ask::{Asking, Ladder, Policy, Rung, Spent, Unanswered, Verdict};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message};

/// A request, and a function that reads its reply.
pub(super) struct Question<R> {
    request: ChatRequest,
    read: R,
    spent: Spent,
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
    pub(super) fn new(request: ChatRequest, read: R) -> Self {
        Self {
            request,
            read,
            spent: Spent::default(),
        }
    }

    /// Asks until `read` accepts a reply, at most `asks_again` more times after the first. Returns
    /// `None` if it accepts none of them.
    pub(super) async fn ask(
        &mut self,
        client: &dyn LlmClient,
        asks_again: u32,
    ) -> Result<Option<T>, LlmError> {
        let ladder = Ladder::default();
        let mut asking = Asking::new(client, &ladder, Vec::new()).with_asks_again(asks_again);

        match asking.run(self).await {
            Ok(read) => Ok(Some(read)),
            Err(Unanswered::Unusable(_)) => Ok(None),
            Err(Unanswered::Client(error)) => Err(error),
            Err(Unanswered::Limit(never)) => match never {},
        }
    }

    /// Returns the cost of the calls so far.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }
}

impl<T, R> Policy for Question<R>
where
    T: Send,
    R: Fn(ChatResponse) -> Result<T, Unusable> + Send + Sync,
{
    type Reply = T;
    type Problem = Unusable;
    type Limit = std::convert::Infallible;

    fn request(&self, _: Rung) -> ChatRequest {
        self.request.clone()
    }

    fn after_call(&mut self, _: &ChatRequest, response: &ChatResponse) {
        self.spent.count_call();
        self.spent.usage += response.usage().unwrap_or_default();
    }

    async fn judge(&mut self, response: &ChatResponse, _: Rung) -> Verdict<T, Unusable> {
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
