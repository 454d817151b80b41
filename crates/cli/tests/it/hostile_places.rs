//! Special files, links and folders at the paths of files: the command reports each and exits.

#![cfg(unix)]
#[path = "../../../text/tests/support/obstacles.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{OBSTACLES, Theirs, at_once};

const REMEMBERING: &str = "
nodes:
  - id: keeper
    type: agent
    config:
      provider: rules
      rules: []
      else: Well.
      memory: {type: file, file: notes.db, limits: {items: 1}, recall: {remember: true}}
";
const SUBFLOW: &str = "nodes: [{id: a, type: subflow, config: {file: inner.yaml}}]";

/// The exit code and what was told of a command that must end by itself, without the folder.
fn ended(arguments: &[&str], folder: &Path) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    let output = at_once(move || command.output()).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let real = format!("{}/", folder.canonicalize().unwrap().display());

    (output.status.code().unwrap(), told.replace(&real, ""))
}

fn run(file: &str) -> [&str; 7] {
    ["run", file, "--input", "Well?", "--quiet", "--timeout", "5"]
}

#[test]
fn files_that_are_none_are_problems() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        for (flow, name, place) in [
            (
                REMEMBERING,
                "notes.db",
                "flow.yaml:9:34: nodes[0].config.memory.file",
            ),
            (
                SUBFLOW,
                "inner.yaml",
                "flow.yaml:1:47: nodes[0].config.file",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("flow.yaml"), flow).unwrap();
            obstacle.put(&folder.path().join(name), &theirs);

            let told = format!(
                "{place}: this is {}; expected a regular file\n",
                obstacle.found
            );
            assert_eq!(
                ended(&["check", "flow.yaml"], folder.path()),
                (1, told.clone())
            );
            assert_eq!(ended(&run("flow.yaml"), folder.path()), (1, told));
        }

        let folder = tempfile::tempdir().unwrap();
        obstacle.put(&folder.path().join("flow.yaml"), &theirs);
        assert_eq!(ended(&["check", "flow.yaml"], folder.path()).0, 1);
        assert_eq!(ended(&run("flow.yaml"), folder.path()).0, 1);
    }

    theirs.assert_untouched();
}
