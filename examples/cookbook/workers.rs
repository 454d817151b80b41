//! A supervisor with two workers: it hands a task to each worker that is idle, and collects the answers. All three are
//! runs that send each other messages.
//!
//! The core has 84 lines.
//!
//! ```text
//! ada: What is the capital of France? Paris
//! ben: What is the capital of Norway? Oslo
//! ada: What is the capital of Italy? Rome
//! ben: What is the capital of Switzerland? Bern
//! the supervisor ended on `done`
//! ```
//!
//! For a real model, change the clients in `main`.

use std::error::Error;
use std::sync::Arc;

use cogwork::flow::{BuildError, Channel, Wait, send};
use cogwork::llm::ScriptedClient;
use cogwork::prelude::*;
use serde::{Deserialize, Serialize};

// --- core ---

const TASKS: [Channel<String>; 2] = [Channel::new("ada"), Channel::new("ben")];
const ANSWERS: Channel<Answer> = Channel::new("answers");

#[derive(Clone, Default, Serialize, Deserialize)]
struct Answer {
    worker: String,
    task: String,
    text: String,
}

#[derive(Default)]
struct Work {
    tasks: Vec<String>,
    idle: Vec<&'static str>,
    at_work: usize,
    task: String,
    answers: Vec<Answer>,
}

fn worker(client: Arc<dyn LlmClient>, tasks: &Channel<String>) -> Result<Flow<Answer>, BuildError> {
    let think = from_phases_with(
        client,
        |answer: &mut Answer| answer.task.clone(),
        async |client, task| {
            let request = ChatRequest::new([Message::user(task)]);
            client.complete(request).await
        },
        |answer, _, response| answer.text = response.text().to_owned(),
    );

    Flow::builder("worker")
        .start("wait")
        .wait(
            "wait",
            Wait::for_message(tasks, |answer: &mut Answer, task| answer.task = task),
        )
        .edge("wait", Action::DEFAULT, "think")
        .end("wait", Action::CLOSED)
        .node("think", think)
        .edge("think", Action::DEFAULT, "report")
        .node(
            "report",
            send(&ANSWERS, |answer: &mut Answer| answer.clone()),
        )
        .edge("report", Action::DEFAULT, "wait")
        .end("report", Action::CLOSED)
        .build()
}

fn supervisor() -> Result<Flow<Work>, BuildError> {
    let assign = from_fn(|work: &mut Work| {
        if work.tasks.is_empty() && work.at_work == 0 {
            return "done";
        }
        if work.tasks.is_empty() || work.idle.is_empty() {
            return "collect";
        }

        work.task = work.tasks.remove(0);
        work.at_work += 1;
        work.idle.remove(0)
    });
    let collect = Wait::for_message(&ANSWERS, |work: &mut Work, answer: Answer| {
        let is_ada = answer.worker == "ada";
        work.idle.push(if is_ada { "ada" } else { "ben" });
        work.at_work -= 1;
        work.answers.push(answer);
    });

    let [ada, ben] = &TASKS;
    Flow::builder("supervisor")
        .start("assign")
        .node(
            "assign",
            assign.with_actions(["ada", "ben", "collect", "done"]),
        )
        .edge("assign", "ada", "ada")
        .edge("assign", "ben", "ben")
        .edge("assign", "collect", "collect")
        .end("assign", "done")
        .node("ada", send(ada, |work: &mut Work| work.task.clone()))
        .edge("ada", Action::DEFAULT, "assign")
        .end("ada", Action::CLOSED)
        .node("ben", send(ben, |work: &mut Work| work.task.clone()))
        .edge("ben", Action::DEFAULT, "assign")
        .end("ben", Action::CLOSED)
        .wait("collect", collect)
        .edge("collect", Action::DEFAULT, "assign")
        .end("collect", Action::CLOSED)
        .build()
}

// --- end of the core ---

fn named(worker: &str) -> Answer {
    Answer {
        worker: worker.to_owned(),
        ..Answer::default()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // With a real model: Arc::new(OpenAiClient::from_env()?)
    let ada = worker(Arc::new(ScriptedClient::new(["Paris", "Rome"])), &TASKS[0])?;
    let ben = worker(Arc::new(ScriptedClient::new(["Oslo", "Bern"])), &TASKS[1])?;
    let supervisor = supervisor()?;

    let tasks = ["France", "Norway", "Italy", "Switzerland"];
    let tasks = tasks.map(|country| format!("What is the capital of {country}?"));
    let mut work = Work {
        tasks: tasks.to_vec(),
        idle: vec!["ada", "ben"],
        ..Work::default()
    };

    let (to_ada, box_of_ada) = TASKS[0].open(1);
    let (to_ben, box_of_ben) = TASKS[1].open(1);
    let (answers, answer_box) = ANSWERS.open(2);

    let supervising = supervisor.begin().with_mailbox(answer_box);
    let mut supervising = supervising.with_address(to_ada).with_address(to_ben);
    let mut one = ada
        .begin()
        .with_mailbox(box_of_ada)
        .with_address(answers.clone());
    let mut two = ben.begin().with_mailbox(box_of_ben).with_address(answers);

    let mut of_ada = named("ada");
    let mut of_ben = named("ben");
    let (ended, _, _) = tokio::try_join!(
        supervising.finish(&mut work),
        one.finish(&mut of_ada),
        two.finish(&mut of_ben),
    )?;

    for Answer { worker, task, text } in &work.answers {
        println!("{worker}: {task} {text}");
    }
    println!("the supervisor ended on `{}`", ended.action);
    Ok(())
}
