use cogwork_llm::ChatRequest;

/// What is left of the limits of a run on tokens and bytes.
///
/// [`fit`](Self::fit) fits a request into it. With a server that follows `max_tokens` and counts
/// tokens as [estimated](ChatRequest::estimated_tokens), a call then spends at most what is left.
/// Otherwise, it spends more than that once, since nothing is left for the next call.
///
/// ```
/// use cogwork_typed::ask::{Allowance, Exceeded};
/// use cogwork_llm::{ChatRequest, Message};
///
/// let request = ChatRequest::new([Message::user("a".repeat(400))]);
///
/// let left = Allowance::new(500, u64::MAX);
/// assert_eq!(left.fit(request.clone()).unwrap().max_tokens(), Some(400));
/// assert_eq!(left.fit(request.clone().with_max_tokens(200)).unwrap().max_tokens(), Some(200));
///
/// let left = Allowance::new(120, u64::MAX);
/// assert_eq!(left.fit(request), Err(Exceeded::Tokens));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowance {
    /// The number of tokens, read and written.
    pub tokens: u64,
    /// The number of bytes of all texts, read and written.
    pub bytes: u64,
}

impl Allowance {
    /// The maximum number of tokens of a reply to a request without `max_tokens`. Such a request is
    /// sent unchanged as long as more than this is left, since servers refuse values that exceed
    /// what their model can write.
    pub const ASSUMED_REPLY_TOKENS: u32 = 8192;

    /// The minimum number of tokens that must be left for a reply. No useful reply fits into fewer.
    pub const LEAST_REPLY_TOKENS: u64 = 64;

    /// Creates an allowance.
    pub fn new(tokens: u64, bytes: u64) -> Self {
        Self { tokens, bytes }
    }

    /// Returns the number of tokens that are left for the reply to `request`.
    ///
    /// A token is at most four bytes on average, so the bytes limit the tokens, too.
    ///
    /// # Errors
    ///
    /// Returns what is exceeded if fewer than [`LEAST_REPLY_TOKENS`](Self::LEAST_REPLY_TOKENS) are
    /// left.
    pub fn reply_tokens(self, request: &ChatRequest) -> Result<u64, Exceeded> {
        let tokens = self.tokens.saturating_sub(request.estimated_tokens());
        let bytes = self.bytes.saturating_sub(bytes_of(request));
        let by_bytes = bytes / BYTES_PER_TOKEN;

        if tokens < Self::LEAST_REPLY_TOKENS {
            return Err(Exceeded::Tokens);
        }
        if by_bytes < Self::LEAST_REPLY_TOKENS {
            return Err(Exceeded::Bytes);
        }

        Ok(tokens.min(by_bytes))
    }

    /// Limits `max_tokens` of a request to the tokens that are left for the reply. A lower setting
    /// of the request stays.
    ///
    /// # Errors
    ///
    /// Returns what is exceeded if the request alone exceeds it, or leaves fewer than
    /// [`LEAST_REPLY_TOKENS`](Self::LEAST_REPLY_TOKENS) for the reply.
    pub fn fit(self, request: ChatRequest) -> Result<ChatRequest, Exceeded> {
        let left = self.reply_tokens(&request)?;
        let most = request.max_tokens().unwrap_or(Self::ASSUMED_REPLY_TOKENS);

        match u32::try_from(left) {
            Ok(left) if left < most => Ok(request.with_max_tokens(left)),
            _ => Ok(request),
        }
    }

    /// Returns what `request` may take if one more request is to follow that repeats its
    /// conversation and the reply, and asks the model to conclude.
    ///
    /// `reserve` is the number of tokens that are kept for the reply to that last request.
    ///
    /// # Errors
    ///
    /// Returns what is exceeded if the reply to `request` could take fewer tokens than `reserve`. It
    /// is then time for the last request.
    pub fn before_last(self, request: &ChatRequest, reserve: u64) -> Result<Self, Exceeded> {
        let share = |left: u64, read: u64, reserve: u64| {
            let kept = read.saturating_mul(2).saturating_add(reserve);
            let share = left.saturating_sub(kept) / 2;
            (share >= reserve).then(|| read.saturating_add(share))
        };

        let tokens = share(self.tokens, request.estimated_tokens(), reserve);
        let kept_bytes = reserve.saturating_mul(BYTES_PER_TOKEN);
        let bytes = share(self.bytes, bytes_of(request), kept_bytes);

        Ok(Self {
            tokens: tokens.ok_or(Exceeded::Tokens)?,
            bytes: bytes.ok_or(Exceeded::Bytes)?,
        })
    }
}

/// The number of bytes per token in an estimate.
const BYTES_PER_TOKEN: u64 = 4;

fn bytes_of(request: &ChatRequest) -> u64 {
    u64::try_from(request.bytes()).unwrap_or(u64::MAX)
}

/// What a request exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// The tokens that are left.
    Tokens,
    /// The bytes that are left.
    Bytes,
}
