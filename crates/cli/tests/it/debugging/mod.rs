//! Runs that are recorded, resumed and answered.

#![cfg(unix)]

pub(crate) mod answers;
mod events;
mod resuming;
mod secrets;
mod streams;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::server::Server;
use crate::support::{Place, Told};

const APPROVAL: &str = include_str!("../../files/approval.yaml");

impl Place {
    /// The file with the events of the only run in the folder `runs`.
    fn events(&self) -> PathBuf {
        let files = fs::read_dir(self.path("runs")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        let mut events = paths.filter(|path| path.extension().is_some_and(|end| end == "events"));
        let only = events.next().unwrap();
        assert_eq!(events.next(), None);
        only
    }

    /// The command that runs the flow of the folder.
    fn run_command(&self, arguments: &[&str]) -> Command {
        self.command(&[&["run", "flow.yaml"], arguments].concat())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Told {
        Told::of(self.run_command(arguments).output().unwrap())
    }

    /// Starts the run `7` with a journal.
    pub(crate) fn start(&self, more: &[&str]) -> Told {
        let start = ["-q", "--journal", "runs", "--id", "7", "--input", "the sea"];
        self.run(&[&start, more].concat())
    }

    /// Resumes the run `7`.
    pub(crate) fn resume(&self, more: &[&str]) -> Told {
        self.run(&[&["-q", "--journal", "runs", "--resume", "7"], more].concat())
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn two_nodes(server: &Server) -> Place {
    let config = server.config();
    Place::with_flow(&format!(
        "nodes:
- {{id: a, type: agent, config: {{{config}}}}}
- {{id: b, type: agent, config: {{{config}}}}}
edges: [{{from: a, to: b}}]
"
    ))
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(json)
        .collect()
}
