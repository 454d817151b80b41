//! A chat with memory: the conversation is kept in the state, and its oldest exchanges are dropped when it becomes too
//! long.
//!
//! ```text
//! reader: Do you know a book about a whale?
//! librarian: "Moby-Dick" is about a captain who hunts a white whale.
//! reader: Who wrote it?
//! librarian: Herman Melville wrote it in 1851.
//! reader: What did he write first?
//! librarian: "Typee" was his first book.
//! reader: bye
//! 4 messages are kept.
//! ```
//!
//! For a real chat, read the messages from wherever they come.

use std::error::Error;

use cogwork::prelude::*;
use cogwork::typed::ChatMemory;
use cogwork_quickstart::model;

// --- core ---

#[derive(Default)]
struct Chat {
    message: String,
    answer: String,
    memory: ChatMemory,
}

fn chat(client: impl LlmClient + 'static) -> Result<Flow<Chat>, BuildError> {
    let listen = Wait::for_event("message", |chat: &mut Chat, message: String| {
        if message == "bye" {
            return "leave";
        }

        chat.message = message;
        "answer"
    })
    .with_actions(["answer", "leave"]);

    let answer = Model::text(client)
        .with_system("You are a librarian. Answer in one sentence.")
        .node(
            |chat: &Chat| chat.message.clone(),
            |chat, answer| chat.answer = answer,
        )
        .with_memory(|chat| &mut chat.memory);

    Flow::builder("chat")
        .start("listen")
        .wait("listen", listen)
        .edge("listen", "answer", "answer")
        .end("listen", "leave")
        .node("answer", answer)
        .edge("answer", Action::DEFAULT, "listen")
        .build()
}

// --- end of the core ---

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "\"Moby-Dick\" is about a captain who hunts a white whale.",
        "Herman Melville wrote it in 1851.",
        "\"Typee\" was his first book.",
    ]))?;
    let flow = chat(client)?;

    let mut state = Chat {
        memory: ChatMemory::new().with_max_messages(4),
        ..Chat::default()
    };
    let mut run = flow.begin();
    for message in [
        "Do you know a book about a whale?",
        "Who wrote it?",
        "What did he write first?",
        "bye",
    ] {
        let Proceeded::Paused(paused) = run.proceed(&mut state).await? else {
            break;
        };

        if !state.answer.is_empty() {
            println!("librarian: {}", state.answer);
        }
        println!("reader: {message}");
        run.deliver(&paused.event, &message).await?;
    }
    run.finish(&mut state).await?;

    println!("{} messages are kept.", state.memory.messages().len());
    Ok(())
}
