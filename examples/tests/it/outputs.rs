//! Each example prints what its header says. `UPDATE_OUTPUTS=1 cargo test -p cogwork-examples --test
//! outputs` writes the headers anew.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::program;

const BEGIN: &str = "//! ```text\n";
const END: &str = "//! ```\n";

/// What the example prints with no server named, neither here nor by whoever runs the tests, and with
/// a folder for temporary files of its own. `read_reply` reads a reply, the others nothing.
fn output(name: &str, arguments: &[&str], folder: &Path) -> String {
    let input = match name {
        "read_reply" => fs::File::open("replies/faulty.txt")
            .expect("the reply can be opened")
            .into(),
        _ => Stdio::null(),
    };

    let run = program::example(name)
        .stdin(input)
        .args(arguments)
        .envs(["TMPDIR", "TMP", "TEMP"].map(|variable| (variable, folder)))
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_MODEL")
        .env_remove("OPENAI_API_KEY")
        .output()
        .expect("the example can be started");

    assert!(
        run.status.success(),
        "{name} failed:\n{}",
        String::from_utf8_lossy(&run.stderr)
    );

    without_times(&String::from_utf8(run.stdout).expect("an example prints text"))
}

/// Seconds are the one thing that differs from run to run.
fn without_times(text: &str) -> String {
    let is_time =
        |word: &str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let line = |line: &str| match line
        .strip_suffix(" s")
        .and_then(|rest| rest.rsplit_once(' ').or(Some(("", rest))))
    {
        Some((before, time)) if is_time(time) => format!("{before} 0.0 s").trim_start().to_owned(),
        _ => line.trim_end().to_owned(),
    };

    text.trim_end()
        .lines()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a person sees who starts the example so often, with these arguments.
fn session(name: &str, starts: &[&[&str]]) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let shown = starts.iter().map(|arguments| {
        let typed = if arguments.is_empty() {
            String::new()
        } else {
            format!(" -- {}", arguments.join(" "))
        };

        let printed = output(name, arguments, folder.path());
        format!("$ cargo run --example {name}{typed}\n{printed}\n")
    });

    shown.collect::<String>().trim_end().to_owned()
}

pub(crate) fn check(file: &str) {
    check_session(file, &[]);
}

/// `starts`: the arguments of each start; none for a single start without any.
fn check_session(file: &str, starts: &[&[&str]]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let name = file
        .strip_prefix("cookbook/")
        .or_else(|| file.split_once('_').map(|(_, name)| name))
        .and_then(|name| name.strip_suffix(".rs"))
        .expect("NN_name.rs or cookbook/name.rs");
    let source = fs::read_to_string(&path).expect("the example can be read");
    let (before, rest) = source
        .split_once(BEGIN)
        .expect("the header has a block of output");
    let (block, after) = rest.split_once(END).expect("the block ends");

    let written: Vec<_> = block
        .lines()
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or("")
        })
        .collect();

    let printed = match starts {
        [] => output(name, &[], &env::temp_dir()),
        starts => session(name, starts),
    };
    if env::var_os("UPDATE_OUTPUTS").is_some() {
        let block: String = printed
            .lines()
            .map(|line| format!("{}\n", format!("//! {line}").trim_end()))
            .collect();
        fs::write(&path, format!("{before}{BEGIN}{block}{END}{after}"))
            .expect("the example can be written");
    } else {
        assert_same(&written.join("\n"), &printed, file);
    }
}

/// The first line that differs says more than two whole texts.
fn assert_same(written: &str, printed: &str, file: &str) {
    for (number, (written, printed)) in (1..).zip(written.lines().zip(printed.lines())) {
        assert_eq!(
            written, printed,
            "{file}: line {number} of the output in the header"
        );
    }

    assert_eq!(
        written.lines().count(),
        printed.lines().count(),
        "{file}: lines of output in the header"
    );
}

#[test]
fn quickstart() {
    check("01_quickstart.rs");
}

#[test]
fn hello_flow() {
    check("02_hello_flow.rs");
}

#[test]
fn custom_backend() {
    check("03_custom_backend.rs");
}

#[test]
fn cot_in_a_larger_flow() {
    check("04_cot_in_a_larger_flow.rs");
}

#[test]
fn plan_tour() {
    check("05_plan_tour.rs");
}

#[test]
fn resume_a_saved_state() {
    check("06_resume_a_saved_state.rs");
}

#[test]
fn batch_and_branches() {
    check("07_batch_and_branches.rs");
}

#[test]
fn crash_and_resume() {
    check("08_crash_and_resume.rs");
}

#[test]
fn pause_for_a_person() {
    check_session("09_pause_for_a_person.rs", &[&[], &[], &["yes"]]);
}

#[test]
fn watch_a_run() {
    check("10_watch_a_run.rs");
}

#[test]
fn read_reply() {
    check("11_read_reply.rs");
}

#[test]
fn stage_walk() {
    check("12_stage_walk.rs");
}

#[test]
fn stream_a_turn() {
    check("13_stream_a_turn.rs");
}

#[test]
fn reflection() {
    check("14_reflection.rs");
    let shown = |file: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::read_to_string(path).expect("the file can be read")
    };
    let header = shown("14_reflection.rs")
        .replace("//! ", "")
        .replace("//!", "");
    let block = header
        .split("```")
        .nth(1)
        .expect("the header has a block of output");

    assert!(
        shown("../docs/guide/thinking.md").contains(block),
        "docs/guide/thinking.md shows another output"
    );
}

#[test]
fn own_thinking_mode() {
    check("15_own_thinking_mode.rs");
}

#[test]
fn strategies_by_themselves() {
    check("16_strategies_by_themselves.rs");
}

#[test]
fn react_calculator() {
    check("17_react_calculator.rs");
}

#[test]
fn vote_over_paths() {
    check("18_vote_over_paths.rs");
}

#[test]
fn game_of_24() {
    check("19_game_of_24.rs");
}

#[test]
fn agents() {
    check("21_agents.rs");
}

#[test]
fn the_quickstart_lists_its_settings() {
    let folder = env::temp_dir();
    let help = output("quickstart", &["--help"], &folder);
    for setting in [
        "PROBLEM",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "OPENAI_API_KEY",
    ] {
        assert!(help.contains(setting), "{help}");
    }

    assert_eq!(help, output("quickstart", &["-h"], &folder));
    assert!(!help.contains("Thought 1"), "{help}");
}

#[test]
fn a_problem_that_was_not_solved_is_not_shown_with_an_answer() {
    let folder = env::temp_dir();
    let unsolved = output("quickstart", &["What is love?"], &folder);
    assert!(!unsolved.lines().any(|line| line == "Answer"), "{unsolved}");

    let (_, end) = unsolved
        .split_once("\nEnded without a conclusion\n")
        .expect("the last part has a title");
    assert!(end.starts_with("I cannot answer this problem: "), "{end}");
}

#[test]
fn server_sent_events() {
    check("22_server_sent_events.rs");
}

#[test]
fn tools_from_a_server() {
    check("23_tools_from_a_server.rs");
}

#[test]
fn mcp_server() {
    check("24_mcp_server.rs");
}

#[test]
fn typed_answer() {
    check("26_typed_answer.rs");
}

#[test]
fn send_traces() {
    check("27_send_traces.rs");
}

#[test]
fn trace_a_run() {
    check("28_trace_a_run.rs");
}

#[test]
fn fork_a_run() {
    check("29_fork_a_run.rs");
}

#[test]
fn tools_in_the_loop() {
    check_session("20_tools_in_the_loop.rs", &[&[], &["yes"], &[], &["no"]]);
}
