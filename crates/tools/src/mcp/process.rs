//! The child process of a server.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use cogwork_text::Escaped;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// The variables that a child process inherits, on Unix and on Windows: what programs need in order
/// to be found, to find their files, and to write in the user's language. None of them is a secret.
const INHERITED: [&str; 2] = [
    "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER",
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE \
     SYSTEMROOT TEMP TMP USERNAME USERPROFILE",
];

/// How long a process may take to end.
const ENDING: Duration = Duration::from_secs(3);

/// A process and its children, which are killed when this is dropped. A child that left the group, as
/// with `setsid`, isn't found.
pub(super) struct Process {
    child: Child,
    /// The id of the group, which is that of the process.
    group: Option<u32>,
}

/// Starts a process. Returns it with its standard output and input.
pub(super) fn start(line: &Command) -> Result<(Process, ChildStdout, ChildStdin), String> {
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
    // The people who see the errors of the program also see why a server fails.
    command.stdin(Stdio::piped()).stdout(Stdio::piped());

    let mut child = command.spawn().map_err(|error| {
        let program = Escaped::new(Path::new(line.get_program()).display());
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "; expected a program in PATH or a path to one",
            _ => "",
        };
        format!("can't be started with `{program}`: {error}{hint}")
    })?;

    let pipes = child.stdout.take().zip(child.stdin.take());
    let (output, input) = pipes.ok_or("has no standard input and output")?;
    let group = child.id();
    Ok((Process { child, group }, output, input))
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

impl Process {
    /// Waits a little until the process has ended, and returns how it did.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        timeout(ENDING, self.child.wait()).await.ok()?.ok()
    }

    /// Tells the process to end, unless it does so by itself once its standard input is closed.
    pub(super) async fn end(mut self) {
        if self.ended().await.is_none() {
            #[cfg(unix)]
            self.signal(Signal::TERM);
            self.ended().await;
        }
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        let id = self.group.and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            // It fails if the whole group has ended, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
