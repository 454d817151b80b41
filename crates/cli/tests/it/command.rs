//! The command as a person meets it: the real program, its output and its exit codes.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::server::{Reply, Server};
use crate::support::{Place, Told};

/// The command in the folder of the project.
fn cogwork(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    command
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env_remove("API_KEY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn told(arguments: &[&str]) -> Told {
    Told::of(cogwork(arguments).output().unwrap())
}

const REVIEW: &str = "examples/files/review.yaml";
const DOCUMENT: &str = "crates/agents/tests/files/good/document.yaml";
const SEA: &str = "The sea is a grey door that nobody closes.";

#[test]
fn check_tells_every_problem_of_every_file() {
    let place = Place::new();
    place.write("empty.yaml", "");
    place.write("suite.yaml", "problems: []\narms: [{nam: x}]\n");
    place.write("good.yaml", "nodes: [{id: go, type: wait}]\n");
    place.write(
        "flow.yaml",
        "nodes: [{id: a, type: agnet}, {id: b, type: wait}]\n",
    );
    let told = place.line("check empty.yaml suite.yaml nowhere.yaml good.yaml flow.yaml");

    assert_eq!((told.code, told.out.as_str()), (1, "good.yaml: ok\n"));
    insta::assert_snapshot!(told.err, @"
    empty.yaml:1:1: expected a mapping, found nothing
    suite.yaml:2:9: arms[0]: unknown field `nam`, expected one of `name`, `flow`, `type`, `config`
    nowhere.yaml: No such file or directory (os error 2)
    flow.yaml:1:23: nodes[0].type: unknown node type `agnet`; known node types: `agent`, `branches`, `chain_of_thought`, `map`, `strategy`, `subflow`, `template`, `tool` and `wait`; did you mean `agent`?
    flow.yaml:1:36: nodes[1]: node `b` cannot be reached from the start; expected an edge with `to: b`
    ");
}

/// Flows and suites look alike, and are for different commands.
#[test]
fn a_suite_is_checked_and_runs_only_as_a_suite() {
    let suite = "examples/files/eval.yaml";
    insta::assert_snapshot!(told(&["check", suite, REVIEW]).out, @"
    examples/files/eval.yaml: ok, a suite for `cogwork eval`
    examples/files/review.yaml: ok
    ");

    told(&["run", suite, "--input", "x"]).fails(1, "unknown key `arms`");
    told(&["eval", REVIEW]).fails(
        1,
        "unknown field `answer`, expected one of `name`, `problems`, `arms`",
    );

    let place = Place::new();
    place.write("suite.yaml", "problems: []\narms: [{nam: x}]\n");
    let problem = "suite.yaml:2:9: arms[0]: unknown field `nam`, expected one of";
    for line in ["check suite.yaml", "eval suite.yaml"] {
        place.line(line).fails(1, problem);
    }
}

#[test]
fn a_variable_that_is_not_set_is_a_problem_unless_none_is_looked_at() {
    let problem = "the environment variable `API_KEY` is not set; expected a value\n";
    let place = "nodes[0].config.api_key";
    told(&["check", DOCUMENT]).fails(1, &format!("{DOCUMENT}:7:16: {place}: {problem}"));

    let ok = format!("{DOCUMENT}: ok\n");
    told(&["check", "--no-environment", DOCUMENT]).answers(&ok);
    let mut with_key = cogwork(&["check", DOCUMENT]);
    let checked = with_key.env("API_KEY", "canary-8731").output();
    Told::of(checked.unwrap()).answers(&ok);
}

/// A name from the environment in a prompt isn't a slot.
#[test]
fn draw_needs_no_key() {
    let agent = "{provider: scripted, replies: [Hi], prompt: 'Say {input} to ${ROLE}'}";
    let place = Place::with_flow(&format!("nodes: [{{id: a, type: agent, config: {agent}}}]"));
    let told = place.line("draw flow.yaml");
    assert_eq!(told.code, 0);
    insta::assert_snapshot!(told.out, @r#"
    flowchart TD
        start0(( )) --> n0
        n0["a"]
        n0 -->|"default"| end0(((end)))
    "#);
    assert_eq!(place.line("check --no-environment flow.yaml").code, 0);
}

#[test]
fn schema_is_json() {
    assert_eq!(told(&["schema"]).json()["title"], "A flow of Cogwork");
}

#[test]
fn run_writes_the_answer_alone_and_progress_beside_it() {
    let run = told(&["run", REVIEW, "--input", "the sea"]);
    run.answers(&format!("{SEA}\n"));
    assert_eq!(run.err, "writer#1\ncritic#2\nwriter#3\ncritic#4\n");

    let run = told(&["run", REVIEW, "--quiet", "--json", "-i", "the sea"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let result = run.json();
    assert_eq!(
        (&result["answer"], &result["action"]),
        (&SEA.into(), &"accept".into())
    );
    assert_eq!(
        (&result["steps"], &result["state"]["calls"]),
        (&4.into(), &4.into())
    );
    assert_eq!(result["state"]["input"]["text"], "the sea");
}

#[test]
fn run_reads_its_input_from_a_pipe() {
    let run = |input: &[u8]| {
        let mut command = cogwork(&["run", "-q", REVIEW, "--input", "-"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Told::of(child.wait_with_output().unwrap())
    };

    run(b"the sea").answers(&format!("{SEA}\n"));
    let problem = "cogwork: the input could not be read: stream did not contain valid UTF-8\n";
    run(&[0xff, 0xfe]).fails(4, problem);
}

#[test]
fn a_run_that_fails_says_where_and_why() {
    let place = Place::with_flow(
        "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: Hello, reply: Hi.}]}}]",
    );
    let failed = place.line("run flow.yaml -q --json --input Goodbye");
    assert_eq!(failed.code, 3);
    insta::assert_snapshot!(failed.err, @"cogwork: flow `flow`, node `a`: exec failed: the call to the model failed: no rule fits the last message, and there is no `else`; expected `Hello` in it");
    let result = failed.json();
    assert_eq!(result["state"]["input"]["text"], "Goodbye");
    let error = result["error"].as_str().unwrap();
    assert!(error.starts_with("flow `flow`, node `a`: exec failed"));

    let limited = told(&["run", "-q", "--max-steps", "1", REVIEW, "-i", "the sea"]);
    assert_eq!((limited.code, limited.out.as_str()), (3, ""));
    insta::assert_snapshot!(limited.err, @"cogwork: flow `review`, node `critic`: the run reached its limit of 1 step before this node");
}

#[test]
fn an_answer_that_is_not_complete_is_printed_with_a_warning() {
    let at_limit = include_str!("../files/at_limit.yaml");
    let cut_off = include_str!("../files/cut_off.yaml");
    for (flow, answer, warning) in [
        (
            at_limit,
            "51\n",
            "the answer of `a` is not complete: the budget of 1 call is spent",
        ),
        (
            cut_off,
            "The end.\n",
            "the output of `a` is cut off, by the token limit or a filter",
        ),
    ] {
        let told = Place::with_flow(flow).line("run flow.yaml -q -i x");
        told.answers(answer);
        assert_eq!(told.err, format!("cogwork: {warning}\n"));
    }
}

/// Of an address from the environment the host is shown: an error would say nothing without it.
#[test]
fn a_base_url_from_the_environment_is_shown_by_its_host_alone() {
    let flow = "nodes:\n- {id: a, type: agent, config: {provider: openai, name: m, base_url: '${K}', retries: 0}}\n";
    let place = Place::with_flow(flow);
    let address = "http://LocalHost:1/v1/x/../TOKEN-abc123/s\u{e9}cret";
    let mut command = place.command(&["run", "--json", "flow.yaml", "--input", "Hello"]);
    let told = Told::of(command.env("K", address).output().unwrap());

    assert_eq!(told.code, 3, "{told:?}");
    for shown in [told.out, told.err] {
        assert!(
            shown.contains("POST http://LocalHost:1${K}/chat/completions: no connection"),
            "{shown}"
        );
        assert!(!shown.to_lowercase().contains("token-"), "{shown}");
    }
}

pub(crate) fn send(signal: &str, process: u32) {
    let process = process.to_string();
    let kill = Command::new("kill").args(["-s", signal, &process]).status();
    assert!(kill.unwrap().success());
}

/// The first node has answered, and the second waits for a server that says nothing.
#[test]
fn a_run_that_is_interrupted_tells_what_it_has() {
    for signal in ["INT", "TERM"] {
        let server = Server::new(|_, _| Reply::Silence);
        let config = server.config();
        let place = Place::with_flow(&format!(
            "nodes:
- {{id: a, type: agent, config: {{provider: rules, rules: [], else: Once.}}}}
- {{id: b, type: agent, config: {{{config}}}}}
edges: [{{from: a, to: b}}]
"
        ));
        let mut run = place.command(&["run", "--json", "flow.yaml", "--input", "A tale"]);
        let run = run.spawn().unwrap();
        while server.calls() < 1 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        send(signal, run.id());

        let told = Told::of(run.wait_with_output().unwrap());
        let problem = "flow `flow`, node `b`: the run was cancelled at this node";
        told.fails(130, &format!("a#1\nb#2\ncogwork: {problem}\n"));
        let result = told.json();
        assert_eq!(result["error"], problem);
        assert_eq!(result["state"]["outputs"]["a"]["text"], "Once.");
    }
}

#[test]
fn a_wrong_command_line_is_told_with_the_right_one() {
    told(&["run", REVIEW, "--input", "x", "--max-steps", "0"]).fails(2, "");
    for arguments in [
        &["run", REVIEW][..],
        &["run", REVIEW, "the sea"],
        &["fly"],
        &["check"],
        &[],
    ] {
        told(arguments).fails(2, "Usage: cogwork");
    }

    let help = told(&["--help"]).out;
    assert!(
        help.contains("  4  the input or the journal could not be read"),
        "{help}"
    );
}

/// Each reader closes its end before anything is written.
#[test]
fn a_pipe_that_is_closed_is_no_failure() {
    for arguments in [
        &["schema"][..],
        &["draw", REVIEW],
        &["check", REVIEW],
        &["run", REVIEW, "-i", "the sea"],
    ] {
        let mut command = cogwork(arguments).spawn().unwrap();
        drop(command.stdout.take());
        drop(command.stderr.take());
        assert_eq!(command.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_told() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let told = cogwork(&["schema"]).stdout(full.unwrap()).output();
    let problem =
        "cogwork: the output could not be written: No space left on device (os error 28)\n";
    Told::of(told.unwrap()).fails(4, problem);
}

/// `#   $ cogwork run examples/files/review.yaml --input "the sea"`, and then what it writes.
#[test]
fn the_examples_say_what_their_headers_say() {
    let files = "review reflection analysis approval triage outline opinions";
    for file in files.split(' ') {
        let path = format!("examples/files/{file}.yaml");
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        let text = fs::read_to_string(root.to_owned() + &path).unwrap();

        let header = text.lines().map_while(|line| line.strip_prefix('#'));
        let mut header = header.map(str::trim).filter(|line| !line.is_empty());
        let command = header.find(|line| line.starts_with("$ cogwork run"));
        let (_, input) = command.unwrap().split_once("--input \"").unwrap();
        let (input, more) = input.split_once('"').unwrap();

        let arguments = ["run", "-q", &path, "--input", input];
        let arguments = arguments.into_iter().chain(more.split_whitespace());
        let told = told(&arguments.collect::<Vec<_>>());
        assert_eq!((told.code, told.err.as_str()), (0, ""), "{file}");
        let out = told
            .out
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        assert!(out.eq(header), "{file}");
    }
}
