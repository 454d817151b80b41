//! The child process of a server.

use std::io;
use std::path::Path;
use std::process::Command;

use cogwork_text::Escaped;
use rmcp::transport::TokioChildProcess;

/// The variables that a child process inherits, on Unix and on Windows: what programs need in order
/// to be found, to find their files, and to write in the user's language. None of them is a secret.
const INHERITED: [&str; 2] = [
    "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER",
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE \
     SYSTEMROOT TEMP TMP USERNAME USERPROFILE",
];

/// Starts a process.
pub(super) fn start(line: &Command) -> Result<(TokioChildProcess, Group), String> {
    let mut command = copy(line);
    // The keys of the program are in its environment.
    command.env_clear();
    for name in INHERITED.join(" ").split(' ') {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // After the inherited ones, so that the command can replace them.
    set_variables(&mut command, line);

    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true);
    // A group of its own, so that its children can be killed with it.
    #[cfg(unix)]
    command.process_group(0);
    // With the standard error of the program, so that people see why a server fails.
    let process = TokioChildProcess::new(command).map_err(|error| {
        let program = Escaped::new(Path::new(line.get_program()).display());
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "; expected a program in PATH or a path to one",
            _ => "",
        };
        format!("can't be started with `{program}`: {error}{hint}")
    })?;

    let group = Group(process.id());
    Ok((process, group))
}

/// Returns the same command, because each process needs one of its own.
pub(super) fn copy(line: &Command) -> Command {
    let mut command = Command::new(line.get_program());
    command.args(line.get_args());
    set_variables(&mut command, line);
    if let Some(folder) = line.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// Sets and removes the variables that are set and removed for `line`.
fn set_variables(command: &mut Command, line: &Command) {
    for (name, value) in line.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// A process and its children, which are killed when this is dropped. rmcp ends only the process
/// itself. A child that left the group, as with `setsid`, isn't found.
pub(super) struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0.and_then(|id| i32::try_from(id).ok())
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            // It fails if the whole group has ended, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
