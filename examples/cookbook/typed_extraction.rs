//! Typed extraction: a résumé becomes a struct. The reply is malformed, and what has only one meaning is corrected.
//!
//! ```text
//! Ada Byron (ada@example.org)
//! 2021 to now: engineer, ACME
//! 2018 to 2021: analyst, Engines Ltd.
//! Rust, SQL
//!
//! corrected:
//! line 4: put a text in quotes
//! line 4: took other quotes for double quotes
//! line 7: wrote a literal as JSON does
//! line 9: left out a comma
//! line 5: read the key `Email` as `email`
//! line 7: `/jobs/0/from`: read the text "2021" as an integer
//! ```

use std::error::Error;

use cogwork::prelude::*;
use cogwork::typed::{Answered, AskError};
use cogwork_quickstart::model;
use serde::Deserialize;

// --- core ---

#[derive(Deserialize, JsonSchema)]
struct Resume {
    name: String,
    email: Option<String>,
    jobs: Vec<Job>,
    skills: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    title: String,
    company: String,
    from: u16,
    /// The last year. Null if it is the current job.
    to: Option<u16>,
}

async fn read(client: impl LlmClient + 'static, text: &str) -> Result<Answered<Resume>, AskError> {
    let model = Model::typed(client).with_asks_again(3);
    model.ask(format!("Read this résumé:\n{text}")).await
}

// --- end of the core ---

const TEXT: &str = "Ada Byron, ada@example.org. Since 2021 engineer at ACME, before that (2018 to 2021) analyst at \
                    Engines Ltd. Rust, SQL.";

const REPLY: &str = "Here is the résumé:\n```json\n{
  name: 'Ada Byron',
  \"Email\": \"ada@example.org\",
  \"jobs\": [
    {\"title\": \"engineer\", \"company\": \"ACME\", \"from\": \"2021\", \"to\": None},
    {\"title\": \"analyst\", \"company\": \"Engines Ltd.\", \"from\": 2018, \"to\": 2021},
  ],
  \"skills\": [\"Rust\", \"SQL\"]
}\n```";

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([REPLY]))?;
    let answered = read(client, TEXT).await?;
    let resume = &answered.value;

    let email = resume.email.as_deref().unwrap_or("no address");
    println!("{} ({email})", resume.name);
    for job in &resume.jobs {
        let until = job.to.map_or("now".to_owned(), |year| year.to_string());
        println!("{} to {until}: {}, {}", job.from, job.title, job.company);
    }
    println!("{}", resume.skills.join(", "));

    println!("\ncorrected:");
    for repair in &answered.repairs {
        println!("{repair}");
    }
    Ok(())
}
