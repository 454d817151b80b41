//! A supervisor: a worker answers, and a supervisor accepts the answer or sends it back with a reason, up to three times.
//!
//! ```text
//! accepted: Bananas are bent because they grow towards the light.
//! complaints: ["it does not say why"], 4 steps
//! ```

use std::error::Error;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;

// --- core ---

#[derive(Default)]
struct Task {
    question: String,
    answer: String,
    complaints: Vec<String>,
}

type Client = Arc<dyn LlmClient>;

async fn ask(client: Client, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(prompt)]);
    Ok(client.complete(request).await?.text().to_owned())
}

fn supervised(client: &Client) -> Result<Flow<Task>, BuildError> {
    let worker = from_phases_with(
        client.clone(),
        |task: &mut Task| worker_prompt(&task.question, &task.complaints),
        ask,
        |task, answer| task.answer = answer,
    );
    let supervisor = from_phases_with(
        client.clone(),
        |task: &mut Task| supervisor_prompt(&task.question, &task.answer),
        ask,
        |task, reply| match reply.strip_prefix("rejected: ") {
            None => "accepted",
            Some(_) if task.complaints.len() == 2 => "given up",
            Some(complaint) => {
                task.complaints.push(complaint.to_owned());
                "again"
            }
        },
    );

    Flow::builder("supervised")
        .start("worker")
        .node("worker", worker)
        .edge("worker", Action::DEFAULT, "supervisor")
        .node(
            "supervisor",
            supervisor.with_actions(["accepted", "again", "given up"]),
        )
        .edge("supervisor", "again", "worker")
        .end("supervisor", "accepted")
        .end("supervisor", "given up")
        .build()
}

// --- end of the core ---

fn worker_prompt(question: &str, complaints: &[String]) -> String {
    format!("Answer in one sentence: {question}\nAvoid these mistakes: {complaints:?}")
}

fn supervisor_prompt(question: &str, answer: &str) -> String {
    format!(
        "Does this answer the question? Reply `accepted`, or `rejected: ` and why.\n{question}\n{answer}"
    )
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "Bananas are yellow.",
        "rejected: it does not say why",
        "Bananas are bent because they grow towards the light.",
        "accepted",
    ]))?;

    let mut task = Task {
        question: "Why are bananas bent?".to_owned(),
        ..Task::default()
    };
    let ended = supervised(&client)?.run(&mut task).await?;

    println!("{}: {}", ended.action, task.answer);
    println!("complaints: {:?}, {} steps", task.complaints, ended.steps);
    Ok(())
}
