use std::fmt;
use std::sync::{Arc, Mutex};

use super::Prices;
use super::reply::{client_from_reply, watched};
use crate::locked::locked;
use crate::{
    ChatRequest, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream, Usage, token_estimate,
};

/// A client that limits the calls, the tokens or the cost of another one. A call over a limit fails
/// with an error of kind [`Budget`](LlmErrorKind::Budget), which names the limit and the spending.
///
/// A call that has begun is never cancelled, so the spending may exceed a limit by the amount that
/// the calls in flight spend. Every call that begins is counted. The tokens and the cost are taken
/// from the response. If it doesn't report them, or a stream is dropped or interrupted, they are
/// estimated as one token per four bytes; a call that fails before its reply costs no tokens.
///
/// Clones share the budget. Put it inside a [`Retry`](crate::layers::Retry), so that every attempt counts,
/// and inside a [`Cache`](crate::layers::Cache), so that cached replies don't.
///
/// ```
/// use cogwork_llm::layers::Budget;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let client = Budget::new(ScriptedClient::new(["Hi.", "Bye."])).with_calls(1);
/// client.complete(ChatRequest::default()).await?;
/// let error = client.complete(ChatRequest::default()).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Budget);
/// assert_eq!(error.to_string(), "budget: the limit on calls is 1 and has been reached (calls: 1, tokens: 1, money: 0)");
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

/// The spending of calls so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Spending {
    /// The number of calls begun.
    pub calls: u64,
    /// The tokens, reported or estimated.
    pub usage: Usage,
    /// The cost of the tokens by the price table. 0 without one.
    pub money: f64,
}

impl fmt::Display for Spending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hides the rounding errors of floating-point sums.
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
    /// Wraps `client` without limits.
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

    /// Sets the maximum number of calls. Unlimited by default.
    #[must_use]
    pub fn with_calls(mut self, calls: u64) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Sets the maximum number of tokens, read and written. Unlimited by default.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the maximum cost, by `prices` and in their currency. Unlimited by default.
    #[must_use]
    pub fn with_money(mut self, amount: f64, prices: Prices) -> Self {
        self.money = Some(amount);
        self.prices = Arc::new(prices);
        self
    }

    /// Returns the spending so far.
    pub fn spending(&self) -> Spending {
        *locked(&self.spending)
    }

    /// Returns the limit that has been reached, if one has.
    fn reached(&self, spending: &Spending) -> Option<String> {
        let reached = |name: &str, limit: Option<u64>, spent: u64| {
            let limit = limit.filter(|limit| spent >= *limit)?;
            Some(format!("{name} is {limit}"))
        };

        // Not `>=`: a limit of NaN allows nothing.
        let is_left = |limit: f64| spending.money < limit;
        let money = self.money.filter(|limit| !is_left(*limit));

        reached("calls", self.calls, spending.calls)
            .or_else(|| reached("tokens", self.tokens, spending.usage.total_tokens()))
            .or_else(|| Some(format!("money is {}", money?)))
    }

    /// Begins a call, if the budget allows it.
    fn begin(&self, request: &ChatRequest) -> Result<Account, LlmError> {
        let mut spending = locked(&self.spending);
        if let Some(limit) = self.reached(&spending) {
            let message = format!("the limit on {limit} and has been reached ({spending})");
            return Err(LlmError::new(LlmErrorKind::Budget, message));
        }

        // Counted before it is made, or calls at the same time would all pass the limit.
        spending.calls += 1;
        Ok(Account {
            prices: self.prices.clone(),
            spending: self.spending.clone(),
            prompt: request.estimated_tokens(),
            written: 0,
            model: None,
            usage: None,
        })
    }
}

impl<C: LlmClient> Budget<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let mut account = self.begin(&request)?;
        watched(&self.client, request, streamed, move |delta| {
            account.see(delta)
        })
        .await
    }
}

/// The account of one call, which is charged when it is dropped: at the end of the reply, or because the
/// call was cancelled.
struct Account {
    prices: Arc<Prices>,
    spending: Arc<Mutex<Spending>>,
    /// The estimated tokens of the conversation.
    prompt: u64,
    /// The bytes of the reply so far.
    written: usize,
    model: Option<String>,
    /// The tokens, if they needn't be estimated.
    usage: Option<Usage>,
}

impl Account {
    fn see(&mut self, delta: Result<&Delta, &LlmError>) {
        match delta {
            Ok(Delta::End(response)) => {
                self.model = response.model().map(str::to_owned);
                self.usage = response.usage();
                // The end repeats all pieces, so it replaces their sum.
                self.written = response.bytes();
            }
            Ok(more) => self.written = self.written.saturating_add(more.bytes()),
            Err(error) => {
                let so_far = error.text_so_far().map_or(0, str::len);
                self.written = self.written.max(so_far);
                // Servers charge nothing for a call that they refuse before its first word.
                self.usage = (self.written == 0).then(Usage::default);
            }
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let estimated = || Usage::new(self.prompt, token_estimate::tokens(self.written));
        let usage = self.usage.unwrap_or_else(estimated);

        let mut spending = locked(&self.spending);
        spending.usage += usage;
        // Only the response says which model answered: the requested name may be an alias.
        spending.money += self.prices.cost(self.model.as_deref(), usage);
    }
}

client_from_reply!(Budget);
