//! Arguments that choose or begin a session.

use cogwork_strategies::{Strategies, Strategy};
use cogwork_text::NameList;
use serde_json::Value;

use super::draft::NAME;
use crate::arguments::{ArgumentError, Arguments};
use crate::store::SessionId;

/// The maximum number of bytes of a purpose.
pub(crate) const PURPOSE: usize = 4_096;

/// Reads the id of a session.
pub(crate) fn id(arguments: &mut Arguments) -> Result<Option<SessionId>, ArgumentError> {
    let Some(text) = arguments.text("sessionId", NAME)? else {
        return Ok(None);
    };

    let id = SessionId::named(&text).ok_or_else(|| {
        let most = SessionId::MAX_CHARS;
        let expected = format_args!("1 to {most} ASCII letters, digits, `-`, `_`, `.` or `:`");
        arguments.fault("sessionId", expected, &Value::String(text))
    });
    id.map(Some)
}

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
