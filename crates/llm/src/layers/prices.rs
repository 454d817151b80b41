use std::collections::BTreeMap;

use crate::Usage;

/// The price of a model's tokens, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    prompt: f64,
    cached: f64,
    written: f64,
    completion: f64,
}

impl Price {
    /// Creates a price per million tokens read and per million tokens written. A negative price or
    /// NaN counts as infinite, so that a configuration mistake stops the spending instead of hiding
    /// it.
    pub fn per_million(prompt: f64, completion: f64) -> Self {
        Self {
            prompt: sound(prompt),
            cached: sound(prompt),
            written: sound(prompt),
            completion: sound(completion),
        }
    }

    /// Sets the price per million tokens that the server read from its cache. The default is the
    /// price of other tokens read.
    #[must_use]
    pub fn with_cached(mut self, price: f64) -> Self {
        self.cached = sound(price);
        self
    }

    /// Sets the price per million tokens that the server wrote to its cache. The default is the price
    /// of other tokens read.
    #[must_use]
    pub fn with_written(mut self, price: f64) -> Self {
        self.written = sound(price);
        self
    }

    fn of(self, usage: Usage) -> f64 {
        // A server may report more cached tokens than tokens, and the subtractions below must not
        // overflow.
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let written = usage.cache_written_tokens.min(usage.prompt_tokens - cached);
        let part = |tokens: u64, price: f64| {
            // An infinite price times zero is NaN, which no limit allows.
            if tokens == 0 {
                0.0
            } else {
                tokens as f64 * price / 1e6
            }
        };

        part(usage.prompt_tokens - cached - written, self.prompt)
            + part(cached, self.cached)
            + part(written, self.written)
            + part(usage.completion_tokens, self.completion)
    }
}

fn sound(price: f64) -> f64 {
    if price >= 0.0 { price } else { f64::INFINITY }
}

/// The list prices of Anthropic and OpenAI as reported in September and October 2026, in US dollars
/// per million tokens: read, written, read from the cache, and written to it for five minutes. Of
/// models whose price depends on the length of the prompt, it is that of short prompts. The prices of
/// the cache of GPT-6 Astra, and of writing to that of GPT-6.1 Sol, follow OpenAI's general factors.
const COMMON: [(&str, f64, f64, f64, f64); 10] = [
    ("claude-haiku-4-5", 1.0, 5.0, 0.1, 1.25),
    ("claude-haiku-5-5", 0.1, 0.5, 0.01, 0.125),
    ("claude-opus-5", 5.0, 25.0, 0.5, 6.25),
    ("claude-opus-5-5", 4.0, 20.0, 0.2, 5.0),
    ("claude-sonnet-5", 2.0, 10.0, 0.2, 2.5),
    ("claude-sonnet-5-5", 2.0, 10.0, 0.1, 2.5),
    ("gpt-6-astra", 10.0, 50.0, 1.0, 12.5),
    ("gpt-6-luna", 0.1, 0.5, 0.01, 0.125),
    ("gpt-6-sol", 2.0, 10.0, 0.2, 2.5),
    ("gpt-6.1-sol", 2.0, 10.0, 0.1, 2.5),
];

/// A table of prices.
///
/// A model is looked up by the name in the response. A name in the table also matches as a prefix,
/// because servers append a date (`gpt-4.1-mini-2025-04-14`); the longest match is used. A model that is
/// unnamed or not in the table costs as much as the dearest one.
///
/// ```
/// use cogwork_llm::Usage;
/// use cogwork_llm::layers::{Price, Prices};
///
/// let prices = Prices::new()
///     .with_model("big", Price::per_million(2.0, 8.0).with_cached(0.5))
///     .with_model("big-mini", Price::per_million(0.4, 1.6));
/// let usage = Usage::new(1_000_000, 100_000);
/// assert_eq!(prices.cost(Some("big-mini-2025-04-14"), usage), 0.56);
/// let cached = Usage { cached_tokens: 1_000_000, ..usage };
/// assert_eq!(prices.cost(Some("big"), cached), 1.3);
/// assert_eq!(prices.cost(None, usage), 2.8);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
    source: Option<String>,
}

impl Prices {
    /// Creates an empty table, with which everything is free.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the list prices of common models of Anthropic and OpenAI in US dollars, as reported in
    /// September and October 2026, for short prompts and a cache of five minutes. Prices change: add
    /// others, or replace these, with [`with_model`](Self::with_model).
    pub fn common() -> Self {
        let add = |prices: Self, (name, prompt, completion, cached, written)| {
            let price = Price::per_million(prompt, completion);
            prices.with_model(name, price.with_cached(cached).with_written(written))
        };

        let prices = COMMON.into_iter().fold(Self::new(), add);
        prices.with_source("list prices in US dollars, October 2026")
    }

    /// Sets where the prices are from: the currency and the date, as people are shown them. None by
    /// default.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns where the prices are from.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Sets the price of this model, and of all models whose names begin with `name`.
    #[must_use]
    pub fn with_model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// Returns the cost of these tokens of this model.
    pub fn cost(&self, model: Option<&str>, usage: Usage) -> f64 {
        match self.find(model) {
            Some(price) => price.of(usage),
            // A model without a price must not be free, or a limit on the cost would never be reached.
            None => self
                .models
                .values()
                .map(|price| price.of(usage))
                .fold(0.0, f64::max),
        }
    }

    /// Returns the cost of these tokens of this model if it is in the table. Rounded, so that no
    /// errors of adding are shown, such as in `0.0008400000000000001`.
    pub fn known_cost(&self, model: Option<&str>, usage: Usage) -> Option<f64> {
        let cost = self.find(model)?.of(usage);
        Some((cost * 1e12).round() / 1e12)
    }

    fn find(&self, model: Option<&str>) -> Option<Price> {
        let model = model?;
        // In lexical order, a longer name comes after its prefix.
        let mut names = self.models.iter().rev();
        let found = names.find(|(name, _)| model.starts_with(name.as_str()));
        found.map(|(_, price)| *price)
    }
}
