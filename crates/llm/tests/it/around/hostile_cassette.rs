//! Cassettes that were cut off, taken away, or never were files.

use std::fs;
use std::io::Write;
use std::path::Path;

use cogwork_llm::LlmClient;
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmError, LlmErrorKind, Message, Recorder, Replay,
    ReplyFormat, ScriptedClient, Usage,
};

use cogwork_read::testing::{assert_at_most_doubled, assert_linear};
use cogwork_text::Escaped;
use cogwork_text::testing::{Shown, texts};
use proptest::prelude::*;

use crate::around::{asks, fails, hello, saying, with_tools};

type Outcome = Result<ChatResponse, LlmError>;

/// Calls whose texts look like the end of a recording, like the beginning of another, and like no YAML at all.
fn calls() -> Vec<(ChatRequest, Outcome)> {
    let tricky =
        "  complete: true\n- request:\n    messages: []\ncomplete: true\n# end\n...\n---\n";
    let limited = LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_body(tricky);

    vec![
        (hello(), Ok(ChatResponse::new("Hi."))),
        (
            saying(tricky),
            Ok(ChatResponse::new(tricky).with_finish_reason(FinishReason::Length)),
        ),
        (
            hello(),
            Ok(
                ChatResponse::new("Hi again, \"quoted\": yes.\n\nAnd longer — é日本🦀\n")
                    .with_usage(Usage::new(3, 4)),
            ),
        ),
        (with_tools(), Ok(asks())),
        (saying("12"), Err(limited)),
        (
            ChatRequest::new([Message::system("true"), Message::user("")]),
            Ok(ChatResponse::new("true")),
        ),
        (
            saying("~"),
            Err(fails(LlmErrorKind::InterruptedStream).with_text_so_far("Once upon")),
        ),
        (saying("complete"), Ok(ChatResponse::new(""))),
    ]
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

/// The text of a cassette of the calls, and where each recording ends.
fn recorded() -> (Vec<u8>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let (requests, outcomes): (Vec<_>, Vec<_>) = calls().into_iter().unzip();
    let recorder = Recorder::create(ScriptedClient::new(outcomes), &path).unwrap();

    let length = || fs::metadata(&path).unwrap().len() as usize;
    let mut ends = vec![length()];
    for request in requests {
        let _ = runtime().block_on(recorder.complete(request));
        ends.push(length());
    }

    (fs::read(&path).unwrap(), ends)
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Ok(response) => format!("{response:?}"),
        Err(error) => format!("{error:#} {:?} {:?}", error.text_so_far(), error.body()),
    }
}

fn open(path: &Path, bytes: &[u8]) -> Result<Replay, LlmError> {
    fs::write(path, bytes).unwrap();
    Replay::open(path)
}

fn names_the_place(error: &LlmError) {
    let error = error.to_string();
    let names = |word: &str| {
        error
            .split(word)
            .skip(1)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };

    assert!(names("recording ") || names("line "), "{error}");
}

#[test]
fn every_cut_is_an_error_that_names_the_place_or_leaves_whole_calls() {
    let calls = calls();
    let (text, ends) = recorded();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let runtime = runtime();
    let mut played = 0;

    for cut in 0..=text.len() {
        let replay = match open(&path, &text[..cut]) {
            Ok(replay) => replay,
            Err(error) => {
                names_the_place(&error);
                continue;
            }
        };

        // All but the line feed behind the last one is enough.
        let whole = ends[1..].iter().filter(|end| **end <= cut + 1).count();
        assert_eq!(replay.unplayed(), whole, "cut at {cut}");
        for (request, outcome) in &calls[..whole] {
            assert_eq!(
                told(&runtime.block_on(replay.complete(request.clone()))),
                told(outcome),
                "cut at {cut}"
            );
        }

        played += 1;
    }

    // Before, behind, and in front of the last line feed of each call, and inside the two lines of comment.
    assert_eq!(played, 2 * calls.len() + ends[0] + 1);
}

/// As when calls were added behind one that was cut off.
#[test]
fn a_cut_between_calls_plays_no_half_reply() {
    let calls = calls();
    let (text, ends) = recorded();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let runtime = runtime();

    for end in &ends[1..calls.len()] {
        let begin = ends.iter().rev().find(|begin| *begin < end).unwrap();
        for cut in *begin..*end {
            let text = [&text[..cut], &text[*end..]].concat();
            let Ok(replay) = open(&path, &text) else {
                continue;
            };

            for (request, _) in &calls {
                let outcome = runtime.block_on(replay.complete(request.clone()));
                let is_whole = calls.iter().any(|(_, whole)| told(whole) == told(&outcome));
                let is_miss =
                    outcome.is_err_and(|error| error.to_string().contains("the cassette"));
                assert!(is_whole || is_miss, "cut at {cut}");
            }
        }
    }
}

#[test]
fn a_cassette_without_end_marks_is_told_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let call = "- request: {messages: [{role: user, content: Hello}]}\n  response: {text: Hi.}\n";

    for mark in ["", "  complete: false\n"] {
        let text = format!("{call}  complete: true\n{call}{mark}");
        let error = open(&path, text.as_bytes()).unwrap_err().to_string();
        let expected = "recording 2 has no `complete: true`, so it may be truncated; expected it as the last key";
        assert!(error.ends_with(expected), "{error}");
    }
}

#[tokio::test]
async fn what_a_failed_write_left_is_taken_away_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let recorder = Recorder::create(ScriptedClient::new(["1", "2", "3"]), &path).unwrap();

    for _ in 0..3 {
        recorder.complete(hello()).await.unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"- request:\n    messages:\n    - role: us")
            .unwrap();
        Replay::open(&path).unwrap_err();
    }

    recorder.complete(hello()).await.unwrap_err();
    assert_eq!(Replay::open(&path).unwrap().unplayed(), 4);
}

#[tokio::test]
async fn a_cassette_that_is_gone_is_noticed() {
    let ways: [fn(&Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::rename(path, path.with_extension("old")).unwrap(),
        |path| fs::remove_dir_all(path.parent().unwrap()).unwrap(),
    ];

    for lose in ways {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().join("inside");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("calls.yaml");
        let recorder = Recorder::create(ScriptedClient::new(["1", "2"]), &path).unwrap();

        recorder.complete(hello()).await.unwrap();

        lose(&path);
        let error = recorder.complete(hello()).await.unwrap_err();
        assert!(
            error.to_string().ends_with(
                "cannot be written: the file was removed or replaced during recording; expected it to remain"
            ),
            "{error}"
        );

        assert_eq!(error.text_so_far(), Some("2"));
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_cassettes() {
    use crate::around::support::{OBSTACLES, Theirs, at_once};

    let theirs = Theirs::new();
    for obstacle in OBSTACLES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.yaml");
        obstacle.put(&path, &theirs);

        let create = path.clone();
        let replay = path;
        let error =
            at_once(move || Recorder::create(ScriptedClient::default(), create)).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("cannot be created: File exists (os error 17)"),
            "{error}"
        );

        // A link is read through, as a test's files may be links; here none leads to a cassette.
        at_once(move || Replay::open(replay)).unwrap_err();
    }

    theirs.assert_untouched();
}

#[cfg(unix)]
#[test]
fn a_cassette_may_be_read_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = recorded();
    fs::write(folder.path().join("calls.yaml"), text).unwrap();
    let link = folder.path().join("link.yaml");

    std::os::unix::fs::symlink("calls.yaml", &link).unwrap();
    assert_eq!(Replay::open(link).unwrap().unplayed(), calls().len());
}

/// The text as far as it may be in the name of a file.
fn file_name(text: &str) -> String {
    let name = text
        .chars()
        .filter(|character| !matches!(character, '/' | '\0'));

    format!("calls {}", name.take(40).collect::<String>())
}

/// The error of a request that is not on a cassette, and of one that cannot be recorded.
fn errors_of_calls(path: &Path, text: &str) -> Vec<LlmError> {
    let runtime = runtime();
    let recorder = Recorder::create(ScriptedClient::new([text; 2]), path).unwrap();
    runtime.block_on(recorder.complete(saying(text))).unwrap();

    let replay = Replay::open(path).unwrap();
    let other = saying(&format!("{text}2")).with_stop([text]);
    let tools = with_tools().with_format(ReplyFormat::schema(text, text));
    let asked = [other, tools, saying(text), saying(text)];
    let mut errors: Vec<_> = asked
        .into_iter()
        .filter_map(|request| runtime.block_on(replay.complete(request)).err())
        .collect();

    fs::remove_file(path).unwrap();
    errors.extend(runtime.block_on(recorder.complete(hello())).err());
    assert_eq!(errors.len(), 4);
    errors
}

/// The errors of files that hold the text, and of what isn't a file.
fn errors_of_files(path: &Path, text: &str) -> Vec<LlmError> {
    let mut errors = vec![Replay::open(path).unwrap_err()];

    for content in [
        format!("- {text}"),
        format!("- request: {text}"),
        format!("{text}: 1"),
        format!("- {{request: {{messages: []}}, {text}: 1}}"),
    ] {
        errors.extend(open(path, content.as_bytes()).err());
    }

    errors.extend(Recorder::create(ScriptedClient::default(), path).err());
    fs::remove_file(path).unwrap();
    errors
}

#[cfg(unix)]
#[test]
fn nothing_unsafe_is_shown_of_a_path_or_a_request() {
    let shown = Shown::default();

    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file_name(&text));
        let name = Escaped::new(path.display()).to_string();
        let mut errors = errors_of_files(&path, &text);
        errors.extend(errors_of_calls(&path, &text));

        for error in errors {
            shown.error(&error);
            assert!(error.message().contains(&name), "{error}");
        }
    }
}

/// Recordings of a message of about `n` pieces.
fn recording(content: &str) -> String {
    format!(
        "- request: {{messages: [{{role: user, content: {content}}}]}}\n  response: {{text: Hi.}}\n  complete: true\n"
    )
}

/// Cassettes of about `n` pieces that a YAML library reads slowly, or that make much of little.
fn slow_cassettes(n: usize) -> Vec<(&'static str, String)> {
    let each = |piece: &dyn Fn(usize) -> String| (0..n).map(piece).collect::<String>();
    let word = "x".repeat(n);

    vec![
        ("brackets", "[".repeat(n)),
        ("braces", "{a: ".repeat(n)),
        ("dashes", "- ".repeat(n)),
        ("keys", each(&|n| format!("{}a:\n", " ".repeat(n % 500)))),
        ("explicit keys", "? ".repeat(n)),
        ("anchors", each(&|n| format!("- &a{n} x\n"))),
        (
            "aliases",
            format!("- &a {word}\n- [{}*a]\n", "*a, ".repeat(n)),
        ),
        ("tags", "- !a x\n".repeat(n)),
        ("directives", "%TAG !a! x\n".repeat(n)),
        ("documents", "--- a\n".repeat(n)),
        ("a huge plain text", recording(&word)),
        ("a huge text in quotes", recording(&format!("\"{word}\""))),
        (
            "a text of escapes",
            recording(&format!("\"{}\"", "\\n".repeat(n))),
        ),
        (
            "an open quote",
            format!("- request: \"{}", "\\\"\n".repeat(n)),
        ),
        (
            "a text of many lines",
            format!("- request: x\n{}", "  x\n".repeat(n)),
        ),
        (
            "a block of many lines",
            format!("- request: |\n{}", "    x\n".repeat(n)),
        ),
        ("empty lines", format!("- request: x{}", "\n".repeat(n))),
        ("a huge key", format!("- {word}: x\n")),
        (
            "keys that are not known",
            format!("- request: {{{}}}\n", each(&|n| format!("a{n}: 1, "))),
        ),
        (
            "a key again and again",
            "- request: 1\n  request: 1\n".repeat(n),
        ),
        ("comments", "# x\n".repeat(n)),
        ("recordings", recording("x").repeat(n)),
    ]
}

#[test]
fn opening_twice_the_cassette_takes_twice_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let read = |text: &str| drop(open(&path, text.as_bytes()));

    // What the guard doesn't count is what the YAML library does. It allocates for all that it keeps.
    let allocated = |text: &str| allocation_counter::measure(|| read(text)).bytes_total;

    for ((what, short), (_, long)) in slow_cassettes(1000).into_iter().zip(slow_cassettes(2000)) {
        assert_linear(what, &short, &long, read);
        assert_at_most_doubled(what, allocated(&short), allocated(&long));
    }
}

#[test]
fn too_many_recordings_are_refused_before_they_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let refused = |text: String| open(&path, text.as_bytes()).unwrap_err().to_string();

    let one = "{request: {messages: []}, response: {text: Hi.}, complete: true}";
    let in_lines = format!("- {one}\n").repeat(20_001);
    let in_brackets = format!("[{}]", format!("{one}, ").repeat(20_001));

    for text in [in_lines, in_brackets] {
        let error = refused(text);
        assert!(error.contains("a list of at most 20000"), "{error}");
    }
}

#[test]
fn structure_that_no_recording_has_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let refused = [
        ("brackets", "the nesting is too deep"),
        ("braces", "the nesting is too deep"),
        ("dashes", "the nesting is too deep"),
        ("keys", "the nesting is too deep"),
        ("explicit keys", "keys after a `?`"),
        ("anchors", "anchors (`&name`)"),
        ("aliases", "anchors (`&name`)"),
        ("tags", "tags (`!name`)"),
        ("directives", "directives (`%NAME`)"),
        ("documents", "more than one YAML document"),
    ];

    for (what, text) in slow_cassettes(1000) {
        let Some((_, reason)) = refused.iter().find(|(name, _)| *name == what) else {
            continue;
        };

        let error = open(&path, text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(": line "), "{what}: {error}");
        assert!(error.contains(reason), "{what}: {error}");
    }
}

#[test]
fn comments_may_be_added_to_a_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    let text = "# Said hello.\n- request: # as it was sent\n    messages:\n    # the only one\n    - role: user # a person\n      content: Hello # to all\n  response:\n    text: Hi. # or so\n  complete: true # whole\n";

    let replay = open(&path, text.as_bytes()).unwrap();
    let said = runtime().block_on(replay.complete(hello())).unwrap();
    assert_eq!(said.text(), "Hi.");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// What the guard refuses is never in what a recorder writes.
    #[test]
    fn whatever_is_said_is_played_back(mut said in proptest::collection::vec(any::<String>(), 5)) {
        said[0] += &texts().concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.yaml");
        let asked = ChatRequest::new([Message::system(&*said[0]), Message::user(&*said[1])])
            .with_format(ReplyFormat::schema(&*said[2], &*said[3]))
            .with_stop([&*said[4]]);
        let failed = LlmError::new(LlmErrorKind::Other, &*said[0]).with_body(&*said[1]);
        let outcomes: [Outcome; 2] = [Ok(ChatResponse::new(&*said[4])), Err(failed)];
        let expected = outcomes.each_ref().map(told);

        let recorder = Recorder::create(ScriptedClient::new(outcomes), &path).unwrap();
        for _ in 0..2 {
            let _ = runtime().block_on(recorder.complete(asked.clone()));
        }

        let replay = Replay::open(&path).unwrap();
        for expected in expected {
            let played = runtime().block_on(replay.complete(asked.clone()));
            prop_assert_eq!(told(&played), expected);
        }
    }
}
