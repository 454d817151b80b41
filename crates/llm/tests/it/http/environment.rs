//! `OpenAiClient::from_env` reads three variables. A process changes its own variables only by
//! unsafe code, so each case runs this test program again, with variables of its own.

use std::process::Command;

use cogwork_llm::OpenAiClient;

use crate::table::check;

/// What a child reports: the client, or the error.
const REPORT: &str = "report: ";

#[test]
#[ignore = "the child of the other test"]
fn child() {
    match OpenAiClient::from_env() {
        Ok(client) => println!("\n{REPORT}{client:?}"),
        Err(error) => println!("\n{REPORT}{error}"),
    }
}

/// In each row, the base URL, the model and the key: `-` for one that is unset, `""` for an empty one.
#[tokio::test]
async fn three_variables_make_a_client() {
    let table = r#"
        http://localhost:1/v1 m k | http://localhost:1/v1 m - | http://localhost:1/v1 m "" => OpenAiClient { base_url: "http://localhost:1/v1", model: "m", .. }
        - m k | "" m k => OpenAiClient { base_url: "https://api.openai.com/v1", model: "m", .. }
        - - k | - "" k => settings: OPENAI_MODEL is not set; expected the name of a model on the server
        - m - | "" m "" => settings: OPENAI_API_KEY is not set; expected an API key for https://api.openai.com/v1, or a different server in OPENAI_BASE_URL
        localhost:1 m - => settings: the base URL "localhost:1" in OPENAI_BASE_URL is not an HTTP URL; expected one that begins with http:// or https://
        http://me:hush@localhost:1/v1 m - => settings: the base URL (not shown: it may contain a secret) in OPENAI_BASE_URL contains credentials; pass them as the API key or in a header
    "#;
    check(table, async |row| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--ignored",
            "--exact",
            "http::environment::child",
            "--nocapture",
        ]);
        let names = ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"];
        for (name, value) in names.into_iter().zip(row.split(' ')) {
            match value {
                "-" => child.env_remove(name),
                value => child.env(name, value.trim_matches('"')),
            };
        }

        let output = String::from_utf8(child.output().unwrap().stdout).unwrap();
        let report = output.lines().find_map(|line| line.strip_prefix(REPORT));
        report.unwrap_or_else(|| panic!("{output}")).to_owned()
    })
    .await;
}
