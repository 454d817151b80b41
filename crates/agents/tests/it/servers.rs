//! Files that name servers of tools. The servers are this program, started with another argument.

use std::env::current_exe;
use std::path::Path;

use cogwork_agents::{FlowState, Loader};
use insta::assert_snapshot;

use crate::raw_server::{self, MODE};

/// Not a test: the server of the others.
#[test]
fn serve() {
    if let Ok(mode) = std::env::var(MODE) {
        raw_server::serve(mode);
    }
}

/// Returns the lines of a file that start this program as a server.
fn server(tools: &str) -> String {
    let program = current_exe().unwrap();
    let program = program.display();
    format!(
        "tools:\n  mcp:\n  - name: fixture\n    command: {program}\n    args: [--exact, 'servers::serve', --nocapture]\n    \
         env: {{{MODE}: normal, KEY: '${{KEY}}'}}\n    tools: {tools}\n"
    )
}

fn loader() -> Loader {
    Loader::new().with_environment(|name| match name {
        "KEY" => Some("a-secret-of-24-characters".to_owned()),
        _ => None,
    })
}

async fn run(text: &str) -> Result<FlowState, String> {
    let flow = loader()
        .load_text("flow.yaml", text)
        .map_err(|error| format!("{error:#}"))?;
    flow.connect().await.map_err(|error| error.to_string())?;

    let mut state = FlowState::new("Look.");
    let ended = flow.flow().run(&mut state).await;
    ended.map_err(|error| format!("{error:#}"))?;
    Ok(state)
}

#[tokio::test]
async fn inner_flows_name_the_tools_of_their_file() {
    let nodes = "\
nodes:
  - id: inside
    type: subflow
    config:
      nodes:
        - id: agent
          type: agent
          config: {provider: scripted, replies: [{tool_calls: [{name: x_echo, arguments: {}}]}, Done.], tools: [x_echo]}
";
    let with_prefix = server("[echo]") + "    prefix: x_\n";
    let state = run(&(with_prefix + nodes)).await.unwrap();
    let inside = &state.visits().next().unwrap().inside[0];
    let tools = &inside.output.as_ref().unwrap().tools;
    assert_eq!(tools[0].result, "{}");
}

#[tokio::test]
async fn nothing_is_started_by_loading_and_a_run_needs_a_connection() {
    let text = "\
tools: {mcp: [{name: none, command: /nonexistent/server, tools: [look]}]}
nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Never.], tools: [look]}}]
";
    let flow = Loader::new().load_text("flow.yaml", text).unwrap();
    let error = flow
        .flow()
        .run(&mut FlowState::new("Look."))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("`none` isn't connected"),
        "{error}"
    );

    let error = flow.connect().await.unwrap_err();
    assert_snapshot!(error, @"the MCP server `none` can't be started with `/nonexistent/server`: No such file or directory (os error 2); expected a program in PATH or a path to one");

    let drawn = Loader::new()
        .without_clients()
        .load_text("flow.yaml", text)
        .unwrap();
    drawn.connect().await.unwrap();
}

#[tokio::test]
async fn errors_of_servers_show_no_values_from_the_environment() {
    let nodes = "\
nodes:
  - id: agent
    type: agent
    config:
      provider: scripted
      replies: [{tool_calls: [{name: fail, arguments: {message: a-secret-of-24-characters}}]}, Done.]
      tools: [fail]
";
    let state = run(&(server("[fail]") + nodes)).await.unwrap();
    let result = &state.last().tools[0].result;
    assert!(result.ends_with("${KEY}"), "{result}");

    let refuses = server("[fail]").replace("normal", "refuses");
    let error = run(&(refuses + nodes)).await.map(|_| ()).unwrap_err();
    assert!(error.ends_with("not today${KEY}"), "{error}");
}

#[tokio::test]
async fn a_relative_command_runs_in_the_folder_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let exe = current_exe().unwrap();
    let exe = exe.display();
    let script =
        format!("#!/bin/sh\npwd >started\nexec {exe} --exact servers::serve --nocapture\n");
    std::fs::write(folder.join("server"), script).unwrap();
    make_executable(&folder.join("server"));

    let text = format!(
        "tools: {{mcp: [{{name: one, command: ./server, env: {{{MODE}: normal}}, tools: [echo]}}]}}\n\
         nodes: [{{id: a, type: agent, config: {{provider: scripted, replies: [No.], tools: [echo]}}}}]\n"
    );
    let file = folder.join("flow.yaml");
    std::fs::write(&file, text).unwrap();
    let flow = Loader::new().load(&file).unwrap();
    assert!(!folder.join("started").exists());
    flow.connect().await.unwrap();

    let started = std::fs::read_to_string(folder.join("started")).unwrap();
    assert_eq!(Path::new(started.trim()), folder);
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
