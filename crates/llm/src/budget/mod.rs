use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    Usage, guess,
};

mod prices;
pub use prices::{Price, Prices};

/// A client that stops calling another one when a number of calls, tokens or an amount of money is
/// used up.
///
/// A call that is begun goes to its end, so what is spent may pass a limit by what the calls in
/// flight take. Every call that is begun counts; tokens and money count as the response says. Where it
/// says nothing, or a stream is dropped or breaks off, a token is guessed for every four bytes of
/// what is known to have gone over; a call that fails before its reply costs no tokens.
///
/// Clones share the budget. Put it inside a [`Retry`](crate::Retry), so that attempts count, and
/// inside a [`Cache`](crate::Cache), so that what is found there does not.
///
/// ```
/// use cogwork_llm::{Budget, ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let client = Budget::new(ScriptedClient::new(["Hi.", "Bye."])).with_calls(1);
/// client.complete(ChatRequest::default()).await?;
/// let error = client.complete(ChatRequest::default()).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Budget);
/// assert_eq!(error.to_string(), "budget: the limit on calls is 1, and is reached (calls: 1, tokens: 1, money: 0)");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Budget<C> {
    client: C,
    calls: Option<u64>,
    tokens: Option<u64>,
    money: Option<f64>,
    prices: Arc<Prices>,
    spending: Arc<Mutex<Spending>>,
}

/// What calls have taken so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Spending {
    /// Calls begun.
    pub calls: u64,
    /// Tokens, counted or guessed.
    pub usage: Usage,
    /// The cost of the tokens by the price table; 0 without one.
    pub money: f64,
}

impl fmt::Display for Spending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sums of floating-point numbers have tails that nobody wants to read.
        let money = (self.money * 1e6).round() / 1e6;
        write!(
            f,
            "calls: {}, tokens: {}, money: {money}",
            self.calls,
            self.usage.total_tokens()
        )
    }
}

impl<C> Budget<C> {
    /// `client`, without limits so far.
    pub fn new(client: C) -> Self {
        Self {
            client,
            calls: None,
            tokens: None,
            money: None,
            prices: Arc::default(),
            spending: Arc::default(),
        }
    }

    /// How many calls there may be. Unset: no limit.
    #[must_use]
    pub fn with_calls(mut self, calls: u64) -> Self {
        self.calls = Some(calls);
        self
    }

    /// How many tokens calls may take, read and written. Unset: no limit.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// How much money calls may cost, by these prices and in their currency. Unset: no limit.
    #[must_use]
    pub fn with_money(mut self, amount: f64, prices: Prices) -> Self {
        self.money = Some(amount);
        self.prices = Arc::new(prices);
        self
    }

    /// What has been spent so far.
    pub fn spending(&self) -> Spending {
        *locked(&self.spending)
    }

    /// Begins a call, if there is something left to begin it with.
    fn begin(&self, request: &ChatRequest) -> Result<Account, LlmError> {
        let mut spending = locked(&self.spending);
        let reached = [
            self.calls
                .filter(|limit| spending.calls >= *limit)
                .map(|limit| format!("calls is {limit}")),
            self.tokens
                .filter(|limit| spending.usage.total_tokens() >= *limit)
                .map(|limit| format!("tokens is {limit}")),
            // Not `>=`: a limit that is no number allows nothing.
            self.money
                .filter(|limit| {
                    !matches!(
                        spending.money.partial_cmp(limit),
                        Some(std::cmp::Ordering::Less)
                    )
                })
                .map(|limit| format!("money is {limit}")),
        ];

        if let Some(limit) = reached.into_iter().flatten().next() {
            let message = format!("the limit on {limit}, and is reached ({spending})");
            return Err(LlmError::new(LlmErrorKind::Budget, message));
        }

        spending.calls += 1;
        Ok(Account {
            prices: self.prices.clone(),
            spending: self.spending.clone(),
            prompt: guess::of_request(request),
            written: 0,
            is_settled: false,
        })
    }
}

/// A panic elsewhere cannot leave a sum half made, so a poisoned lock is still good.
fn locked(spending: &Mutex<Spending>) -> MutexGuard<'_, Spending> {
    spending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The account of one call. Dropped before it is settled, as when the call is given up, it is
/// settled by guessing.
struct Account {
    prices: Arc<Prices>,
    spending: Arc<Mutex<Spending>>,
    /// Tokens of the conversation, guessed.
    prompt: u64,
    /// Bytes of the reply so far.
    written: usize,
    is_settled: bool,
}

impl Account {
    fn see(&mut self, delta: &Result<Delta, LlmError>) {
        match delta {
            Ok(Delta::End(response)) => self.settle(response),
            Ok(more) => self.written = self.written.saturating_add(more.bytes()),
            Err(error) => self.fail(error),
        }
    }

    fn settle(&mut self, response: &ChatResponse) {
        let guessed = || Usage::new(self.prompt, guess::of_bytes(response.bytes()));
        self.charge(response.model(), response.usage().unwrap_or_else(guessed));
    }

    fn fail(&mut self, error: &LlmError) {
        let bytes = error.text_so_far().map_or(0, str::len).max(self.written);
        let has_begun = bytes > 0;
        let prompt = if has_begun { self.prompt } else { 0 };
        self.charge(None, Usage::new(prompt, guess::of_bytes(bytes)));
    }

    fn charge(&mut self, model: Option<&str>, usage: Usage) {
        let mut spending = locked(&self.spending);
        spending.usage += usage;
        spending.money += self.prices.cost(model, usage);
        self.is_settled = true;
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if !self.is_settled {
            self.charge(None, Usage::new(self.prompt, guess::of_bytes(self.written)));
        }
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Budget<C> {
    /// # Errors
    ///
    /// Of kind [`Budget`](LlmErrorKind::Budget), naming the limit that is reached and all that is
    /// spent; and those of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let mut account = self.begin(&request)?;
        let outcome = self.client.complete(request).await;
        match &outcome {
            Ok(response) => account.settle(response),
            Err(error) => account.fail(error),
        }

        outcome
    }

    /// # Errors
    ///
    /// As of `complete`; later ones come through the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let mut account = self.begin(&request)?;
        let reply = self
            .client
            .stream(request)
            .await
            .inspect_err(|error| account.fail(error))?;

        Ok(reply.inspect(move |delta| account.see(delta)))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
