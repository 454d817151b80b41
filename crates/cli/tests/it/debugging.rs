//! Runs that are recorded, resumed and answered.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::server::{Reply, Server, request};

/// A folder with the file `flow.yaml`, in which the command runs.
struct Place(tempfile::TempDir);

/// What the command wrote, and its exit code.
struct Told {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    fn new(flow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("flow.yaml"), flow).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
        command
            .args(["run", "flow.yaml"])
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Told {
        told(self.command(arguments).output().unwrap())
    }
}

fn told(output: Output) -> Told {
    Told {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the id of the run from what the command printed at its start.
fn run_id(err: &str) -> &str {
    let (_, id) = err.split_once("run ").unwrap();
    id.split_once(';').unwrap().0
}

fn two_nodes(server: &Server) -> Place {
    let config = server.config();
    Place::new(&format!(
        "nodes:
- {{id: a, type: agent, config: {{{config}}}}}
- {{id: b, type: agent, config: {{{config}}}}}
edges: [{{from: a, to: b}}]
"
    ))
}

#[test]
fn a_killed_run_is_resumed_without_repeating_a_call() {
    let (arrived, second_call) = mpsc::channel();
    let arrived = std::sync::Mutex::new(arrived);
    let server = Server::new(move |number, _| match number {
        1 => Reply::text("One."),
        2 => {
            arrived.lock().unwrap().send(()).unwrap();
            Reply::Silence
        }
        _ => Reply::text("Two."),
    });

    let place = two_nodes(&server);
    let mut killed = place
        .command(&["--journal", "runs", "--input", "Count."])
        .spawn()
        .unwrap();
    second_call.recv().unwrap();
    killed.kill().unwrap();
    let killed = told(killed.wait_with_output().unwrap());
    assert_eq!(killed.code, -1, "killed by a signal");

    let id = run_id(&killed.err);
    let command = format!("cogwork run flow.yaml --journal runs --resume {id}\n");
    assert!(killed.err.contains(&command), "{}", killed.err);

    let resumed = place.run(&["--journal", "runs", "--resume", id]);
    assert_eq!(
        (resumed.code, resumed.out.as_str()),
        (0, "Two.\n"),
        "{}",
        resumed.err
    );
    assert_eq!(server.calls(), 3, "the first call is not repeated");

    // A run that has ended makes no calls at all.
    let again = place.run(&["--journal", "runs", "--resume", id, "--json", "--quiet"]);
    let result = json(&again.out);
    assert_eq!(
        (&result["answer"], &result["run"]),
        (&"Two.".into(), &id.into())
    );
    assert_eq!((server.calls(), again.err.as_str()), (3, ""));
}

#[test]
fn a_run_that_cannot_be_resumed_is_refused() {
    let place = Place::new("nodes: [{id: a, type: wait}]");
    let missing = place.run(&["--journal", "runs", "--resume", "7"]);
    assert_eq!(missing.code, 4);
    assert!(missing.err.contains('7'), "{}", missing.err);

    for arguments in [
        &["--resume", "7"][..],
        &["--journal", "runs"],
        &["--journal", "runs", "--resume", "7", "--input", "x"],
        &["--input", "x", "--answer", "no value"],
        &["--input", "x", "--quiet", "--stream"],
    ] {
        assert_eq!(place.run(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn a_run_that_fails_is_told_with_the_last_reply_and_how_to_resume_it() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hm., 'As I said.'], actions: [go], asks_again: 1}}]";
    let place = Place::new(flow);
    let failed = place.run(&["-q", "--journal", "runs", "--input", "Walk?", "--json"]);
    assert_eq!(failed.code, 3);

    let last = "\nthe reply:\nAs I said.\ncogwork: to resume the run: ";
    assert!(failed.err.contains(last), "{}", failed.err);
    let state = &json(&failed.out)["state"];
    assert_eq!(state["calls"], 2);
    assert_eq!(state["failures"][0]["tries"][0]["reply"], "Hm.");
}

const APPROVAL: &str = "
answer: '{writer}'
nodes:
  - {id: writer, type: agent, config: {provider: rules, rules: [{when: shorter, reply: Sea.}], else: The sea., prompt: '{input} {editor}'}}
  - {id: editor, type: wait, config: {event: approval, reason: 'Publish this? {writer}', actions: [yes, no]}}
edges:
  - {from: writer, to: editor}
  - {from: editor, action: yes, to: end}
  - {from: editor, action: no, to: writer}
";

#[test]
fn without_a_terminal_a_run_that_waits_is_answered_later() {
    let place = Place::new(APPROVAL);
    let waits = place.run(&["-q", "--journal", "runs", "--input", "the sea"]);
    assert_eq!((waits.code, waits.out.as_str()), (5, ""));

    let (reason, command) = waits.err.split_once('\n').unwrap();
    assert_eq!(
        reason,
        "cogwork: the run waits at editor/wait#2 for `approval`: Publish this? The sea."
    );
    let (start, answer) = command.split_once(" --answer ").unwrap();
    assert_eq!(answer, "approval=…\n");
    let (_, id) = start.split_once("--resume ").unwrap();

    let resume = ["--journal", "runs", "--resume", id, "-q", "--answer"];
    let object = r#"approval={"action": "no", "text": "Make it shorter."}"#;
    let waits = place.run(&[&resume[..], &[object, "--json"]].concat());
    assert_eq!(waits.code, 5, "{}", waits.err);
    let result = json(&waits.out);
    assert_eq!(result["paused"][0]["reason"], "Publish this? Sea.");
    assert_eq!((&result["run"], result.get("error")), (&id.into(), None));

    let answered = place.run(&[&resume[..], &["approval=yes"]].concat());
    assert_eq!(
        (answered.code, answered.out.as_str()),
        (0, "Sea.\n"),
        "{}",
        answered.err
    );
}

#[test]
fn answers_can_be_given_at_the_start() {
    let place = Place::new(APPROVAL);
    let answered = place.run(&["-q", "--input", "the sea", "--answer", "approval=true"]);
    assert_eq!((answered.code, answered.out.as_str()), (0, "The sea.\n"));

    let waits = place.run(&["-q", "--input", "the sea"]);
    assert_eq!(waits.code, 5);
    let hint = "cogwork: the run was not recorded; start it with `--journal DIR` to resume it with an answer, or with `--answer approval=…`\n";
    assert!(waits.err.ends_with(hint), "{}", waits.err);

    let unknown = place.run(&["-q", "--input", "the sea", "--answer", "aproval=true"]);
    assert_eq!(unknown.code, 3);
    assert!(unknown.err.contains("`approval`"), "{}", unknown.err);
}

/// Runs the command on a terminal on which these lines are typed.
fn on_a_terminal(place: &Place, arguments: &[&str], typed: &str) -> (Told, String) {
    on_a_terminal_until(place, arguments, typed, |_| false)
}

/// Runs the command on a terminal. It gets Ctrl-C once the screen is in this state.
fn on_a_terminal_until(
    place: &Place,
    arguments: &[&str],
    typed: &str,
    is_time: impl Fn(&str) -> bool + Send + 'static,
) -> (Told, String) {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let typist = File::options().read(true).write(true).open(name).unwrap();

    let child = place
        .command(arguments)
        .stdin(typist.try_clone().unwrap())
        .stderr(typist)
        .spawn()
        .unwrap();
    terminal.write_all(typed.as_bytes()).unwrap();

    let mut screen = terminal.try_clone().unwrap();
    let process = child.id().to_string();
    let shown = thread::spawn(move || {
        let mut shown = String::new();
        let mut piece = [0; 1024];
        let mut is_interrupted = false;

        // On Linux, the end of a terminal is an error.
        while let Ok(length @ 1..) = screen.read(&mut piece) {
            shown.push_str(&String::from_utf8_lossy(
                piece.get(..length).unwrap_or_default(),
            ));

            if !is_interrupted && is_time(&shown) {
                is_interrupted = true;
                let kill = Command::new("kill").args(["-INT", &process]).status();
                assert!(kill.unwrap().success());
            }
        }

        shown
    });

    let told = told(child.wait_with_output().unwrap());
    (told, shown.join().unwrap())
}

#[test]
fn on_a_terminal_the_command_asks() {
    let place = Place::new(APPROVAL);
    let typed = "perhaps\n\n{\"action\": \"no\", \"text\": \"shorter\"}\ny\n";
    let (told, screen) = on_a_terminal(&place, &["-q", "--input", "the sea"], typed);

    assert_eq!((told.code, told.out.as_str()), (0, "Sea.\n"), "{screen}");
    assert!(
        screen.contains("editor/wait#2 waits for `approval`"),
        "{screen}"
    );
    assert!(screen.contains("Publish this? The sea."), "{screen}");
    assert!(
        screen.contains("`perhaps` names no action; expected `yes` or `no`"),
        "{screen}"
    );
    assert!(screen.contains("Publish this? Sea."), "{screen}");

    // Ctrl-D: there is no answer.
    let arguments = ["--journal", "runs", "--input", "the sea"];
    let (told, screen) = on_a_terminal(&place, &arguments, "\u{4}");
    assert_eq!(told.code, 5, "{screen}");
    assert!(
        screen.contains("cogwork: to answer: cogwork run flow.yaml"),
        "{screen}"
    );
}

#[test]
fn ctrl_c_at_a_question_interrupts_the_run() {
    let place = Place::new(APPROVAL);
    let arguments = ["-q", "--input", "the sea"];
    let is_asked = |screen: &str| screen.contains("Publish this?");
    let (told, screen) = on_a_terminal_until(&place, &arguments, "", is_asked);

    assert_eq!(told.code, 130, "{screen}");
}

#[test]
fn a_wait_that_times_out_on_a_terminal_goes_on() {
    let flow = "nodes: [{id: a, type: wait, config: {timeout: 0.2}}]";
    let place = Place::new(flow);
    let (told, screen) = on_a_terminal(&place, &["-q", "--input", "x", "--json"], "");
    assert_eq!(told.code, 0, "{screen}");
    assert_eq!(json(&told.out)["action"], "timed out");
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(json)
        .collect()
}

/// The types of the events in a record, and of what they report.
fn events(lines: &[Value]) -> Vec<&str> {
    let events = lines.iter().skip(1).map(|line| {
        let reported = line.pointer("/report/type").or_else(|| line.get("type"));
        reported.and_then(Value::as_str).unwrap_or_default()
    });
    events.filter(|event| *event != "phase_finished").collect()
}

#[test]
fn a_record_has_every_request_and_reply_and_no_secrets() {
    let server = Server::new(|number, _| match number {
        1 => Reply::Pieces(vec!["my ca".to_owned(), "nary-8731 is safe".to_owned()]),
        _ => Reply::text("ACTION: go"),
    });
    let config = server.config();
    let flow = format!(
        "nodes: [{{id: a, type: agent, config: {{{config}, api_key: '${{KEY}}', role: 'Keep ${{KEY}}', actions: [go, stop]}}}}]"
    );

    let place = Place::new(&flow);
    let run = |arguments: &[&str]| {
        let mut command = place.command(&[arguments, &["--input", "Go?"]].concat());
        told(command.env("KEY", "canary-8731").output().unwrap())
    };
    let first = run(&["--record", "run.trace"]);
    assert_eq!(first.code, 0, "{}", first.err);

    let path = place.path("run.trace");
    let recorded = lines(&path);
    assert_eq!(
        events(&recorded),
        [
            "run_started",
            "step_entered",
            "message",
            "message",
            "chat",
            "judged",
            "message",
            "message",
            "chat",
            "judged",
            "ended"
        ]
    );
    let chats: Vec<_> = recorded
        .iter()
        .map(|line| &line["report"])
        .filter(|report| report["type"] == "chat")
        .collect();
    assert_eq!(chats[0]["reply"], "my ${KEY} is safe");

    // The second request repeats the first, with the reply and the complaint behind it.
    assert_eq!(chats[1]["messages"].to_string(), "[[0,3]]");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("canary"), "{text}");

    // Another run isn't added, and only the user can read the file.
    let second = run(&["--record", "run.trace"]);
    assert_eq!(second.code, 4);
    assert!(
        second.err.contains("is the record of the run"),
        "{}",
        second.err
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);

    let third = run(&["--record", "other.trace", "--no-content"]);
    assert_eq!(third.code, 0, "{}", third.err);
    let text = fs::read_to_string(place.path("other.trace")).unwrap();
    assert!(!text.contains("ACTION") && !text.contains("Go?"), "{text}");
}

#[test]
fn a_run_with_a_journal_is_recorded_next_to_it() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hi, Hi, Hi]}}]";
    let place = Place::new(flow);

    let ran = place.run(&["--journal", "runs", "--input", "Go?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let runs = place.path("runs");
    let names = || {
        let names = fs::read_dir(&runs).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.ends_with(".trace"))
            .collect::<Vec<_>>()
    };
    let recorded = names();
    assert_eq!(recorded.len(), 1, "{recorded:?}");
    let header = &lines(&runs.join(&recorded[0]))[0];
    assert_eq!(header["cogwork_record"], 1);
    assert_eq!(
        format!("{}.trace", header["run"].as_str().unwrap()),
        recorded[0]
    );

    // It isn't listed as a run of its own.
    let listed = std::process::Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(["runs", "--journal"])
        .arg(&runs)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(listed.stdout)
            .unwrap()
            .matches("ended")
            .count(),
        1
    );

    let without = ["--journal", "runs", "--no-record", "--input", "Go?"];
    assert_eq!(place.run(&without).code, 0);
    assert_eq!(names(), recorded);
}

/// The record of a complete step makes the records of its calls unnecessary, and an attempt that
/// failed isn't made again.
#[test]
fn a_resumed_run_replays_whole_steps() {
    let server = Server::new(|number, _| match number {
        1 => Reply::text("One."),
        2 => Reply::Refusal("no".to_owned()),
        _ => Reply::text("Two."),
    });
    let config = server.config();
    let place = Place::new(&format!(
        "
nodes:
  - {{id: a, type: agent, config: {{{config}}}}}
  - {{id: b, type: agent, config: {{{config}}}}}
edges: [{{from: a, to: b}}]
"
    ));

    let failed = place.run(&["--journal", "runs", "--input", "Go?"]);
    assert_eq!(failed.code, 3, "{}", failed.err);
    let resume = ["--journal", "runs", "--resume", run_id(&failed.err)];
    let resumed = place.run(&resume);
    assert_eq!(resumed.out, "Two.\n", "{}", resumed.err);

    let again = place.run(&[&resume[..], &["--record", "run.trace"]].concat());
    assert_eq!((again.out.as_str(), server.calls()), ("Two.\n", 3));

    let recorded = lines(&place.path("run.trace"));
    let replayed: Vec<_> = recorded
        .iter()
        .filter(|line| line["type"] == "replayed")
        .map(|line| line["step"].as_str().unwrap())
        .collect();
    assert_eq!(replayed, ["flow/a#1", "flow/b#2"]);
}

#[test]
fn a_record_is_bounded() {
    let long = "x".repeat(300_000);
    let reply = long.clone();
    let server = Server::new(move |_, _| Reply::text(&reply));
    let config = server.config();
    let place = Place::new(&format!(
        "nodes: [{{id: a, type: agent, config: {{{config}}}}}]"
    ));

    let ran = place.run(&["-q", "--record", "run.trace", "--input", "Go?"]);
    assert_eq!(
        (ran.code, ran.out.len()),
        (0, long.len() + 1),
        "{}",
        ran.err
    );
    let size = fs::metadata(place.path("run.trace")).unwrap().len();
    assert!(size < 100_000, "{size} bytes");

    let nowhere = place.run(&["-q", "--record", "no/folder", "--input", "Go?"]);
    assert_eq!((nowhere.code, server.calls()), (4, 1));
    assert!(
        nowhere
            .err
            .contains("the record could not be opened: no/folder"),
        "{}",
        nowhere.err
    );

    if Path::new("/dev/full").exists() {
        let full = place.run(&["-q", "--record", "/dev/full", "--input", "Go?"]);
        assert_eq!(full.code, 4);
        assert!(
            full.err
                .contains("the record could not be opened: /dev/full"),
            "{}",
            full.err
        );
    }
}

#[test]
fn a_failed_call_is_recorded() {
    let flow =
        "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: x, reply: y}]}}]";
    let place = Place::new(flow);
    place.run(&["-q", "--record", "run.trace", "--input", "Go?"]);
    let recorded = lines(&place.path("run.trace"));

    assert_eq!(
        events(&recorded),
        [
            "run_started",
            "step_entered",
            "message",
            "chat_failed",
            "failed"
        ]
    );
    assert!(recorded.iter().any(|line| {
        line["report"]["error"]
            .as_str()
            .is_some_and(|error| error.contains("no rule"))
    }));
}

#[test]
fn a_stream_shows_replies_as_they_grow_without_secrets() {
    let secret = "canary-87310123456789";
    let text = format!(
        "{}{secret}{}",
        "The sea. ".repeat(50),
        " The end.".repeat(50)
    );
    let pieces: Vec<_> = text.chars().map(String::from).collect();
    let server = Server::new(move |_, _| Reply::Pieces(pieces.clone()));
    let config = server.config();
    let flow =
        format!("nodes: [{{id: a, type: agent, config: {{{config}, api_key: '${{KEY}}'}}}}]");

    let place = Place::new(&flow);
    let mut command = place.command(&["--stream", "--input", "Go?"]);
    let told = told(command.env("KEY", secret).output().unwrap());
    assert_eq!((told.code, told.out.trim_end()), (0, text.as_str()));
    assert_eq!(
        told.err,
        format!("a#1\n{}\n", text.replace(secret, "${KEY}"))
    );
}

/// The first piece is shown while the server has not sent the others.
#[test]
fn a_stream_shows_the_first_piece_at_once() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let flow = format!(
        "nodes: [{{id: a, type: agent, config: {{provider: openai, name: m, base_url: 'http://{address}'}}}}]"
    );
    let place = Place::new(&flow);
    let mut child = place
        .command(&["--stream", "--input", "Go?"])
        .spawn()
        .unwrap();

    let (mut stream, _) = server.accept().unwrap();
    let piece =
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": "Once. ".repeat(100)}}]});
    request(&mut stream).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream
        .write_all(format!("{head}data: {piece}\n\n").as_bytes())
        .unwrap();

    let mut err = child.stderr.take().unwrap();
    let mut shown = [0; 100];
    err.read_exact(&mut shown).unwrap();
    assert!(String::from_utf8_lossy(&shown).starts_with("a#1\nOnce. Once. "));

    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn json_has_every_visit_in_order() {
    let place = Place::new(APPROVAL);
    let arguments = [
        "-q",
        "--json",
        "--input",
        "the sea",
        "--answer",
        "approval=no",
        "--answer",
        "approval=yes",
    ];
    let told = place.run(&arguments);
    let result = json(&told.out);
    let visits = result["state"]["visits"].as_array().unwrap();

    let nodes: Vec<_> = visits
        .iter()
        .map(|visit| visit["node"].as_str().unwrap())
        .collect();
    assert_eq!(nodes, ["writer", "editor", "writer", "editor"]);
    assert_eq!(visits[0]["tries"][0]["reply"], "The sea.");
    assert_eq!(visits[0]["spent"]["calls"], 1);
    assert_eq!(visits[1]["output"]["text"], "no");
}

/// A server that repeats the key it was sent.
#[test]
fn no_key_is_in_the_journal_the_record_or_the_output() {
    let server = Server::new(|_, _| Reply::Refusal("wrong key canary-8731".to_owned()));
    let config = server.config();
    let place = Place::new(&format!(
        "nodes: [{{id: a, type: agent, config: {{{config}, role: '${{KEY}}'}}}}]"
    ));

    let arguments = [
        "--journal",
        "runs",
        "--record",
        "trace",
        "--input",
        "Go?",
        "--json",
    ];
    let failed = told(
        place
            .command(&arguments)
            .env("KEY", "canary-8731")
            .output()
            .unwrap(),
    );
    assert_eq!((failed.code, server.calls()), (3, 1));

    let record = records(&place);
    let texts = record.matches("wrong key ${KEY}").count();
    assert_eq!(texts, 3, "of the call, the attempt and the run: {record}");

    let trace = fs::read_to_string(place.path("trace")).unwrap();
    for shown in [record, trace, failed.out, failed.err] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}

/// Prompts contain the key, and the models don't repeat it.
#[test]
fn no_key_of_a_prompt_is_in_the_record() {
    let server = Server::new(|number, _| match number {
        1 => Reply::text("Fine."),
        2 => Reply::text(
            "current_thinking: 4\nplanning: [{description: Conclusion, status: Done, result: '4'}]\nnext_thought_needed: false",
        ),
        _ => Reply::Refusal("no".to_owned()),
    });
    let config = format!("{}, api_key: '${{KEY}}'", server.config());
    let place = Place::new(&format!(
        "
nodes:
  - {{id: a, type: agent, config: {{{config}, role: 'Keep ${{KEY}}', prompt: '${{KEY}} {{input}}'}}}}
  - {{id: b, type: chain_of_thought, config: {{{config}, prompt: '${{KEY}} {{a}}'}}}}
  - {{id: c, type: wait, config: {{reason: 'Is {{b}} ${{KEY}}?'}}}}
  - id: d
    type: subflow
    config:
      prompt: '${{KEY}} {{c}}'
      nodes: [{{id: e, type: strategy, config: {{{config}, strategy: step_back, prompt: '{{input}} ${{KEY}}'}}}}]
edges: [{{from: a, to: b}}, {{from: b, to: c}}, {{from: c, to: d}}]
"
    ));
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        told(command.env("KEY", "canary-8731").output().unwrap())
    };

    let waits = run(&["--journal", "runs", "--record", "trace", "--input", "Go?"]);
    assert_eq!(waits.code, 5, "{}", waits.err);
    let resume = ["--journal", "runs", "--resume", run_id(&waits.err)];
    let answer = ["--record", "trace", "--json", "--answer", "c=Yes."];
    let failed = run(&[&resume[..], &answer].concat());
    assert_eq!((failed.code, server.calls()), (3, 3), "{}", failed.err);

    let record = records(&place);
    assert!(record.contains("${KEY}?"), "{record}");
    let trace = fs::read_to_string(place.path("trace")).unwrap();
    for shown in [record, trace, waits.err, failed.out, failed.err] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}

/// The text of all files in the folder of records.
fn records(place: &Place) -> String {
    let files = fs::read_dir(place.path("runs")).unwrap();
    files
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect()
}
