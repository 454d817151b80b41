//! `ServerBuilder::with_client_from_env` reads three variables. A process changes its own variables
//! only by unsafe code, so each case runs this test program again, with variables of its own.

use std::process::Command;

use cogwork_mcp::Server;

use crate::support::Client;

/// What a child reports: whether there is the tool `solve`, or the error.
const REPORT: &str = "report: ";

#[tokio::test]
#[ignore = "the child of the other test"]
async fn child() {
    let builder = Server::builder().with_built_in_tools(["solve"]);
    let builder = builder.with_client_from_env();
    let server = match builder.and_then(|builder| builder.open()) {
        Ok(server) => server,
        Err(error) => return println!("\n{REPORT}{error}"),
    };

    let tools = Client::of(&server).await.list_all_tools().await;
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
fn the_environment_gives_a_model_or_an_error_that_says_what_to_set() {
    let unset = "the tool `solve` has no model; set OPENAI_MODEL";
    let local = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let wrong = ("OPENAI_BASE_URL", "not a URL");
    for (variables, expected) in [
        (&[("OPENAI_MODEL", "m"), local][..], "solve is listed: true"),
        (&[], unset),
        (&[("OPENAI_MODEL", "")], unset),
        (&[("OPENAI_API_KEY", "k")], unset),
        (&[("OPENAI_MODEL", "m")], "OPENAI_API_KEY"),
        (&[("OPENAI_MODEL", "m"), wrong], "OPENAI_BASE_URL"),
    ] {
        let report = with(variables);
        assert!(report.contains(expected), "{variables:?}: {report}");
    }
}
