//! Runs that wait for answers, which come on the terminal, as arguments or later.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::APPROVAL;
use crate::support::{Place, Told};

#[test]
fn without_a_terminal_a_run_that_waits_is_answered_later() {
    let place = Place::with_flow(APPROVAL);
    let waits = place.start(&[]);
    assert_eq!((waits.code, waits.out.as_str()), (5, ""));
    insta::assert_snapshot!(waits.err, @"
    cogwork: the run waits at editor#2 for `approval`: Publish this? The sea.
    cogwork: to answer: cogwork run flow.yaml --journal runs --resume 7 --answer approval=…
    ");

    let object = r#"approval={"action": "no", "text": "Make it shorter."}"#;
    let waits = place.resume(&["--answer", object, "--json"]);
    assert_eq!(waits.code, 5, "{}", waits.err);
    let result = waits.json();
    assert_eq!(result["paused"][0]["reason"], "Publish this? Sea.");
    assert_eq!((&result["run"], result.get("error")), (&"7".into(), None));

    place
        .resume(&["--answer", "approval=yes"])
        .answers("Sea.\n");
}

#[test]
fn answers_can_be_given_at_the_start() {
    let place = Place::with_flow(APPROVAL);
    let run = |more: &[&str]| place.run(&[&["-q", "--input", "the sea"], more].concat());
    run(&["--answer", "approval=true"]).answers("The sea.\n");

    let hint = "cogwork: the run was not recorded; start it with `--journal PLACE` to resume it with an answer, or with `--answer approval=…`\n";
    run(&[]).fails(5, hint);
    let told = "nothing waits for the event `aproval`; the nodes wait for `approval`\n";
    run(&["--answer", "aproval=true"]).fails(4, told);
}

#[test]
fn of_several_answers_none_is_delivered_if_one_is_refused() {
    let place = Place::with_flow(APPROVAL);
    place.start(&["--answer", "aproval=yes"]).fails(4, "");
    let waits = "Publish this? The sea.";
    // The run was not started before.
    place.start(&[]).fails(5, waits);

    for wrong in ["aproval=yes", "approval=perhaps"] {
        let two = ["--answer", "approval=no", "--answer", wrong];
        place.resume(&two).fails(3, "");
    }
    place.resume(&[]).fails(5, waits);

    let yes = ["--answer", "approval=yes"];
    place.resume(&yes).answers("The sea.\n");
    let again = place.resume(&yes);
    again.fails(3, "the run `7` has ended");
    for wrong in ["the journal failed", "to resume"] {
        assert!(!again.err.contains(wrong), "{}", again.err);
    }
}

#[test]
fn an_event_with_a_key_is_answered_as_the_hint_says() {
    let wait = "type: wait, config: {event: approval, key: '{input}', actions: [yes, no]}";
    let place = Place::with_flow(&format!("nodes: [{{id: editor, {wait}}}]"));
    insta::assert_snapshot!(place.start(&[]).err, @"
    cogwork: the run waits at editor#1 for `approval the sea`
    cogwork: to answer: cogwork run flow.yaml --journal runs --resume 7 --answer 'approval the sea=…'
    ");

    let answer = "approval the sea=yes";
    place.resume(&["--answer", answer]).answers("yes\n");

    let early = ["-q", "--input", "c", "--answer", "approval c=no"];
    place.run(&early).answers("no\n");
    let without = place.run(&["-q", "--input", "c", "--answer", "approval=no"]);
    without.fails(4, "the nodes wait for `approval …`");
}

#[test]
fn an_answer_that_looks_like_a_number_is_not_written_differently() {
    let place = Place::with_flow("nodes: [{id: version, type: wait}]");
    for number in ["1.10", "1e3", "98765432109876543210987", "7"] {
        let answer = format!("version={number}");
        let answered = place.run(&["-q", "--input", "x", "--answer", &answer]);
        answered.answers(&format!("{number}\n"));
    }
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
            shown += &String::from_utf8_lossy(&piece[..length]);

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
        "editor#2 waits for `approval`",
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
    assert_eq!(told.json()["action"], "timed out");
}

/// The run can still be answered later.
#[test]
fn a_question_ends_at_the_deadline_of_the_run() {
    let place = Place::with_flow(APPROVAL);
    let run = "-q --timeout 1 --input x --journal runs --id 7";
    let run: Vec<_> = run.split(' ').collect();
    let (told, screen) = on_a_terminal(&place, &run, "");
    assert_eq!(told.code, 5, "{screen}");
    for part in [
        "cogwork: the time of --timeout is over",
        "--resume 7 --answer approval=…",
    ] {
        assert!(screen.contains(part), "{screen}");
    }
}

#[test]
fn an_answer_after_the_time_of_its_wait_is_refused_as_late() {
    let flow = "nodes: [{id: go, type: wait, config: {timeout: 0.5}}]";
    let place = Place::with_flow(flow);
    place
        .start(&[])
        .fails(5, "cogwork: the run waits at go#1 for `go` until 20");
    let listed = place.line("runs --journal runs");
    assert!(
        listed.out.contains(": waits for `go` until 20"),
        "{listed:?}"
    );

    thread::sleep(Duration::from_millis(600));
    let late = place.resume(&["--answer", "go=Yes"]);
    late.fails(
        3,
        "the answer to `go` cannot be used any more: its wait has timed out",
    );
    assert_eq!(place.resume(&["--json"]).json()["action"], "timed out");
}
