//! `OpenAiClient::from_env` reads three variables. A process changes its own variables only by
//! unsafe code, so each case runs this test program again, with variables of its own.

use std::process::Command;

use cogwork_llm::OpenAiClient;

/// What a child reports: the client, or the error.
const REPORT: &str = "report: ";

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    match OpenAiClient::from_env() {
        Ok(client) => println!("\n{REPORT}{client:?}"),
        Err(error) => println!("\n{REPORT}{error}"),
    }
}

fn with(variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "http::environment::child",
            "--nocapture",
        ])
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_MODEL")
        .env_remove("OPENAI_API_KEY")
        .envs(variables.iter().copied())
        .output()
        .unwrap();

    let output = String::from_utf8(output.stdout).unwrap();
    output
        .lines()
        .find_map(|line| line.strip_prefix(REPORT))
        .unwrap_or_else(|| panic!("{output}"))
        .to_owned()
}

/// The variables, in the order of base URL, model and key, `-` for one that is unset.
#[test]
fn three_variables_make_a_client() {
    let client = |url: &str| format!("OpenAiClient {{ base_url: {url:?}, model: \"m\", .. }}");
    let own = client("http://localhost:1/v1");
    let no_model = "settings: OPENAI_MODEL is not set; expected the name of a model on the server";
    let no_key = "settings: OPENAI_API_KEY is not set; expected an API key for https://api.openai.com/v1, \
        or a different server in OPENAI_BASE_URL";
    let secret = "settings: the base URL in OPENAI_BASE_URL (not shown: it may contain a secret) contains \
        credentials; pass them as the API key or in a header";
    let no_http = "settings: the base URL \"localhost:1\" in OPENAI_BASE_URL is not an HTTP URL; \
        expected one that begins with http:// or https://";

    for (values, expected) in [
        (["http://localhost:1/v1", "m", "k"], own.as_str()),
        (["http://localhost:1/v1", "m", "-"], &own),
        (["http://localhost:1/v1", "m", ""], &own),
        (["-", "m", "k"], &client("https://api.openai.com/v1")),
        (["", "m", "k"], &client("https://api.openai.com/v1")),
        (["-", "-", "k"], no_model),
        (["-", "", "k"], no_model),
        (["-", "m", "-"], no_key),
        (["", "m", ""], no_key),
        (["localhost:1", "m", "-"], no_http),
        (["http://me:hush@localhost:1/v1", "m", "-"], secret),
    ] {
        let names = ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"];
        let set: Vec<_> = names
            .into_iter()
            .zip(values)
            .filter(|(_, value)| *value != "-")
            .collect();
        assert_eq!(with(&set), expected, "{values:?}");
    }
}
