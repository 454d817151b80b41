//! A program that was built without servers of tools.

use cogwork_agents::Loader;
use insta::assert_snapshot;

#[test]
fn a_file_with_a_server_says_which_feature_is_missing() {
    let text = "\
tools: {mcp: [{name: one, command: npx, tools: [look]}]}
nodes: [{id: a, type: agent, config: {provider: scripted, replies: [No.], tools: [look]}}]
";
    let error = Loader::new().load_text("flow.yaml", text).unwrap_err();
    assert_snapshot!(format!("{error:#}"), @"flow.yaml:1:15: tools.mcp[0]: this program was built without MCP servers; build it with the feature `mcp`, or remove the server");
}
