//! Files that name servers of tools. The server is a script for the shell, which answers in the
//! order in which the command asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::debugging::answers::on_a_terminal;
use crate::support::Place;

const SERVER: &str = include_str!("../files/server.sh");

const FLOW: &str = include_str!("../files/server.yaml");

fn place(flow: &str) -> Place {
    let place = Place::with_flow(flow);
    place.write("server", SERVER);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path("server"), executable).unwrap();
    place
}

#[test]
fn a_run_starts_the_servers_of_its_file_and_a_check_does_not() {
    let place = place(FLOW);
    for command in ["check", "draw"] {
        assert_eq!(place.cogwork(&[command, "flow.yaml"]).code, 0);
    }
    assert!(!place.path("started").exists());

    let result = place.run(&["--input", "What is there?", "--json"]).json();
    assert_eq!(result["answer"], "I see a ship.");
    let tools = &result["state"]["outputs"]["agent"]["tools"];
    assert_eq!(tools[0]["result"], "a ship");
    assert!(place.path("started").exists());
}

#[test]
fn the_result_of_a_call_can_be_edited_as_a_text() {
    let place = place(FLOW);
    place.start(&[]).answers("I see a ship.\n");
    let fork = ["fork", "flow.yaml", "7", "--journal", "runs", "--at", "1"];
    let shown = place.cogwork(&[&fork[..], &["--show"]].concat()).json();
    let outcomes = shown["outcomes"].as_object().unwrap();
    let call = outcomes.keys().find(|name| name.contains("/tool "));
    let edit = format!("{}=a whale", call.unwrap());

    // The scripted model of the fork begins anew, and calls the tool once more.
    let edited = [&fork[..], &["--outcome-of", &edit, "--json"]].concat();
    let result = place.cogwork(&edited).json();
    let tools = &result["state"]["outputs"]["agent"]["tools"];
    assert_eq!(tools[0]["result"], "a whale");
}

#[test]
fn a_server_that_cannot_be_started_ends_the_run_before_it_begins() {
    let place = place(&FLOW.replace("tools: [look]}", "tools: [look, listen]}"));
    let failed = place.line("run flow.yaml --input ? --journal runs --json");
    let told = "the MCP server `eyes` has no tool `listen`; expected `look`";
    failed.fails(3, &format!("cogwork: {told}\n"));
    assert_eq!(failed.json()["error"], told);
    assert!(!place.path("runs").exists());
}

/// An agent whose call of a tool waits for an approval.
fn approving() -> Place {
    place(&format!("{}      approve: [look]\n", FLOW))
}

#[test]
fn after_a_typo_in_an_approval_the_command_asks_again() {
    let place = approving();
    let arguments = ["-q", "--journal", "runs", "--input", "?"];
    let (told, screen) = on_a_terminal(&place, &arguments, "yse\ny\n");

    told.answers("I see a ship.\n");
    let again = "cogwork: the answer to `approve look 1.1 at flow/agent#1.1` cannot be used: want object, but got string; want boolean, but got string";
    assert!(screen.contains(again), "{screen}");
    assert_eq!(screen.matches("wants to call").count(), 2, "{screen}");
}

#[test]
fn an_answer_to_no_wait_of_a_resumed_run_is_refused() {
    let place = approving();
    assert_eq!(place.start(&[]).code, 5);
    let told = "nothing waits for the event `look`; the nodes wait for none";
    place.resume(&["--answer", "look=yes"]).fails(3, told);

    // Its scripted model begins anew, and wants to call the tool once more.
    let answer = "approve look 1.1 at flow/agent#1.1=true";
    place
        .resume(&["--answer", answer])
        .fails(5, "`approve look 2.1");
}

#[test]
fn a_flow_that_needs_a_journal_is_refused_without_one() {
    let approval = approving();
    let wait = "{type: map, id: all, config: {items: '[1]', nodes: [{id: one, type: wait}]}}";
    let items = Place::with_flow(&format!("nodes: [{wait}]"));
    for (place, node) in [(approval, "agent"), (items, "all")] {
        let problem = format!("the node `{node}` may have to wait for answers, which");
        let told = format!("cogwork: {problem} needs a journal; expected --journal PLACE\n");
        place.run(&["--input", "?"]).fails(4, &told);
        let told = format!("cogwork: --flow: {problem} can't be given here\n");
        place.line("mcp --memory --flow flow.yaml").fails(4, &told);
        place.start(&[]).fails(5, "");
    }
}

const TWO_APPROVALS: &str = include_str!("../files/two_approvals.yaml");

#[test]
fn an_answer_that_cannot_be_used_is_refused_before_the_next_question() {
    let place = place(TWO_APPROVALS);
    let run = ["-q", "--journal", "runs", "--input", "?"];
    let (told, screen) = on_a_terminal(&place, &run, "5\ny\ny\n");
    assert_eq!(told.code, 0, "{screen}");

    let questions: Vec<_> = screen.split("wants to call").collect();
    let [_, first, again, second] = questions[..] else {
        panic!("{screen}");
    };
    let refused = [first, again, second].map(|text| text.contains("cannot be used"));
    assert_eq!(refused, [true, false, false], "{screen}");
}

/// Each line has its step, and nothing follows the answer.
#[test]
fn calls_of_tools_are_shown_between_the_texts_of_a_stream() {
    let shown = place(FLOW).line("run flow.yaml --input ? --stream");
    insta::assert_snapshot!(shown.err, @"
    agent#1
    agent#1: calls look with {}
    agent#1: look returned: a ship
    I see a ship.
    ");
}
