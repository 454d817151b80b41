//! `ServerBuilder::with_client_from_env` reads three variables. A process changes its own variables
//! only by unsafe code, so each case runs this test program again, with variables of its own.

use std::process::Command;

use cogwork_mcp::Server;

use crate::support::client_of;

/// What a child reports: whether there is the tool `solve`, or the error.
const REPORT: &str = "report: ";

#[tokio::test]
#[ignore = "the child of the other tests"]
async fn child() {
    let builder = Server::builder().with_built_in_tools(["solve"]);
    let builder = builder.with_client_from_env();
    let server = match builder.and_then(|builder| builder.open()) {
        Ok(server) => server,
        Err(error) => return println!("\n{REPORT}{error}"),
    };

    let tools = client_of(&server).await.list_all_tools().await;
    let has_solve = tools
        .expect("tools")
        .iter()
        .any(|tool| tool.name == "solve");
    println!("\n{REPORT}solve is listed: {has_solve}");
}

fn with(variables: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--ignored", "--exact", "solve::environment::child"])
        .arg("--nocapture")
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_MODEL")
        .env_remove("OPENAI_API_KEY")
        .envs(variables.iter().copied())
        .output()
        .expect("the child runs");

    let output = String::from_utf8(output.stdout).expect("text");
    let mut lines = output.lines();
    let report = lines.find_map(|line| line.strip_prefix(REPORT));
    report.unwrap_or_else(|| panic!("{output}")).to_owned()
}

#[test]
fn a_model_in_the_environment_lists_solve() {
    let variables = [
        ("OPENAI_MODEL", "m"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
    ];
    assert_eq!(with(&variables), "solve is listed: true");
}

#[test]
fn without_a_model_solve_is_an_error_that_says_what_to_set() {
    for variables in [&[][..], &[("OPENAI_MODEL", "")], &[("OPENAI_API_KEY", "k")]] {
        let report = with(variables);
        assert!(
            report.starts_with("the tool `solve` has no model; set OPENAI_MODEL"),
            "{report}"
        );
    }
}

#[test]
fn an_incomplete_environment_is_an_error_that_names_the_variable() {
    let report = with(&[("OPENAI_MODEL", "m")]);
    assert!(report.contains("OPENAI_API_KEY"), "{report}");

    let wrong = [("OPENAI_MODEL", "m"), ("OPENAI_BASE_URL", "not a URL")];
    let report = with(&wrong);
    assert!(report.contains("OPENAI_BASE_URL"), "{report}");
}
