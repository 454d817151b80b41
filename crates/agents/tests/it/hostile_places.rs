//! Special files, links and folders at the paths of files: each is a problem when the flow is loaded, or an
//! error of the run. Only regular files in the folder are opened.

#![cfg(unix)]
#[path = "../../../text/tests/support/obstacles.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use cogwork_agents::Loader;
use support::{OBSTACLES, Theirs, at_once};
use tempfile::TempDir;

const SUBFLOW: &str = "nodes: [{id: a, type: subflow, config: {file: inner.yaml}}]";
const INNER: &str =
    "nodes: [{id: a, type: agent, config: {provider: rules, rules: [], else: Well.}}]";

/// A flow whose agent remembers in this file.
fn remembering(file: &str) -> String {
    format!(
        "nodes: [{{id: a, type: agent, config: {{provider: rules, rules: [], else: Well., memory: \
         {{type: file, file: {file}, recall: {{remember: true}}}}}}}}]"
    )
}

struct Project(TempDir);

impl Project {
    fn new(flow: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::write(project.path("flow.yaml"), flow).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is wrong with the flow, one message each, without the folder.
    fn problems(&self) -> Vec<String> {
        let path = self.path("flow.yaml");
        let loaded = at_once(move || Loader::new().load(path).map(drop));
        let folder = format!("{}/", self.0.path().canonicalize().unwrap().display());
        let error = loaded.expect_err("something is in the way");
        let problems = error.problems().iter();

        problems
            .map(|problem| format!("{}: {}", problem.path, problem.message.replace(&folder, "")))
            .collect()
    }
}

#[test]
fn only_regular_files_are_subflows_and_memories() {
    let theirs = Theirs::new();
    let memory = remembering("notes.db");
    let named = [
        ("file", SUBFLOW, "inner.yaml"),
        ("memory.file", memory.as_str(), "notes.db"),
    ];

    for (setting, flow, name) in named {
        for obstacle in OBSTACLES {
            let project = Project::new(flow);
            obstacle.put(&project.path(name), &theirs);
            let told = format!("this is {}; expected a regular file", obstacle.found);
            assert_eq!(
                project.problems(),
                [format!("nodes[0].config.{setting}: {told}")]
            );
        }
    }

    theirs.assert_untouched();
}

/// A person may name a flow by a link to it, and by nothing else that isn't a file.
#[test]
fn only_regular_files_and_links_to_them_are_flows() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flow.yaml");
        obstacle.put(&path, &theirs);
        at_once(move || Loader::new().load(path).map(drop)).unwrap_err();
    }

    theirs.assert_untouched();

    let project = Project::new(SUBFLOW);
    fs::write(project.path("inner.yaml"), INNER).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.yaml");

    symlink(project.path("flow.yaml"), &link).unwrap();

    // With the files beside it, not those beside the link.
    Loader::new().load(&link).unwrap();
}

#[test]
fn a_flow_that_is_a_part_of_itself_is_told_however_it_is_named() {
    for file in ["inside/same/flow.yaml", "other.yaml"] {
        let project = Project::new(&SUBFLOW.replace("inner.yaml", file));
        fs::create_dir(project.path("inside")).unwrap();
        symlink("..", project.path("inside/same")).unwrap();
        fs::hard_link(project.path("flow.yaml"), project.path("other.yaml")).unwrap();

        let told = "the file includes itself, perhaps by way of others; remove the cycle";
        assert_eq!(
            project.problems(),
            [format!("nodes[0].config.file: {told}")]
        );
    }
}

#[test]
fn paths_stay_in_the_folder() {
    let theirs = Theirs::new();
    let leads_out = "the path leads out of its folder; expected a path that stays inside";
    let paths = "../notes /notes out/notes inside/up/notes inside/../../notes ..";

    for path in paths.split(' ') {
        let subflow = SUBFLOW.replace("inner.yaml", path);
        for (setting, flow) in [("memory.file", remembering(path)), ("file", subflow)] {
            let project = Project::new(&flow);
            fs::create_dir(project.path("inside")).unwrap();
            symlink(theirs.folder(), project.path("out")).unwrap();
            symlink("../..", project.path("inside/up")).unwrap();
            let told = format!("nodes[0].config.{setting}: {leads_out}");
            assert_eq!(project.problems(), [told], "{path}");
        }
    }

    theirs.assert_untouched();
}
