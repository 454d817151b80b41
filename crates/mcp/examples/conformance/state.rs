//! States that clients send back, which they must not change.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use rmcp::ErrorData;

/// Signs states with a key of this process.
#[derive(Default)]
pub(crate) struct States(RandomState);

impl States {
    pub(crate) fn seal(&self, state: &str) -> String {
        format!("{state}.{:016x}", self.0.hash_one(state))
    }

    /// Returns the state.
    ///
    /// # Errors
    ///
    /// Returns an error if the state isn't one that was sealed here.
    pub(crate) fn open<'a>(&self, sealed: &'a str) -> Result<&'a str, ErrorData> {
        let state = sealed.rsplit_once('.').map(|(state, _)| state);
        let state = state.filter(|state| self.seal(state) == sealed);
        state.ok_or_else(|| ErrorData::invalid_params("the state was changed", None))
    }
}
