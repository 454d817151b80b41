//! The input of a run.

use std::io::{self, Read};

use cogwork_agents::Template;

/// The maximum number of bytes that are read from standard input. A longer input could not fill a
/// slot.
const MAX_INPUT: usize = Template::MAX_FILLED;

pub(super) fn read(argument: &str) -> Result<String, String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }

    let mut input = String::new();
    let most = u64::try_from(MAX_INPUT).unwrap_or(u64::MAX);
    let read = io::stdin()
        .lock()
        .take(most.saturating_add(1))
        .read_to_string(&mut input);
    read.map_err(|error| format!("the input could not be read: {error}"))?;

    if input.len() <= MAX_INPUT {
        Ok(input)
    } else {
        Err(format!(
            "the input is longer than {MAX_INPUT} bytes; expected less"
        ))
    }
}
