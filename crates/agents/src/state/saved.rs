//! The serialised form of a state. Its totals include failed visits, so that they can be read
//! without adding anything up.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cogwork_cot::Reasoning;
use cogwork_llm::Usage;
use cogwork_strategies::Solving;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Failures, FlowState, Output, Visits};

// A person may have edited it, and a misspelt key would be lost.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<'s> {
    input: Cow<'s, Output>,
    #[serde(default)]
    outputs: Cow<'s, BTreeMap<String, Output>>,
    #[serde(default)]
    last: Cow<'s, Option<String>>,
    #[serde(default)]
    calls: u32,
    #[serde(default)]
    usage: Usage,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reasonings: Cow<'s, BTreeMap<String, Reasoning>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    solvings: Cow<'s, BTreeMap<String, Solving>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    inside: Cow<'s, BTreeMap<String, FlowState>>,
    #[serde(default, skip_serializing_if = "Visits::is_empty")]
    visits: Cow<'s, Visits>,
    #[serde(default, skip_serializing_if = "is_zero")]
    dropped_visits: u64,
    #[serde(default, skip_serializing_if = "Failures::is_empty")]
    failures: Cow<'s, Failures>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refusals: Cow<'s, BTreeMap<String, String>>,
}

impl Serialize for FlowState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = Saved {
            input: Cow::Borrowed(&self.input),
            outputs: Cow::Borrowed(&self.outputs),
            last: Cow::Borrowed(&self.last),
            calls: self.calls(),
            usage: self.usage(),
            reasonings: Cow::Borrowed(&self.reasonings),
            solvings: Cow::Borrowed(&self.solvings),
            inside: Cow::Borrowed(&self.inside),
            visits: Cow::Borrowed(&self.visits),
            dropped_visits: self.visits.dropped(),
            failures: Cow::Borrowed(&self.failures),
            refusals: Cow::Borrowed(&self.refusals),
        };

        saved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FlowState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        let failed = saved.failures.spent();

        Ok(Self {
            input: saved.input.into_owned(),
            outputs: saved.outputs.into_owned(),
            last: saved.last.into_owned(),
            calls: saved.calls.saturating_sub(failed.calls),
            usage: without(saved.usage, failed.usage),
            reasonings: saved.reasonings.into_owned(),
            solvings: saved.solvings.into_owned(),
            inside: saved.inside.into_owned(),
            visits: saved.visits.into_owned().with_dropped(saved.dropped_visits),
            failures: saved.failures.into_owned(),
            refusals: saved.refusals.into_owned(),
        })
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn without(mut total: Usage, part: Usage) -> Usage {
    total.prompt_tokens = total.prompt_tokens.saturating_sub(part.prompt_tokens);
    total.completion_tokens = total
        .completion_tokens
        .saturating_sub(part.completion_tokens);
    total.cached_tokens = total.cached_tokens.saturating_sub(part.cached_tokens);
    total
}
