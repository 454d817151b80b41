//! The child process of a server.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cogwork_text::Escaped;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::server::CommandLine;

/// How long to wait for the exit status and the last lines of a process that closed its output.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The variables that a child process inherits: what programs need in order to be found, to find
/// their files, and to write in the user's language.
#[cfg(not(windows))]
const INHERITED: [&str; 11] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];

/// The variables that a child process inherits: what programs need in order to be found, and to
/// find their files.
#[cfg(windows)]
const INHERITED: [&str; 14] = [
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

/// A running process, which is killed when this is dropped.
pub(super) struct Process {
    child: Child,
    /// Reads its standard error.
    reading: JoinHandle<()>,
}

impl Process {
    /// Starts a process.
    pub(super) fn start(
        line: &CommandLine,
        stderr: Stderr,
    ) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let mut child = command(line).spawn().map_err(|error| told(line, &error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(pipe)) = pipes else {
            return Err("has no pipes".to_owned());
        };

        let reading = tokio::spawn(stderr.read(pipe));
        Ok((Self { child, reading }, stdin, stdout))
    }

    /// Waits a moment for a process that has closed its output, and returns how it ended, such as
    /// ` (exit status: 1)`.
    pub(super) async fn ended(&mut self) -> String {
        let last_words = async {
            // The pipe stays open if children of the process are still running.
            if !self.reading.is_finished() {
                let _ = tokio::time::timeout(LAST_WORDS / 2, &mut self.reading).await;
            }
            self.kill_group();
            self.child.wait().await
        };

        match tokio::time::timeout(LAST_WORDS, last_words).await {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        }
    }

    /// Kills the process and its own children.
    fn kill_group(&self) {
        // Without an id, the process has been waited for, and the id may belong to another one.
        #[cfg(unix)]
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok())
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reading.abort();
        self.kill_group();
    }
}

fn command(line: &CommandLine) -> Command {
    let mut command = Command::new(&line.program);
    command
        .args(&line.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .env_clear();

    // A group of its own, so that its children can be killed with it.
    #[cfg(unix)]
    command.process_group(0);

    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }

    command.envs(line.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &line.folder {
        command.current_dir(folder);
    }
    command
}

fn told(line: &CommandLine, error: &io::Error) -> String {
    let program = Escaped::new(Path::new(&line.program).display());
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "; expected a program in PATH or a path to one",
        _ => "",
    };
    format!("can't be started with `{program}`: {error}{hint}")
}

/// The maximum number of bytes that are kept.
const MAX_STDERR: usize = 2 * 1024;

/// The maximum number of lines that are shown.
const MAX_LINES: usize = 10;

/// The last lines that the process wrote to its standard error. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Stderr(Arc<Mutex<VecDeque<u8>>>);

impl Stderr {
    /// Reads until the end, so that the process never waits for room in the pipe.
    async fn read(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = [0; 1024];

        while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
            self.push(buffer.get(..count).unwrap_or_default());
        }
    }

    /// Forgets the lines of an earlier process.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        kept.extend(bytes);

        let excess = kept.len().saturating_sub(MAX_STDERR);
        kept.drain(..excess);
    }

    /// Returns the last lines, as they are.
    pub(super) fn lines(&self) -> String {
        let text = String::from_utf8_lossy(self.lock().make_contiguous()).into_owned();

        let lines: Vec<&str> = text.trim().lines().collect();
        let first = lines.len().saturating_sub(MAX_LINES);
        lines.get(first..).unwrap_or_default().join("\n")
    }
}
