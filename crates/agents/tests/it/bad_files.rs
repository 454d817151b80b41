//! Error messages for invalid files: every problem, with its place.

use std::fs;
use std::path::{Path, PathBuf};

use cogwork_agents::{FileError, Loader};
use cogwork_tools::{Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/bad")
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "no flow runs")]
struct Sum {
    numbers: Vec<f64>,
    unit: String,
}

fn loader() -> Loader {
    let look = function("look", "Looks.", |_: Value| async { Ok(String::new()) });
    let sum = function("sum", "Adds.", |_: Sum| async { Ok(String::new()) });
    let tools = Tools::new().with(look).unwrap().with(sum).unwrap();
    Loader::new()
        .with_tools(tools)
        .with_environment(|name| (name == "SET").then(|| "canary-8731".to_owned()))
}

/// The lines without the folder in which the tests run.
fn told(error: &FileError) -> String {
    format!("{error:#}").replace(&format!("{}/", folder().display()), "")
}

/// Returns the problems of all files of a folder.
fn problems_in(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();

    let files = files.iter().filter(|file| file.is_file());
    files
        .map(|file| told(&loader().load(file).expect_err("the file is wrong")) + "\n\n")
        .collect()
}

#[test]
fn every_problem_is_told_with_its_place() {
    let all = problems_in(&folder());
    assert!(
        !all.contains("canary"),
        "a value from the environment is shown"
    );
    insta::assert_snapshot!("bad_files", all);
}

#[cfg(feature = "mcp")]
#[test]
fn every_problem_of_a_server_is_told_with_its_place() {
    insta::assert_snapshot!("bad_servers", problems_in(&folder().join("servers")));
}

#[test]
fn an_error_is_one_line_that_counts_the_others() {
    let error = loader().load(folder().join("wiring.yaml")).unwrap_err();
    insta::assert_snapshot!(error.to_string().replace(&format!("{}/", folder().display()), ""), @"wiring.yaml:1:8: start: the start `writter` is not a node; the nodes are `writer`, `critic` and `lonely` (and 5 more problems)");
    assert_eq!(error.problems().len(), 6);
    assert_eq!(error.problems()[0].path, "start");
}

#[test]
fn what_is_no_file_is_no_flow() {
    let told = |path: &Path| loader().load(path).unwrap_err().to_string();
    let shown = folder().display().to_string();
    let expected = format!("{shown}: this is a folder; expected a regular file");
    assert_eq!(told(&folder()), expected);

    let file = tempfile::NamedTempFile::new().unwrap();
    let name = file.path().display();
    let no_text = "the file is not UTF-8 in line 2; expected text";
    let too_long = "the file has more than 262144 bytes; expected fewer";
    for (bytes, problem) in [
        (b"a\n\xff".to_vec(), no_text),
        (vec![b'a'; 300_000], too_long),
    ] {
        fs::write(file.path(), bytes).unwrap();
        assert_eq!(told(file.path()), format!("{name}: {problem}"));
    }
}

#[test]
fn a_long_path_is_told_whole() {
    let path = format!("{}/flow.yaml", "folder/".repeat(30));
    let error = loader().load_text(&path, "nodes: 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{path}:1:8: nodes: expected a list, found a whole number")
    );
}

#[test]
fn files_inside_one_another_are_bounded() {
    let folder = tempfile::tempdir().unwrap();

    // Each names the next twice: read one by one they would be 2^14.
    for number in 0..14 {
        let subflow = format!("type: subflow, config: {{file: {}.yaml}}", number + 1);
        let nodes = ["a", "b"]
            .map(|id| format!("{{id: {id}, {subflow}}}"))
            .join(", ");
        let flow = format!("nodes: [{nodes}]\nedges: [{{from: a, to: b}}]\n");
        fs::write(folder.path().join(format!("{number}.yaml")), flow).unwrap();
    }
    let last = "nodes: [{id: a, type: agent, config: {provider: rules, rules: []}}]";
    fs::write(folder.path().join("14.yaml"), last).unwrap();

    let error = loader().load(folder.path().join("0.yaml")).unwrap_err();
    let told = "more than 100 files are read for one flow; expected fewer";
    assert!(error.to_string().contains(told), "{error}");
}

#[test]
fn a_file_that_is_wrong_all_over_tells_a_hundred_problems() {
    let keys: String = (0..5_000)
        .map(|number| format!("key{number}: 1\n"))
        .collect();
    let error = loader().load_text("keys.yaml", &keys).unwrap_err();
    assert_eq!(error.problems().len(), 100);
}
