use std::collections::BTreeMap;

use crate::Usage;

/// What tokens of one model cost, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    prompt: f64,
    cached: f64,
    completion: f64,
}

impl Price {
    /// The price of a million tokens read and of a million tokens written. A price that is negative
    /// or no number counts as infinite, so that a slip in a configuration stops the spending and does
    /// not hide it.
    pub fn per_million(prompt: f64, completion: f64) -> Self {
        Self {
            prompt: sound(prompt),
            cached: sound(prompt),
            completion: sound(completion),
        }
    }

    /// The price of a million tokens read that the server had in its cache. Unset: as of the others.
    #[must_use]
    pub fn with_cached(mut self, price: f64) -> Self {
        self.cached = sound(price);
        self
    }

    fn dearer(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.max(other.prompt),
            cached: self.cached.max(other.cached),
            completion: self.completion.max(other.completion),
        }
    }

    fn of(self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let part = |tokens: u64, price: f64| {
            if tokens == 0 {
                0.0
            } else {
                tokens as f64 * price / 1e6
            }
        };

        part(usage.prompt_tokens - cached, self.prompt)
            + part(cached, self.cached)
            + part(usage.completion_tokens, self.completion)
    }
}

fn sound(price: f64) -> f64 {
    if price >= 0.0 { price } else { f64::INFINITY }
}

/// What models cost.
///
/// A model is found by the name in the response, whole or by its beginning, as servers add a date
/// to the name (`gpt-4.1-mini-2025-04-14`); the longest name in the table that fits is the one. A
/// model that is not in the table, or has no name, counts at the dearest prices in it.
///
/// ```
/// use cogwork_llm::{Price, Prices, Usage};
///
/// let prices = Prices::new()
///     .with_model("big", Price::per_million(2.0, 8.0).with_cached(0.5))
///     .with_model("big-mini", Price::per_million(0.4, 1.6));
/// let usage = Usage::new(1_000_000, 100_000);
/// assert_eq!(prices.cost(Some("big-mini-2025-04-14"), usage), 0.56);
/// assert_eq!(prices.cost(Some("big"), usage.with_cached_tokens(1_000_000)), 1.3);
/// assert_eq!(prices.cost(None, usage), 2.8);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// A table without models, by which everything is free.
    pub fn new() -> Self {
        Self::default()
    }

    /// The price of this model, and of all whose names begin like it.
    #[must_use]
    pub fn with_model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// What these tokens of this model cost.
    pub fn cost(&self, model: Option<&str>, usage: Usage) -> f64 {
        let fits = |name: &&String| model.is_some_and(|model| model.starts_with(name.as_str()));

        // In order of names, a longer one comes after its own beginning.
        let known = self
            .models
            .keys()
            .rfind(fits)
            .and_then(|name| self.models.get(name));

        let price = known
            .copied()
            .or_else(|| self.models.values().copied().reduce(Price::dearer));
        price.map_or(0.0, |price| price.of(usage))
    }
}
