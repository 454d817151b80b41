//! The folder for sessions.

use std::env;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The variable that names the folder.
const VARIABLE: &str = "COGWORK_DATA";

/// Returns the folder from the command line, from the environment, or else the usual one.
pub(crate) fn folder(argument: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(folder) = argument {
        return Ok(folder.to_owned());
    }

    let folder = env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    if let Some(folder) = folder {
        return Ok(folder.into());
    }

    // The folder that the platform has for this, rather than the one of XDG on every platform.
    match etcetera::base_strategy::choose_native_strategy() {
        Ok(strategy) => Ok(strategy.data_dir().join("cogwork")),
        Err(error) => Err(format!(
            "there is no folder for sessions: {error}; expected --data DIR, --memory, or the variable {VARIABLE}"
        )),
    }
}
