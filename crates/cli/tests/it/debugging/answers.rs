//! Runs that wait for answers, which come on the terminal, as arguments or later.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{APPROVAL, json};
use crate::support::{Place, Told};

#[test]
fn without_a_terminal_a_run_that_waits_is_answered_later() {
    let place = Place::with_flow(APPROVAL);
    let waits = place.run(&["-q", "--journal", "runs", "--input", "the sea", "--id", "7"]);
    assert_eq!((waits.code, waits.out.as_str()), (5, ""));
    insta::assert_snapshot!(waits.err, @"
    cogwork: the run waits at editor/wait#2 for `approval`: Publish this? The sea.
    cogwork: to answer: cogwork run flow.yaml --journal runs --resume 7 --answer approval=…
    ");

    let resume = ["--journal", "runs", "--resume", "7", "-q", "--answer"];
    let object = r#"approval={"action": "no", "text": "Make it shorter."}"#;
    let waits = place.run(&[&resume[..], &[object, "--json"]].concat());
    assert_eq!(waits.code, 5, "{}", waits.err);
    let result = json(&waits.out);
    assert_eq!(result["paused"][0]["reason"], "Publish this? Sea.");
    assert_eq!((&result["run"], result.get("error")), (&"7".into(), None));

    let answered = place.run(&[&resume[..], &["approval=yes"]].concat());
    assert_eq!((answered.code, answered.out.as_str()), (0, "Sea.\n"));
}

#[test]
fn answers_can_be_given_at_the_start() {
    let place = Place::with_flow(APPROVAL);
    let answered = place.run(&["-q", "--input", "the sea", "--answer", "approval=true"]);
    assert_eq!((answered.code, answered.out.as_str()), (0, "The sea.\n"));

    let waits = place.run(&["-q", "--input", "the sea"]);
    assert_eq!(waits.code, 5);
    let hint = "cogwork: the run was not recorded; start it with `--journal PLACE` to resume it with an answer, or with `--answer approval=…`\n";
    assert!(waits.err.ends_with(hint), "{}", waits.err);

    let unknown = place.run(&["-q", "--input", "the sea", "--answer", "aproval=true"]);
    let told = "cogwork: --answer: no node waits for the event `aproval` at the start; the flow waits for `approval`\n";
    assert_eq!((unknown.code, unknown.err.as_str()), (4, told));
}

#[test]
fn of_several_answers_none_is_delivered_if_one_is_refused() {
    let place = Place::with_flow(APPROVAL);
    let start = ["-q", "--journal", "runs", "--input", "the sea", "--id", "7"];
    let unknown = place.run(&[&start[..], &["--answer", "aproval=yes"]].concat());
    assert_eq!(unknown.code, 4);
    assert_eq!(place.run(&start).code, 5, "the run was not started before");

    let resume = ["--journal", "runs", "--resume", "7", "-q"];
    let two = ["--answer", "approval=no", "--answer", "aproval=yes"];
    assert_eq!(place.run(&[&resume[..], &two].concat()).code, 4);
    let waits = place.run(&resume);
    assert!(
        waits.err.contains("Publish this? The sea."),
        "{}",
        waits.err
    );

    let answered = place.run(&[&resume[..], &["--answer", "approval=yes"]].concat());
    assert_eq!(answered.out, "The sea.\n");
    let again = place.run(&[&resume[..], &["--answer", "approval=yes"]].concat());
    assert!(again.err.contains("the run `7` has ended"), "{}", again.err);
    assert!(!again.err.contains("the journal failed"), "{}", again.err);
}

#[test]
fn an_event_whose_key_has_an_equals_sign_is_answered_as_the_hint_says() {
    let wait = "type: wait, config: {event: approval, key: '{input}', actions: [yes, no]}";
    let place = Place::with_flow(&format!("nodes: [{{id: editor, {wait}}}]"));
    let waits = place.run(&["-q", "--journal", "runs", "--input", "a=b", "--id", "7"]);
    insta::assert_snapshot!(waits.err, @r#"
    cogwork: the run waits at editor/wait#1 for `approval a=b`
    cogwork: to answer: cogwork run flow.yaml --journal runs --resume 7 --answer '"approval a=b"=…'
    "#);

    let resume = ["--journal", "runs", "--resume", "7", "-q", "--answer"];
    let answered = place.run(&[&resume[..], &[r#""approval a=b"=yes"#]].concat());
    assert_eq!((answered.code, answered.out.as_str()), (0, "yes\n"));

    let early = ["-q", "--input", "c", "--answer", "approval c=no"];
    assert_eq!(place.run(&early).out, "no\n");
    let without = place.run(&["-q", "--input", "c", "--answer", "approval=no"]);
    assert_eq!(without.code, 4);
    let waits = "the flow waits for `approval …`";
    assert!(without.err.contains(waits), "{}", without.err);
}

#[test]
fn an_answer_that_looks_like_a_number_is_not_written_differently() {
    let place = Place::with_flow("nodes: [{id: version, type: wait}]");
    for number in ["1.10", "1e3", "98765432109876543210987", "7"] {
        let answer = format!("version={number}");
        let answered = place.run(&["-q", "--input", "x", "--answer", &answer]);
        assert_eq!(answered.out.trim_end(), number);
    }
}

#[test]
fn a_place_of_an_unknown_kind_is_refused() {
    let place = Place::with_flow(APPROVAL);
    let journal = "mysql://me@localhost/runs";
    let refused = place.run(&["-q", "--input", "x", "--journal", journal]);
    assert_eq!(refused.code, 4);
    let told = "`mysql://` isn't a place of journals";
    assert!(refused.err.contains(told), "{}", refused.err);
    assert!(!place.path("mysql:").exists());
}

/// Runs the command on a terminal on which these lines are typed.
pub(crate) fn on_a_terminal(place: &Place, arguments: &[&str], typed: &str) -> (Told, String) {
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
        .run_command(arguments)
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

    let told = Told::of(child.wait_with_output().unwrap());
    (told, shown.join().unwrap())
}

#[test]
fn on_a_terminal_the_command_asks() {
    let place = Place::with_flow(APPROVAL);
    let typed = "perhaps\n\n{\"action\": \"no\", \"text\": \"shorter\"}\ny\n";
    let (told, screen) = on_a_terminal(&place, &["-q", "--input", "the sea"], typed);

    assert_eq!((told.code, told.out.as_str()), (0, "Sea.\n"), "{screen}");
    for shown in [
        "editor/wait#2 waits for `approval`",
        "Publish this? The sea.",
        "`perhaps` names no action; expected `yes` or `no`",
        "Publish this? Sea.",
    ] {
        assert!(screen.contains(shown), "{screen}");
    }

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
    let place = Place::with_flow(APPROVAL);
    let arguments = ["-q", "--input", "the sea"];
    let is_asked = |screen: &str| screen.contains("Publish this?");
    let (told, screen) = on_a_terminal_until(&place, &arguments, "", is_asked);

    assert_eq!(told.code, 130, "{screen}");
}

#[test]
fn a_wait_that_times_out_on_a_terminal_goes_on() {
    let flow = "nodes: [{id: a, type: wait, config: {timeout: 0.2}}]";
    let place = Place::with_flow(flow);
    let (told, screen) = on_a_terminal(&place, &["-q", "--input", "x", "--json"], "");
    assert_eq!(told.code, 0, "{screen}");
    assert_eq!(json(&told.out)["action"], "timed out");
}

/// The run can still be answered later.
#[test]
fn a_question_ends_at_the_deadline_of_the_run() {
    let place = Place::with_flow(APPROVAL);
    let run = [
        "-q",
        "--timeout",
        "1",
        "--input",
        "x",
        "--journal",
        "runs",
        "--id",
        "7",
    ];
    let (told, screen) = on_a_terminal(&place, &run, "");
    assert_eq!(told.code, 5, "{screen}");
    assert!(
        screen.contains("cogwork: the time of --timeout is over"),
        "{screen}"
    );
    assert!(
        screen.contains("--resume 7 --answer approval=…"),
        "{screen}"
    );
}

#[test]
fn an_answer_after_the_time_of_its_wait_is_refused_as_late() {
    let flow = "nodes: [{id: go, type: wait, config: {timeout: 0.5}}]";
    let place = Place::with_flow(flow);
    let waits = place.run(&["-q", "--journal", "runs", "--id", "7", "--input", "x"]);
    let hint = "cogwork: the run waits at go/wait#1 for `go` until 20";
    assert!(waits.err.starts_with(hint), "{}", waits.err);
    let listed = place.line("runs --journal runs");
    assert!(
        listed.out.contains(": waits for `go` until 20"),
        "{listed:?}"
    );

    thread::sleep(Duration::from_millis(600));
    let resume = ["-q", "--journal", "runs", "--resume", "7", "--json"];
    let late = place.run(&[&resume[..], &["--answer", "go=Yes"]].concat());
    let problem = "the answer to `go` cannot be used any more: its wait has timed out";
    assert!(late.code == 3 && late.err.contains(problem), "{late:?}");
    assert_eq!(json(&place.run(&resume).out)["action"], "timed out");
}
