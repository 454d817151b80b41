//! Two agents that talk: one gives hints for a secret word, and the other guesses it. Each is a run of its own, and waits
//! for the messages of the other in a queue of tokio.
//!
//! ```text
//! hints: ["it is yellow", "you peel it"]
//! guesses: ["lemon", "banana"]
//! the hinter ended on `right`, the guesser on `alone`
//! ```

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use cogwork::flow::RunError;
use cogwork::prelude::*;
use cogwork_quickstart::model;
use tokio::sync::{Mutex, mpsc};

// --- core ---

#[derive(Default)]
struct Player {
    word: String,
    heard: Vec<String>,
    said: String,
}

type Client = Arc<dyn LlmClient>;
type Queue = (mpsc::Sender<String>, mpsc::Receiver<String>);

async fn ask(client: Client, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(prompt)]);
    Ok(client.complete(request).await?.text().to_owned())
}

fn agent(
    client: Client,
    prompt: fn(&Player) -> String,
    start: &str,
    (says, hears): Queue,
) -> Result<Flow<Player>, BuildError> {
    let think = from_phases_with(
        client,
        move |player: &mut Player| prompt(player),
        ask,
        |player, reply| player.said = reply,
    );
    let say = from_phases_with(
        says,
        |player: &mut Player| player.said.clone(),
        async |says, text| Ok::<_, Infallible>(says.send(text).await.is_ok()),
        |_, is_sent| if is_sent { "said" } else { "alone" },
    );
    let listen = from_phases_with(
        Arc::new(Mutex::new(hears)),
        |_: &mut Player| (),
        async |hears, ()| Ok::<_, Infallible>(hears.lock().await.recv().await),
        |player, heard| {
            let Some(text) = heard else { return "alone" };
            let is_right = text == player.word;
            player.heard.push(text);
            if is_right { "right" } else { "continue" }
        },
    );

    Flow::builder("agent")
        .start(start)
        .node("think", think)
        .edge("think", Action::DEFAULT, "say")
        .node("say", say.with_actions(["said", "alone"]))
        .edge("say", "said", "listen")
        .end("say", "alone")
        .node(
            "listen",
            listen.with_actions(["right", "continue", "alone"]),
        )
        .edge("listen", "continue", "think")
        .end("listen", "right")
        .end("listen", "alone")
        .build()
}

/// Plays until the end. Then the flow is dropped with its ends of the queues, and the other one is alone.
async fn play(flow: Flow<Player>, mut player: Player) -> Result<(Player, Action), RunError> {
    let ended = flow.run(&mut player).await?;
    Ok((player, ended.action))
}

// --- end of the core ---

fn hint_prompt(player: &Player) -> String {
    let Player { word, heard, .. } = player;
    format!("Give a hint for `{word}` without using it. Wrong guesses so far: {heard:?}")
}

fn guess_prompt(player: &Player) -> String {
    format!("Guess the word. Hints so far: {:?}", player.heard)
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let hinter = model(ScriptedClient::new(["it is yellow", "you peel it"]))?;
    let guesser = model(ScriptedClient::new(["lemon", "banana"]))?;

    let (hints, hints_heard) = mpsc::channel(1);
    let (guesses, guesses_heard) = mpsc::channel(1);
    let hinter = agent(hinter, hint_prompt, "think", (hints, guesses_heard))?;
    let guesser = agent(guesser, guess_prompt, "listen", (guesses, hints_heard))?;

    let giver = Player {
        word: "banana".to_owned(),
        ..Player::default()
    };
    let ((giver, gave), (seeker, sought)) =
        tokio::try_join!(play(hinter, giver), play(guesser, Player::default()))?;

    println!("hints: {:?}", seeker.heard);
    println!("guesses: {:?}", giver.heard);
    println!("the hinter ended on `{gave}`, the guesser on `{sought}`");
    Ok(())
}
