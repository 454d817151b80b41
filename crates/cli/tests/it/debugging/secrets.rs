//! Keys are in no file and in no output.

use std::fs;

use crate::server::{Reply, Server};
use crate::support::{Place, Told, run_id};

/// A key as it is, in JSON, in an address, and in Base64.
const KEY: [&str; 4] = [
    r#"canary"87/31"#,
    r#"canary\"87/31"#,
    "canary%2287%2F31",
    "Y2FuYXJ5Ijg3LzMx",
];

/// A server that repeats the key it was sent, in every form.
#[test]
fn no_key_is_in_the_journal_the_page_the_result_or_the_terminal() {
    let server = Server::new(|_, _| {
        // Its answer is JSON, so that one form is in JSON inside of JSON.
        Reply::Refusal(format!("wrong key {}", KEY.join(" ")))
    });
    let config = server.config();
    let place = Place::with_flow(&format!(
        "nodes: [{{id: a, type: agent, config: {{{config}, role: '${{KEY}}'}}}}]"
    ));

    let arguments = "run flow.yaml --journal runs --input Go? --json --page run.html";
    let mut command = place.command(&arguments.split(' ').collect::<Vec<_>>());
    let failed = Told::of(command.env("KEY", KEY[0]).output().unwrap());
    assert_eq!((failed.code, server.calls()), (3, 1));

    let journal = journal(&place);
    let texts = journal.matches("wrong key ${KEY}").count();
    assert!(texts > 4, "of the call, the attempt and the run: {journal}");
    let page = place.read("run.html");
    assert!(page.contains("wrong key ${KEY}"));

    for shown in [journal, page, failed.out, failed.err] {
        for form in KEY {
            assert!(!shown.contains(form), "{form}: {shown}");
        }
        assert!(!shown.contains("canary"), "{shown}");
    }
}

/// Prompts contain the key, and the models don't repeat it.
#[test]
fn no_key_of_a_prompt_is_in_the_journal() {
    let server = Server::new(|number, _| match number {
        1 => Reply::text("Fine."),
        2 => Reply::text(
            "current_thinking: 4\nplanning: [{description: Conclusion, status: Done, result: '4'}]\nnext_thought_needed: false",
        ),
        _ => Reply::Refusal("no".to_owned()),
    });
    let config = format!("{}, api_key: '${{KEY}}'", server.config());
    let place = Place::with_flow(&format!(
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
        let mut command = place.run_command(arguments);
        Told::of(command.env("KEY", "canary-8731").output().unwrap())
    };

    let waits = run(&["--journal", "runs", "--input", "Go?"]);
    assert_eq!(waits.code, 5, "{}", waits.err);
    let resume = ["--journal", "runs", "--resume", run_id(&waits.err)];
    let answer = ["--json", "--answer", "c=Yes."];
    let failed = run(&[&resume[..], &answer].concat());
    assert_eq!((failed.code, server.calls()), (3, 3), "{}", failed.err);

    let journal = journal(&place);
    assert!(journal.contains("${KEY}?"), "{journal}");
    for shown in [journal, waits.err, failed.out, failed.err] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}

/// The text of all files of the journal.
fn journal(place: &Place) -> String {
    let files = fs::read_dir(place.path("runs")).unwrap();
    files
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect()
}
