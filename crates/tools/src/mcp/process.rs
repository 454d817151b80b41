//! The child process of a server.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cogwork_text::Escaped;
use rmcp::transport::TokioChildProcess;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// The variables that a child process inherits, on Unix and on Windows: what programs need in order
/// to be found, to find their files, and to write in the user's language. None of them is a secret.
const INHERITED: [&str; 2] = [
    "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER",
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE \
     SYSTEMROOT TEMP TMP USERNAME USERPROFILE",
];

/// Starts a process, and reads its standard error.
pub(super) fn start(line: &Command) -> Result<(TokioChildProcess, Group, Stderr), String> {
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

    let process = TokioChildProcess::builder(command).stderr(Stdio::piped());
    let (process, pipe) = process.spawn().map_err(|error| {
        let program = Escaped::new(Path::new(line.get_program()).display());
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "; expected a program in PATH or a path to one",
            _ => "",
        };
        format!("can't be started with `{program}`: {error}{hint}")
    })?;

    let group = Group(process.id());
    Ok((process, group, Stderr::read(pipe)))
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

/// How long to wait for the last lines of a process that has ended.
const LAST_LINES: Duration = Duration::from_millis(250);

/// The maximum number of bytes that are kept.
const MAX_STDERR: usize = 2 * 1024;

/// The maximum number of lines that are shown.
const MAX_LINES: usize = 10;

/// The last bytes that a process wrote to its standard error.
#[derive(Clone)]
pub(super) struct Stderr(watch::Receiver<Vec<u8>>);

impl Stderr {
    /// Reads until the end or until nobody can ask, so that the process never waits for room in the
    /// pipe.
    fn read(pipe: Option<impl AsyncRead + Send + Unpin + 'static>) -> Self {
        let (kept, receiver) = watch::channel(Vec::new());
        if let Some(mut pipe) = pipe {
            tokio::spawn(async move {
                tokio::select! {
                    () = keep_last(&mut pipe, &kept) => {}
                    () = kept.closed() => {}
                }
            });
        }

        Self(receiver)
    }

    /// Waits for the last lines of a process that has ended, which may still be on their way.
    pub(super) async fn ended(&self) {
        let mut kept = self.0.clone();
        let ended = async { while kept.changed().await.is_ok() {} };
        // Its children may keep the pipe open, so the end isn't waited for without a limit.
        let _ = timeout(LAST_LINES, ended).await;
    }

    /// Returns the last lines so far, as they are.
    pub(super) fn lines(&self) -> String {
        let text = String::from_utf8_lossy(&self.0.borrow()).into_owned();
        let lines: Vec<&str> = text.trim().lines().collect();
        let first = lines.len().saturating_sub(MAX_LINES);
        lines.get(first..).unwrap_or_default().join("\n")
    }
}

async fn keep_last(pipe: &mut (impl AsyncRead + Unpin), kept: &watch::Sender<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.send_modify(|kept| {
            kept.extend(buffer.get(..count).unwrap_or_default());
            // A server may write for ever, and only the end is shown.
            let excess = kept.len().saturating_sub(MAX_STDERR);
            kept.drain(..excess);
        });
    }
}
