use std::collections::HashMap;

use crate::RecordedUsage;

/// What the tokens of models cost, for the [recorder](crate::Recorder). There are no built-in
/// prices, because they change.
///
/// ```
/// use cogwork_trace::{Price, Prices};
///
/// let prices = Prices::new()
///     .with_model("small-1", Price::new(0.25, 2.0).with_cached(0.025))
///     .with_model("small-1-*", Price::new(0.25, 2.0).with_cached(0.025))
///     .with_other_models(Price::new(1.0, 4.0));
/// assert!(prices.of("small-1-2026-11").is_some());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    exact: HashMap<String, Price>,
    /// Beginnings of names, longest first.
    beginnings: Vec<(String, Price)>,
    others: Option<Price>,
}

/// What a million tokens of a model cost, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
    /// A million tokens that the server reads from its cache. `None` if they cost as much as
    /// others.
    pub cached: Option<f64>,
}

impl Price {
    /// Creates the price of a million tokens read, and of a million tokens written.
    pub fn new(input: f64, output: f64) -> Self {
        Self {
            input,
            output,
            cached: None,
        }
    }

    /// Sets the price of a million tokens that the server reads from its cache. The default is the
    /// price of other tokens that are read.
    #[must_use]
    pub fn with_cached(mut self, price: f64) -> Self {
        self.cached = Some(price);
        self
    }

    /// Returns the cost of a call.
    pub fn cost(&self, usage: &RecordedUsage) -> f64 {
        let cached = usage.cache_read.min(usage.input);
        let fresh = usage.input - cached;

        let input = fresh as f64 * self.input;
        let cached = cached as f64 * self.cached.unwrap_or(self.input);
        let output = usage.output as f64 * self.output;

        (input + cached + output) / 1e6
    }
}

impl Prices {
    /// Creates a table without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the price of a model, as the server names it. A name that ends with `*` is for all
    /// models whose names begin like that; the longest beginning applies, and exact names apply
    /// first.
    #[must_use]
    pub fn with_model(mut self, name: impl Into<String>, price: Price) -> Self {
        let name = name.into();

        match name.strip_suffix('*') {
            Some(beginning) => {
                self.beginnings.push((beginning.to_owned(), price));
                let longest_first = |(name, _): &(String, Price)| std::cmp::Reverse(name.len());
                self.beginnings.sort_by_key(longest_first);
            }
            None => drop(self.exact.insert(name, price)),
        }

        self
    }

    /// Sets the price of all other models, also of those whose name the server doesn't report. None
    /// by default.
    #[must_use]
    pub fn with_other_models(mut self, price: Price) -> Self {
        self.others = Some(price);
        self
    }

    /// Returns the price of a model.
    pub fn of(&self, model: &str) -> Option<Price> {
        let exact = self.exact.get(model);
        let beginning = || {
            let mut longest_first = self.beginnings.iter();
            let found = longest_first.find(|(name, _)| model.starts_with(name.as_str()));
            found.map(|(_, price)| price)
        };

        exact.or_else(beginning).copied().or(self.others)
    }
}
