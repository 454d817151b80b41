//! Two agents that talk: one gives hints for a secret word, and the other guesses it. Each is a run of its own, and waits
//! for the messages of the other.
//!
//! The core has 43 lines.
//!
//! ```text
//! hints: ["it is yellow", "you peel it"]
//! guesses: ["lemon", "banana"]
//! the hinter ended on `right`, the guesser on `closed`
//! ```
//!
//! For a real model, change the clients in `main`. To continue the game after a crash, give both runs a journal: see the
//! guide [Agents that talk](../../docs/guide/agents-that-talk.md).

use std::error::Error;
use std::sync::Arc;

use cogwork::flow::{BuildError, Channel, Wait, send};
use cogwork::llm::ScriptedClient;
use cogwork::prelude::*;

// --- core ---

const HINTS: Channel<String> = Channel::new("hints");
const GUESSES: Channel<String> = Channel::new("guesses");

#[derive(Default)]
struct Player {
    word: String,
    heard: Vec<String>,
    said: String,
}

type Client = Arc<dyn LlmClient>;

async fn ask(client: Client, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(prompt)]);
    Ok(client.complete(request).await?.text().to_owned())
}

fn agent(
    client: Client,
    prompt: fn(&Player) -> String,
    start: &str,
    [says, hears]: [&Channel<String>; 2],
) -> Result<Flow<Player>, BuildError> {
    let think = from_phases_with(
        client,
        move |player: &mut Player| prompt(player),
        ask,
        |player, _, reply| player.said = reply,
    );
    let listen = Wait::for_message(hears, |player: &mut Player, text: String| {
        let is_right = text == player.word;
        player.heard.push(text);
        if is_right { "right" } else { "continue" }
    });

    Flow::builder("agent")
        .start(start)
        .node("think", think)
        .edge("think", Action::DEFAULT, "say")
        .node("say", send(says, |player: &mut Player| player.said.clone()))
        .edge("say", Action::DEFAULT, "listen")
        .end("say", Action::CLOSED)
        .wait("listen", listen.with_actions(["right", "continue"]))
        .edge("listen", "continue", "think")
        .end("listen", "right")
        .end("listen", Action::CLOSED)
        .build()
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
async fn main() -> Result<(), Box<dyn Error>> {
    // With a real model: Arc::new(OpenAiClient::from_env()?)
    let hinter: Client = Arc::new(ScriptedClient::new(["it is yellow", "you peel it"]));
    let guesser: Client = Arc::new(ScriptedClient::new(["lemon", "banana"]));

    let hinter = agent(hinter, hint_prompt, "think", [&HINTS, &GUESSES])?;
    let guesser = agent(guesser, guess_prompt, "listen", [&GUESSES, &HINTS])?;

    let mut giver = Player {
        word: "banana".to_owned(),
        ..Player::default()
    };
    let mut seeker = Player::default();

    let (hints, hint_box) = HINTS.open(1);
    let (guesses, guess_box) = GUESSES.open(1);
    let mut giving = hinter.begin().with_address(hints).with_mailbox(guess_box);
    let mut seeking = guesser.begin().with_address(guesses).with_mailbox(hint_box);

    let (gave, sought) = tokio::try_join!(giving.finish(&mut giver), seeking.finish(&mut seeker))?;

    println!("hints: {:?}", seeker.heard);
    println!("guesses: {:?}", giver.heard);
    println!(
        "the hinter ended on `{}`, the guesser on `{}`",
        gave.action, sought.action
    );
    Ok(())
}
