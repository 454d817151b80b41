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

#[test]
fn three_variables_make_a_client() {
    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", "http://localhost:1/v1"),
            ("OPENAI_MODEL", "m"),
            ("OPENAI_API_KEY", "k")
        ]),
        r#"OpenAiClient { base_url: "http://localhost:1/v1", model: "m", .. }"#
    );
}

#[test]
fn a_server_of_ones_own_needs_no_key() {
    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", "http://localhost:1/v1"),
            ("OPENAI_MODEL", "m")
        ]),
        r#"OpenAiClient { base_url: "http://localhost:1/v1", model: "m", .. }"#
    );
}

#[test]
fn the_default_server_is_openai() {
    assert_eq!(
        with(&[("OPENAI_MODEL", "m"), ("OPENAI_API_KEY", "k")]),
        r#"OpenAiClient { base_url: "https://api.openai.com/v1", model: "m", .. }"#
    );
}

#[test]
fn a_missing_variable_is_named() {
    assert_eq!(
        with(&[("OPENAI_API_KEY", "k")]),
        "settings: OPENAI_MODEL is not set; expected the name of a model on the server"
    );
    assert_eq!(
        with(&[("OPENAI_MODEL", ""), ("OPENAI_API_KEY", "k")]),
        "settings: OPENAI_MODEL is not set; expected the name of a model on the server"
    );
    assert_eq!(
        with(&[("OPENAI_MODEL", "m")]),
        "settings: OPENAI_API_KEY is not set; expected an API key for https://api.openai.com/v1, \
         or a different server in OPENAI_BASE_URL"
    );
}

#[test]
fn a_wrong_variable_is_a_settings_error() {
    assert_eq!(
        with(&[("OPENAI_BASE_URL", "localhost:1"), ("OPENAI_MODEL", "m")]),
        "settings: the base URL \"localhost:1\" in OPENAI_BASE_URL is not an HTTP URL; \
         expected one that begins with http:// or https://"
    );

    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", "http://localhost:1/v1/chat/completions"),
            ("OPENAI_MODEL", "m")
        ]),
        "settings: the base URL \"http://localhost:1/v1/chat/completions\" in OPENAI_BASE_URL ends in \
         /chat/completions, which the client appends; expected it to end before that, often in /v1"
    );

    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", "http://me:hush@localhost:1/v1"),
            ("OPENAI_MODEL", "m")
        ]),
        "settings: the base URL in OPENAI_BASE_URL contains credentials and is therefore not shown; \
         pass them as the API key or in a header"
    );
}

#[test]
fn an_empty_variable_counts_as_unset() {
    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", ""),
            ("OPENAI_MODEL", "m"),
            ("OPENAI_API_KEY", "k")
        ]),
        r#"OpenAiClient { base_url: "https://api.openai.com/v1", model: "m", .. }"#
    );

    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", "http://localhost:1/v1"),
            ("OPENAI_MODEL", "m"),
            ("OPENAI_API_KEY", "")
        ]),
        r#"OpenAiClient { base_url: "http://localhost:1/v1", model: "m", .. }"#
    );

    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", ""),
            ("OPENAI_MODEL", "m"),
            ("OPENAI_API_KEY", "")
        ]),
        "settings: OPENAI_API_KEY is not set; expected an API key for https://api.openai.com/v1, \
         or a different server in OPENAI_BASE_URL"
    );

    assert_eq!(
        with(&[
            ("OPENAI_BASE_URL", ""),
            ("OPENAI_MODEL", ""),
            ("OPENAI_API_KEY", "")
        ]),
        "settings: OPENAI_MODEL is not set; expected the name of a model on the server"
    );
}
