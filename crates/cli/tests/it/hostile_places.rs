//! Special files, links and folders in the place of a flow: the command tells what it found and exits. The files that
//! a flow names are tested in `cogwork-agents`.

#![cfg(unix)]
#[path = "../../../text/tests/support/obstacles.rs"]
mod support;

use support::{OBSTACLES, Theirs, at_once};

use crate::support::Place;

const SUBFLOW: &str = "nodes: [{id: a, type: subflow, config: {file: inner.yaml}}]";

#[test]
fn files_that_are_none_are_problems() {
    let theirs = Theirs::new();
    let run = ["run", "flow.yaml", "-q", "--input", "?", "--timeout", "5"];

    for obstacle in OBSTACLES {
        let inside = Place::with_flow(SUBFLOW);
        obstacle.put(&inside.path("inner.yaml"), &theirs);
        let itself = Place::new();
        obstacle.put(&itself.path("flow.yaml"), &theirs);

        for arguments in [&["check", "flow.yaml"][..], &run] {
            for place in [&inside, &itself] {
                let mut command = place.command(arguments);
                let output = at_once(move || command.output()).unwrap();
                assert_eq!(output.status.code(), Some(1));
            }
            let told = inside.cogwork(arguments).err;
            let found = obstacle.found;
            let expected = format!("this is {found}; expected a regular file\n");
            assert!(told.ends_with(&expected), "{told}");
        }
    }

    theirs.assert_untouched();
}
