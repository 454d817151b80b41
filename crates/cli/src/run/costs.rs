//! What a run costs.

use cogwork_flow::watch::{Event, EventKind};
use cogwork_llm::Usage;
use cogwork_llm::layers::Prices;
use cogwork_typed::ask::ChatEvent;
use serde_json::{Value, json};

/// The calls of a run since it was started or resumed.
pub(super) struct Costs {
    calls: u64,
    usage: Usage,
    /// `None` if no model is in the table of prices.
    money: Option<f64>,
    prices: Prices,
}

impl Costs {
    pub(super) fn new() -> Self {
        Self {
            calls: 0,
            usage: Usage::default(),
            money: None,
            prices: Prices::common(),
        }
    }

    pub(super) fn add(&mut self, event: &Event) {
        let EventKind::Reported { report } = &event.kind else {
            return;
        };
        let Some(ChatEvent::Replied { response, .. }) = report.downcast_ref() else {
            return;
        };

        // Calls of a server that counts no tokens count, too.
        self.calls += 1;
        let Some(usage) = response.usage() else {
            return;
        };
        self.usage += usage;
        if let Some(cost) = self.prices.known_cost(response.model(), usage) {
            self.money = Some(self.money.unwrap_or_default() + cost);
        }
    }

    /// Returns what the run cost in one line, if the server counted tokens.
    pub(super) fn line(&self) -> Option<String> {
        let tokens = self.usage.total_tokens();
        if tokens == 0 {
            return None;
        }

        let calls = self.calls;
        let money = self.money.map_or_else(String::new, |money| {
            let source = self.prices.source().unwrap_or_default();
            format!(", {money:.4} ({source})")
        });
        Some(format!("calls: {calls}, tokens: {tokens}{money}"))
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "calls": self.calls,
            "input_tokens": self.usage.prompt_tokens,
            "output_tokens": self.usage.completion_tokens,
            "money": self.money,
            "prices": self.money.and(self.prices.source()),
        })
    }
}
