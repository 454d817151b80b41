//! The example `read_reply` as a program: what it writes where, and its exit codes.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::io::Write;
use std::process::Stdio;

use crate::program;

/// The exit code, standard output and standard error.
fn run(input: &[u8], arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut run = program::example("read_reply")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example can be started");

    // A program that reads no more has closed the pipe.
    let _ = run.stdin.take().expect("a pipe").write_all(input);
    let output = run.wait_with_output().expect("the example ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");

    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

const CLEAN: &str = "```yaml\ncurrent_thinking: x\nplanning:\n- description: Add\n  status: Done\nnext_thought_needed: false\n```\n";

#[test]
fn a_clean_reply_is_written_with_an_empty_list_of_repairs() {
    for arguments in [&[][..], &["--strict"]] {
        let (code, out, err) = run(CLEAN.as_bytes(), arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let thought: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(thought["repairs"], serde_json::json!([]));
        assert_eq!(thought["planning"][0]["description"], "Add");
    }
}

#[test]
fn a_faulty_reply_is_repaired_and_strictly_an_error() {
    let faulty = CLEAN.replace("Done", "done").replace("x\n", "x: y\n");
    let (code, out, _) = run(faulty.as_bytes(), &[]);
    let thought: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(code, Some(0));
    assert_eq!(thought["current_thinking"], "x: y");
    assert_eq!(
        thought["repairs"],
        serde_json::json!([
            {"kind": "quotes", "line": 2, "what": "put a text in quotes"},
            {
                "kind": "form",
                "line": 5,
                "what": "`/planning/0/status`: read the text \"done\" as \"Done\"",
            },
        ])
    );

    let (code, out, err) = run(faulty.as_bytes(), &["--strict"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(
        err,
        "line 2: the reply isn't as it was asked for (put a text in quotes)\n   \
         1 | ```yaml\n   2 | current_thinking: x: y\n"
    );
}

#[test]
fn what_cannot_be_used_is_an_error_with_a_place_and_the_exit_code_1() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "line 1: the reply is empty; expected a YAML block\n"),
        (b"No.", "line 1: the reply has no YAML block; "),
        (b"planning:\n- \xff", "line 2: the reply is not UTF-8\n"),
        (&[b'x'; 300_000], "line 1: the reply is longer than 262144 bytes, "),
        (
            b"```\ncurrent_thinking: x\nplanning:\n- description: Add\n  status: ok\nnext_thought_needed: no\n```",
            "line 5: `/planning/0/status`: found the text \"ok\"; expected one of Pending, Done, Verification Needed\n",
        ),
    ];
    for (input, error) in cases {
        let (code, out, err) = run(input, &[]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        assert!(err.starts_with(error), "{err}");
    }
}
