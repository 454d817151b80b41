//! Arguments that choose or begin a session.

use cogwork_strategies::{Strategies, Strategy};
use cogwork_text::NameList;
use serde_json::Value;

use super::draft::NAME;
use crate::arguments::{ArgumentError, Arguments};

/// The maximum number of bytes of a purpose.
pub(crate) const PURPOSE: usize = 4_096;

/// Reads the name of a strategy.
pub(crate) fn strategy(
    arguments: &mut Arguments,
    strategies: &Strategies,
) -> Result<Option<Strategy>, ArgumentError> {
    let Some(name) = arguments.text("strategy", NAME)? else {
        return Ok(None);
    };

    let found = strategies.get(&name).cloned();
    found
        .map(Some)
        .map_err(|_| arguments.fault("strategy", known(strategies), &Value::String(name)))
}

/// Reads the name of a strategy, which must be there.
pub(crate) fn required_strategy(
    arguments: &mut Arguments,
    strategies: &Strategies,
) -> Result<Strategy, ArgumentError> {
    let found = strategy(arguments, strategies)?;
    found.ok_or_else(|| arguments.missing("strategy", known(strategies)))
}

/// Lists the names of all strategies.
fn known(strategies: &Strategies) -> String {
    let known = strategies.iter().flat_map(Strategy::names);
    let known: Vec<&str> = known.collect();
    NameList::or(&known).to_string()
}
