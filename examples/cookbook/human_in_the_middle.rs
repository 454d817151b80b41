//! A human in the middle: a model proposes a name, and a person accepts it or asks for another. The run pauses until the
//! person answers.
//!
//! ```text
//! Is `Boaty` a good name? no
//! Is `Floaty` a good name? no
//! Is `Albatross` a good name? yes
//! The boat is called Albatross (6 steps).
//! ```
//!
//! For a real person, read the answer from wherever it comes; with a
//! journal, the program can end in between: see the example `pause_for_a_person`.

use std::error::Error;
use std::mem;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;

// --- core ---

#[derive(Default)]
struct Naming {
    name: String,
    rejected: Vec<String>,
}

fn naming(client: Arc<dyn LlmClient>) -> Result<Flow<Naming>, BuildError> {
    let propose = from_phases_with(
        client,
        |naming: &mut Naming| prompt(&naming.rejected),
        async |client, prompt| {
            let request = ChatRequest::new([Message::user(prompt)]);
            client.complete(request).await
        },
        |naming, response| naming.name = response.text().to_owned(),
    );

    let review = Wait::for_event("review", |naming: &mut Naming, is_good: bool| {
        if is_good {
            return "accepted";
        }

        naming.rejected.push(mem::take(&mut naming.name));
        "rejected"
    })
    .with_reason(|naming| format!("Is `{}` a good name?", naming.name))
    .with_actions(["accepted", "rejected"]);

    Flow::builder("naming")
        .start("propose")
        .node("propose", propose)
        .edge("propose", Action::DEFAULT, "review")
        .wait("review", review)
        .edge("review", "rejected", "propose")
        .end("review", "accepted")
        .build()
}

// --- end of the core ---

fn prompt(rejected: &[String]) -> String {
    format!("Propose a name for a boat. Not one of these: {rejected:?}")
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new(["Boaty", "Floaty", "Albatross"]))?;
    let flow = naming(client)?;

    let mut state = Naming::default();
    let mut run = flow.begin();
    for answer in [false, false, true] {
        let Proceeded::Paused(paused) = run.proceed(&mut state).await? else {
            break;
        };

        println!("{} {}", paused.why, if answer { "yes" } else { "no" });
        run.deliver(&paused.event, &answer).await?;
    }

    let ended = run.finish(&mut state).await?;
    println!("The boat is called {} ({} steps).", state.name, ended.steps);
    Ok(())
}
