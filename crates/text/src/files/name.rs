use std::ffi::OsStr;
use std::path::{Component, Path};

use super::Error;

/// Returns `name` as a path of one component.
pub(crate) fn checked(name: &OsStr) -> Result<&Path, Error> {
    let mut components = Path::new(name).components();

    match (components.next(), components.next()) {
        // A trailing separator isn't a component, so the text is compared too.
        (Some(Component::Normal(only)), None) if only == name => Ok(Path::new(name)),
        _ => Err(Error::NotAName),
    }
}

/// Checks that a path is relative and only descends.
pub(crate) fn check_relative(path: &Path) -> Result<(), Error> {
    let goes_down = |part| matches!(part, Component::Normal(_) | Component::CurDir);

    if path.components().all(goes_down) {
        return Ok(());
    }

    Err(Error::LeadsOut)
}
