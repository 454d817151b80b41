//! The environment of a child process.

/// The variables that a child process inherits: what programs need in order to be found, to find
/// their files, and to write in the user's language.
#[cfg(not(windows))]
pub(super) const INHERITED: [&str; 11] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];

/// The variables that a child process inherits: what programs need in order to be found, and to
/// find their files.
#[cfg(windows)]
pub(super) const INHERITED: [&str; 14] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];
