//! Files that name servers of tools. The servers are this program, started with another argument.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::env::current_exe;
use std::path::Path;

use cogwork_agents::{FlowState, Loader};
use insta::assert_snapshot;

use crate::raw_server::{self, MODE};
use crate::support;

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
async fn an_agent_calls_a_tool_of_a_server() {
    let nodes = "\
nodes:
  - id: agent
    type: agent
    config:
      provider: scripted
      replies:
        - tool_calls: [{name: echo, arguments: {where: here}}, {name: fail, arguments: {message: KEY}}]
        - Done.
      tools: [echo, fail]
";
    let state = run(&(server("[echo, fail]") + nodes)).await.unwrap();
    let tools = &state.last().tools;
    assert_eq!(tools[0].result, r#"{"where":"here"}"#);
    assert!(tools[1].result.contains("answered with the error -32000"));
    assert_eq!(state.last().text, "Done.");
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

    let tells = server("[fail]").replace("normal", "tells");
    let error = run(&(tells + nodes)).await.map(|_| ()).unwrap_err();
    assert!(error.ends_with("the key is ${KEY}"), "{error}");
}

fn problems(text: &str) -> String {
    support::problems(&Loader::new(), text)
}

#[test]
fn problems_are_told_with_their_places() {
    let text = "\
tools:
  mcp:
    - name: one
      comand: npx
      tools: [a]
    - name: two
      command: npx
      tools: []
    - name: three
      tools: [a]
    - {name: four, command: npx, url: 'http://localhost', tools: [a]}
    - {name: five, url: 'http://localhost', args: [a], tools: [a]}
    - {name: six, command: npx, token: t, tools: [a]}
    - {name: seven, command: ./npx, tools: [b]}
    - {name: eight, command: '${NPX}', tools: [b]}
    - {name: nine, command: npx, tools: [b, b]}
    - {name: ten, command: npx, tools: ['b c']}
    - {name: eleven, command: npx, folder: .., env: {'a=b': c}, tools: [b]}
    - {name: twelve, command: npx, timeout: 0, tools: ['${TOOL}']}
  mpc: []
nodes:
  - {id: a, type: agent, config: {provider: scripted, replies: [No.], tools: [anything]}}
";
    assert_snapshot!(problems(text), @r"
    flow.yaml:4:7: tools.mcp[0]: unknown key `comand`; did you mean `command`?
    flow.yaml:8:14: tools.mcp[1].tools: the list is empty; expected at least 1 item
    flow.yaml:9:7: tools.mcp[2]: expected either `command` or `url`, for a server that is started or one over HTTP
    flow.yaml:11:7: tools.mcp[3]: expected either `command` or `url`, for a server that is started or one over HTTP
    flow.yaml:12:51: tools.mcp[4].args: a server over HTTP is not started; remove this, or use `command`
    flow.yaml:13:40: tools.mcp[5].token: a command gets no token; put it into `env`, or use `url`
    flow.yaml:14:30: tools.mcp[6].command: this flow was not loaded from a file, so it cannot name files; expected a program in PATH or an absolute path
    flow.yaml:15:30: tools.mcp[7].command: nothing is taken from the environment here, where it would be shown; expected a text without `${NPX}`
    flow.yaml:15:30: tools.mcp[7].command: the environment variable `NPX` is not set; expected a value
    flow.yaml:16:45: tools.mcp[8].tools[1]: there is already a tool `b`; choose another name, or a `prefix` for this server
    flow.yaml:17:40: tools.mcp[9].tools: a name is not valid with its prefix; expected at most 64 letters, digits, `_`, `-`, `.` and `/`
    flow.yaml:18:53: tools.mcp[10].env: not an environment variable; expected a name without `=`, and a value
    flow.yaml:19:45: tools.mcp[11].timeout: the number is too small; expected at least 0.001
    flow.yaml:19:56: tools.mcp[11].tools[0]: nothing is taken from the environment here, where it would be shown; expected a text without `${TOOL}`
    flow.yaml:19:56: tools.mcp[11].tools[0]: the environment variable `TOOL` is not set; expected a value
    flow.yaml:20:3: tools: unknown key `mpc`; did you mean `mcp`?
    ");
}

#[test]
fn an_unknown_tool_is_told_along_with_those_of_the_servers() {
    let text = "\
tools: {mcp: [{name: one, command: npx, tools: [read.file, write], prefix: x_}]}
nodes:
  - {id: a, type: agent, config: {provider: scripted, replies: [No.], tools: [x_read_fil, write, x_write], tool_round: 1}}
";
    assert_snapshot!(problems(text), @r"
    flow.yaml:3:79: nodes[0].config.tools[0]: unknown tool `x_read_fil`; known tools: `x_read_file`, `x_write`; did you mean `x_read_file`?
    flow.yaml:3:91: nodes[0].config.tools[1]: unknown tool `write`; known tools: `x_read_file`, `x_write`
    flow.yaml:3:108: nodes[0].config: unknown key `tool_round`; did you mean `tool_rounds`?
    ");
}

#[test]
fn commands_and_folders_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flow.yaml");
    let load = |server: &str| {
        let text = format!(
            "tools: {{mcp: [{{name: one, {server}, tools: [look]}}]}}\n\
             nodes: [{{id: a, type: agent, config: {{provider: scripted, replies: [No.], tools: [look]}}}}]\n"
        );
        std::fs::write(&file, text).unwrap();
        let loaded = Loader::new().load(&file);
        loaded
            .map(|_| ())
            .map_err(|error| error.problems()[0].message.clone())
    };

    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("server"), "").unwrap();
    assert!(load("command: ./server, folder: data").is_ok());
    assert!(load("command: npx").is_ok());
    assert!(load("command: /bin/no-such-server").is_ok());

    assert_snapshot!(load("command: ./serve").unwrap_err(), @"there is no such program in the folder of this file");
    assert_snapshot!(load("command: bin/server").unwrap_err(), @"No such file or directory (os error 2)");
    assert_snapshot!(load("command: ../server").unwrap_err(), @"the path leads out of its folder; expected a path that stays inside");
    assert_snapshot!(load("command: npx, folder: /tmp").unwrap_err(), @"the path leads out of its folder; expected a path that stays inside");
    assert_snapshot!(load("command: npx, folder: date").unwrap_err(), @"No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_relative_command_runs_in_the_folder_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server");
    let exe = current_exe().unwrap();
    std::fs::write(
        &script,
        format!(
            "#!/bin/sh\npwd >started\nexec {} --exact servers::serve --nocapture\n",
            exe.display()
        ),
    )
    .unwrap();
    make_executable(&script);

    let file = folder.path().join("flow.yaml");
    let text = format!(
        "tools: {{mcp: [{{name: one, command: ./server, env: {{{MODE}: normal}}, tools: [echo]}}]}}\n\
         nodes: [{{id: a, type: agent, config: {{provider: scripted, replies: [No.], tools: [echo]}}}}]\n"
    );
    std::fs::write(&file, text).unwrap();

    let flow = Loader::new().load(&file).unwrap();
    assert!(!folder.path().join("started").exists());
    flow.connect().await.unwrap();

    let started = std::fs::read_to_string(folder.path().join("started")).unwrap();
    assert_eq!(
        Path::new(started.trim()),
        folder.path().canonicalize().unwrap()
    );
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
