//! Steps of graph-flow, in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use cogwork_benches::BoxError;

use crate::{SCHEMA, Server};

/// Which texts are in the context of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    Last,
    All,
}

/// The process.
pub(crate) struct Peer {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/graph_flow/release/graph_flow")
}

pub(crate) fn is_built() -> bool {
    program().exists()
}

impl Peer {
    /// Returns `None` if graph-flow isn't built, or the server has no socket.
    pub(crate) fn start(server: &Server) -> Result<Option<Self>, BoxError> {
        let (Some(folder), true) = (server.folder(), is_built()) else {
            return Ok(None);
        };
        let user = server.config.get_user().unwrap_or("postgres");
        let database = server.config.get_dbname().unwrap_or(user);
        let url = format!(
            "postgres://{user}@localhost/{database}?host={}",
            folder.display()
        );

        let mut child = Command::new(program())
            .arg(url)
            .arg(SCHEMA)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let asks = child.stdin.take().ok_or("no standard input")?;
        let answers = child.stdout.take().ok_or("no standard output")?;

        Ok(Some(Self {
            child,
            asks,
            answers: BufReader::new(answers),
        }))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Executes steps of a new session.
    pub(crate) fn execute(
        &mut self,
        id: &str,
        steps: u32,
        bytes: usize,
        keeps: Keeps,
    ) -> Result<Duration, BoxError> {
        let keeps = match keeps {
            Keeps::Last => "last",
            Keeps::All => "all",
        };
        writeln!(self.asks, "{id}-{keeps} {steps} {bytes} {keeps}")?;

        // Another thread serves the proxy meanwhile.
        let mut answer = String::new();
        tokio::task::block_in_place(|| self.answers.read_line(&mut answer))?;
        let nanos: u64 = answer.trim().parse()?;
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
