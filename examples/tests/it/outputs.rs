//! Each example prints what its header says. `UPDATE_OUTPUTS=1 cargo test -p cogwork-examples --test it outputs`
//! writes the headers anew.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::program;

const BEGIN: &str = "//! ```text\n";
const END: &str = "//! ```\n";

/// A program, and its first argument if it is one of several examples.
#[derive(Clone, Copy)]
pub(crate) struct Example<'a> {
    pub(crate) program: &'a str,
    pub(crate) name: Option<&'a str>,
}

impl Example<'_> {
    fn file(self) -> String {
        match (self.program, self.name) {
            (program, Some(name)) => format!("{program}/{name}.rs"),
            ("quickstart", None) => "quickstart/quickstart.rs".to_owned(),
            (program, None) => format!("{program}.rs"),
        }
    }

    /// Starts the example with a folder for temporary files of its own. `read_reply` reads a reply, the others nothing.
    fn start(self, arguments: &[&str], folder: &Path) -> Output {
        let input = match self.program {
            "read_reply" => fs::File::open("replies/faulty.txt")
                .expect("the reply can be opened")
                .into(),
            _ => Stdio::null(),
        };

        program::example(self.program)
            .stdin(input)
            .args(self.name)
            .args(arguments)
            .envs(["TMPDIR", "TMP", "TEMP"].map(|variable| (variable, folder)))
            .output()
            .expect("the example can be started")
    }

    fn output(self, arguments: &[&str], folder: &Path) -> String {
        let run = self.start(arguments, folder);

        assert!(
            run.status.success(),
            "{} failed:\n{}",
            self.file(),
            String::from_utf8_lossy(&run.stderr)
        );

        without_times(&String::from_utf8(run.stdout).expect("an example prints text"))
    }

    /// What a person sees who starts the example so often, with these arguments.
    fn session(self, starts: &[&[&str]]) -> String {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let shown = starts.iter().map(|arguments| {
            let words = self.name.iter().chain(*arguments).copied();
            let typed = words.collect::<Vec<_>>().join(" ");
            let printed = self.output(arguments, folder.path());
            let program = self.program;

            format!("$ cargo run --example {program} -- {typed}\n{printed}\n")
        });

        shown.collect::<String>().trim_end().to_owned()
    }

    /// Compares the header of the file with what the example prints.
    pub(crate) fn check(self) {
        self.check_header(&self.output(&[], &env::temp_dir()));
    }

    fn check_header(self, printed: &str) {
        let file = self.file();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let source = fs::read_to_string(&path).expect("the example can be read");
        let (before, rest) = source
            .split_once(BEGIN)
            .expect("the header has a block of output");
        let (block, after) = rest.split_once(END).expect("the block ends");

        if env::var_os("UPDATE_OUTPUTS").is_some() {
            let block: String = printed
                .lines()
                .map(|line| format!("{}\n", format!("//! {line}").trim_end()))
                .collect();
            fs::write(&path, format!("{before}{BEGIN}{block}{END}{after}"))
                .expect("the example can be written");
            return;
        }

        let written: Vec<_> = block
            .lines()
            .map(|line| {
                line.trim_start_matches("//!")
                    .strip_prefix(' ')
                    .unwrap_or("")
            })
            .collect();
        assert_same(&written.join("\n"), printed, &file);
    }
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

fn single(program: &str) -> Example<'_> {
    let name = None;
    Example { program, name }
}

#[test]
fn single_examples() {
    for program in [
        "quickstart",
        "crash_and_resume",
        "read_reply",
        "stage_walk",
        "trace_a_run",
    ] {
        single(program).check();
    }
}

#[cfg(feature = "mcp")]
#[test]
fn examples_with_mcp() {
    single("tools_over_mcp").check();
}

#[cfg(feature = "traces")]
#[test]
fn send_traces() {
    single("send_traces").check();
}

#[test]
fn tour() {
    for name in listed("tour") {
        let example = Example {
            program: "tour",
            name: Some(&name),
        };

        match name.as_str() {
            "pause_for_a_person" => {
                example.check_header(&example.session(&[&[], &[], &["yes"]]));
            }
            "tools_in_the_loop" => {
                example.check_header(&example.session(&[&[], &["yes"], &[], &["no"]]));
            }
            _ => example.check(),
        }
    }
}

/// Returns the names that the program lists, one on each line, each with what it shows.
pub(crate) fn listed(program: &str) -> Vec<String> {
    let list = single(program).output(&[], &env::temp_dir());
    let names = list.lines().map(|line| {
        let (name, about) = line.split_once(' ').expect("a name and more");
        assert!(about.trim().len() > 10, "{line}");
        name.to_owned()
    });
    names.collect()
}

#[test]
fn every_file_is_listed() {
    for program in ["tour", "cookbook"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
        let files = fs::read_dir(folder).expect("the folder can be read");
        let files = files.map(|file| file.expect("an entry").path());
        let mut names: Vec<_> = files
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .filter(|name| name != "main")
            .collect();
        let mut listed = listed(program);

        names.sort();
        listed.sort();
        assert_eq!(names, listed);
    }
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_examples() {
    let run = single("cookbook").start(&["workflows"], &env::temp_dir());
    let error = String::from_utf8_lossy(&run.stderr);

    assert_eq!(run.status.code(), Some(2), "{error}");
    assert!(run.stdout.is_empty());
    let (first, list) = error.split_once('\n').expect("several lines");
    assert_eq!(first, "there is no example `workflows`; the examples are:");
    assert_eq!(list.lines().count(), listed("cookbook").len());
}

#[test]
fn the_guide_shows_the_output_of_reflection() {
    let shown = |file: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::read_to_string(path).expect("the file can be read")
    };
    let header = shown("tour/reflection.rs")
        .replace("//! ", "")
        .replace("//!", "");
    let block = header
        .split("```")
        .nth(1)
        .expect("the header has a block of output");

    assert!(
        shown("../docs/guide/strategies.md").contains(block),
        "docs/guide/strategies.md shows another output"
    );
}

#[test]
fn the_quickstart_lists_its_settings() {
    let folder = env::temp_dir();
    let help = single("quickstart").output(&["--help"], &folder);
    for setting in [
        "PROBLEM",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "OPENAI_API_KEY",
    ] {
        assert!(help.contains(setting), "{help}");
    }

    assert_eq!(help, single("quickstart").output(&["-h"], &folder));
    assert!(!help.contains("Thought 1"), "{help}");
}

#[test]
fn a_problem_that_was_not_solved_is_not_shown_with_an_answer() {
    let unsolved = single("quickstart").output(&["What is love?"], &env::temp_dir());
    assert!(!unsolved.lines().any(|line| line == "Answer"), "{unsolved}");

    let (_, end) = unsolved
        .split_once("\nEnded without a conclusion\n")
        .expect("the last part has a title");
    assert!(end.starts_with("I cannot answer this problem: "), "{end}");
}
