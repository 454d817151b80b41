//! The command as a person meets it: the real program, its output and its exit codes.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::server::{Reply, Server};
use crate::support::{Place, Told};

fn cogwork(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    command
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env_remove("API_KEY");
    command.stdin(Stdio::null());

    command
}

fn output(arguments: &[&str]) -> (i32, String, String) {
    told(&cogwork(arguments).output().unwrap())
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const REVIEW: &str = "examples/files/review.yaml";
const DOCUMENT: &str = "crates/agents/tests/files/good/document.yaml";

/// Runs a flow, and returns the exit code and what was written.
fn run(flow: &str, arguments: &[&str]) -> (i32, String, String) {
    let place = Place::with_flow(flow);
    let told = place.cogwork(&[&["run", "flow.yaml"], arguments].concat());
    (told.code, told.out, told.err)
}

#[test]
fn check_tells_every_problem_of_every_file() {
    let bad = "crates/agents/tests/files/bad";
    let (code, out, err) = output(&[
        "check",
        REVIEW,
        &format!("{bad}/unknown_names.yaml"),
        &format!("{bad}/empty.yaml"),
        "nowhere.yaml",
        "examples/files/reflection.yaml",
    ]);

    assert_eq!(code, 1);
    assert_eq!(
        out,
        "examples/files/review.yaml: ok\nexamples/files/reflection.yaml: ok\n"
    );
    insta::assert_snapshot!(err.replace(bad, "…"), @"
    …/unknown_names.yaml:3:11: nodes[0].type: unknown node type `agnet`; known node types: `agent`, `branches`, `chain_of_thought`, `map`, `strategy`, `subflow`, `template`, `tool`, `wait`; did you mean `agent`?
    …/unknown_names.yaml:5:9: nodes[1]: node `critic` cannot be reached from the start; expected an edge with `to: critic`
    …/unknown_names.yaml:8:17: nodes[1].config.provider: unknown provider `opennai`; known providers: `anthropic`, `ollama`, `openai`, `rules`, `scripted`; did you mean `openai`?
    …/unknown_names.yaml:9:9: nodes[2]: node `thinker` cannot be reached from the start; expected an edge with `to: thinker`
    …/unknown_names.yaml:15:15: nodes[2].config.thinking.type: unknown mode `reflexion`; known modes: `best_of`, `critique`, `plan_first`, `reflection`, `verification`; did you mean `reflection`?
    …/unknown_names.yaml:17:9: nodes[3]: node `solver` cannot be reached from the start; expected an edge with `to: solver`
    …/unknown_names.yaml:19:51: nodes[3].config.strategy: unknown strategy `raect`; known strategies: `linear`, `base_sequential`, `chain_of_thought`, `react`, `rewoo`, `scratchpad`, `self_ask`, `self_consistency`, `step_back`, `tree_of_thoughts`; did you mean `react`?
    …/unknown_names.yaml:19:66: nodes[3].config.tools[0]: unknown tool `hammer`; known tools: `calculator`
    …/empty.yaml:1:1: expected a mapping, found nothing
    nowhere.yaml: No such file or directory (os error 2)
    ");
}

/// Flows and suites look alike, and are for different commands.
#[test]
fn a_suite_is_checked_and_runs_only_as_a_suite() {
    let suite = "examples/files/eval.yaml";
    let (code, out, err) = output(&["check", suite, REVIEW]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @"
    examples/files/eval.yaml: ok, a suite for `cogwork eval`
    examples/files/review.yaml: ok
    ");

    let told = ["run {} --input x", "draw {}", "eval {}"].map(|line| {
        let file = if line.starts_with("eval") {
            REVIEW
        } else {
            suite
        };
        let line = line.replace("{}", file);
        let (code, out, err) = output(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str()), (1, ""), "{line}");
        err
    });
    insta::assert_snapshot!(told.concat(), @"
    examples/files/eval.yaml: this is a suite, not a flow; `cogwork eval` makes its runs
    examples/files/eval.yaml: this is a suite, not a flow; `cogwork eval` makes its runs
    examples/files/review.yaml: this is a flow, not a suite; `cogwork run` runs it
    ");
}

#[test]
fn a_suite_or_a_flow_with_problems_is_still_known_as_one() {
    let place = Place::new();
    place.write("suite.yaml", "problems: []\narms: [{nam: x}]\n");
    place.write("flow.yaml", "nodes: [{id: a}]\n");

    let told = ["check suite.yaml", "eval suite.yaml", "eval flow.yaml"].map(|line| {
        let told = place.line(line);
        assert_eq!(told.code, 1, "{told:?}");
        told.err
    });
    insta::assert_snapshot!(told.concat(), @"
    suite.yaml:2:9: arms[0]: unknown field `nam`, expected one of `name`, `flow`, `type`, `config`
    suite.yaml:2:9: arms[0]: unknown field `nam`, expected one of `name`, `flow`, `type`, `config`
    flow.yaml: this is a flow, not a suite; `cogwork run` runs it
    ");
}

#[test]
fn a_variable_that_is_not_set_is_a_problem_unless_none_is_looked_at() {
    let (code, _, err) = output(&["check", DOCUMENT]);
    let place = "nodes[0].config.api_key";
    assert_eq!(code, 1);
    assert_eq!(
        err,
        format!(
            "{DOCUMENT}:7:16: {place}: the environment variable `API_KEY` is not set; expected a value\n"
        )
    );

    assert_eq!(output(&["check", "--no-environment", DOCUMENT]).0, 0);
    let checked = cogwork(&["check", DOCUMENT])
        .env("API_KEY", "canary-8731")
        .output()
        .unwrap();
    assert_eq!(
        told(&checked),
        (0, format!("{DOCUMENT}: ok\n"), String::new())
    );
}

/// A name from the environment in a prompt isn't a slot.
#[test]
fn draw_needs_no_key() {
    let agent = "{provider: scripted, replies: [Hi], prompt: 'Say {input} to ${ROLE}'}";
    let place = Place::with_flow(&format!("nodes: [{{id: a, type: agent, config: {agent}}}]"));
    let told = place.line("draw flow.yaml");
    assert_eq!((told.code, told.err.as_str()), (0, ""));
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
    let (code, out, _) = output(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &schema["title"]), (0, &"A flow of Cogwork".into()));
}

#[test]
fn run_writes_the_answer_alone_and_progress_beside_it() {
    let answer = "The sea is a grey door that nobody closes.";
    let (code, out, err) = output(&["run", REVIEW, "--input", "the sea"]);
    assert_eq!((code, out), (0, format!("{answer}\n")));
    assert_eq!(err, "writer#1\ncritic#2\nwriter#3\ncritic#4\n");

    let (code, out, err) = output(&["run", REVIEW, "--quiet", "--json", "-i", "the sea"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&result["answer"], &result["action"]),
        (&answer.into(), &"accept".into())
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // The command closes its end after the limit.
        let _ = child.stdin.take().unwrap().write_all(input);
        told(&child.wait_with_output().unwrap())
    };

    let (_, out, _) = run(b"the sea");
    assert_eq!(out, "The sea is a grey door that nobody closes.\n");
    let (code, _, err) = run(&[0xff, 0xfe]);
    let problem =
        "cogwork: the input could not be read: invalid utf-8 sequence of 1 bytes from index 0\n";
    assert_eq!((code, err.as_str()), (4, problem));

    // The limit may be in the middle of a character.
    let (code, _, err) = run("é".repeat(600_000).as_bytes());
    let problem = "cogwork: the input is longer than 1048576 bytes; expected less\n";
    assert_eq!((code, err.as_str()), (4, problem));
}

#[test]
fn a_run_that_reads_its_input_can_be_interrupted() {
    let mut run = cogwork(&["run", "-q", REVIEW, "--input", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();

    std::thread::sleep(Duration::from_millis(500));
    send("INT", run.id());

    // `wait` would close the pipe.
    let input = run.stdin.take();
    // On a slow machine, the signal may come before there is a handler.
    assert!(matches!(run.wait().unwrap().code(), Some(130) | None));
    drop(input);
}

#[test]
fn a_memory_is_closed_when_the_run_ends() {
    let place = Place::with_flow(
        "
nodes:
  - id: keeper
    type: agent
    config:
      provider: rules
      rules: []
      else: Well.
      memory: {type: file, file: notes.db, recall: {remember: true}}
",
    );
    let mut run = place.command(&["run", "-q", "flow.yaml", "--input", "Well?"]);
    assert_eq!(told(&run.output().unwrap()).0, 0);

    let files = std::fs::read_dir(place.folder()).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["flow.yaml", "notes.db"]);
}

#[test]
fn a_run_that_fails_says_where_and_why() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: Hello, reply: Hi.}]}}]";
    let (code, out, err) = run(flow, &["-q", "--input", "Goodbye"]);
    assert_eq!((code, out.as_str()), (3, ""));
    insta::assert_snapshot!(err, @"cogwork: flow `flow`, node `a`: exec failed: the call to the model failed: no rule fits the last message, and there is no `else`; expected one of `Hello` in it");

    let (code, out, _) = run(flow, &["-q", "--json", "--input", "Goodbye"]);
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &result["state"]["input"]["text"]),
        (3, &"Goodbye".into())
    );
    let error = result["error"].as_str().unwrap();
    assert!(error.starts_with("flow `flow`, node `a`: exec failed"));

    let limited = ["run", "-q", "--max-steps", "1", REVIEW, "-i", "the sea"];
    let (code, _, err) = output(&limited);
    assert_eq!(code, 3);
    insta::assert_snapshot!(err, @"cogwork: flow `review`, node `critic`: the run reached its limit of 1 step before this node");
}

#[test]
fn an_answer_that_is_not_complete_is_printed_with_a_warning() {
    let at_limit = "nodes:
- id: a
  type: strategy
  config: {provider: scripted, replies: ['answer: 51'], strategy: step_back, budget: {calls: 1}}
";
    let cut_off = "nodes:
- {id: a, type: agent, config: {provider: scripted, replies: [{text: Once upon, cut_off: true}]}}
- {id: b, type: agent, config: {provider: scripted, replies: [The end.]}}
edges: [{from: a, to: b}]
";
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
        let warning = format!("cogwork: {warning}\n");
        assert_eq!(
            run(flow, &["-q", "-i", "x"]),
            (0, answer.to_owned(), warning)
        );
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

fn send(signal: &str, process: u32) {
    let process = process.to_string();
    let kill = Command::new("kill").args(["-s", signal, &process]).status();
    assert!(kill.unwrap().success());
}

/// The first node has answered, and the second waits for a server that says nothing.
#[test]
fn a_run_that_is_interrupted_tells_what_it_has() {
    for signal in ["INT", "TERM"] {
        told_after(signal);
    }
}

fn told_after(signal: &str) {
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
        std::thread::sleep(Duration::from_millis(5));
    }
    send(signal, run.id());

    let (code, out, err) = told(&run.wait_with_output().unwrap());
    let problem = "flow `flow`, node `b`: the run was cancelled at this node";
    let expected = format!("a#1\nb#2\ncogwork: {problem}\n");
    assert_eq!((code, err), (130, expected));

    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["error"], problem);
    assert_eq!(result["state"]["outputs"]["a"]["text"], "Once.");
}

#[test]
fn a_wrong_command_line_is_told_with_the_right_one() {
    assert_eq!(
        output(&["run", REVIEW, "--input", "x", "--max-steps", "0"]).0,
        2
    );
    for arguments in [&["run", REVIEW][..], &["fly"], &["check"], &[]] {
        let (code, _, err) = output(arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(err.contains("Usage: cogwork"), "{err}");
    }

    // What follows the file is most likely the input.
    let (code, _, err) = output(&["run", REVIEW, "the", "sea"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(err, @"
    error: invalid value 'the' for '[TEXT]...': expected the input of the flow after `--input`, as one argument

    For more information, try '--help'.
    ");

    let (code, out, _) = output(&["--help"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("  4  the input or the journal could not be read"),
        "{out}"
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
        let mut command = cogwork(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();

        drop(command.stdout.take());
        drop(command.stderr.take());
        assert_eq!(command.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_told() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let output = cogwork(&["schema"]).stdout(full.unwrap()).output().unwrap();
    let (code, _, err) = told(&output);
    assert_eq!(code, 4);
    insta::assert_snapshot!(err, @"cogwork: the output could not be written: No space left on device (os error 28)");
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
        let (code, out, err) = output(&arguments.collect::<Vec<_>>());
        assert_eq!((code, err.as_str()), (0, ""), "{file}");
        let out = out.lines().map(str::trim).filter(|line| !line.is_empty());
        assert!(out.eq(header), "{file}");
    }
}
