//! Channels between runs.

mod bounds;
mod closing;
mod crashes;
mod disk;
mod nested;
mod places;
mod waking;

use cogwork_flow::{Action, Channel, Ended, Flow, Run, RunError, Wait, from_fn, send};
use serde::{Deserialize, Serialize};

const TALK: Channel<Said> = Channel::new("talk");

/// A message: who said it, and which of the messages it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    by: u32,
    number: u32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Telling {
    by: u32,
    said: u32,
    total: u32,
}

impl Telling {
    fn new(by: u32, total: u32) -> Self {
        Self { by, said: 0, total }
    }
}

/// Sends messages with the numbers from 1 to the total.
fn teller() -> Flow<Telling> {
    let count = from_fn(|telling: &mut Telling| {
        if telling.said == telling.total {
            return "done";
        }

        telling.said += 1;
        "tell"
    });
    let said = |telling: &mut Telling| Said {
        by: telling.by,
        number: telling.said,
    };

    Flow::builder("teller")
        .start("count")
        .node("count", count.with_actions(["tell", "done"]))
        .edge("count", "tell", "tell")
        .end("count", "done")
        .node("tell", send(&TALK, said))
        .edge("tell", Action::DEFAULT, "count")
        .end("tell", Action::CLOSED)
        .build()
        .unwrap()
}

/// Receives messages until all senders are gone.
fn listener() -> Flow<Vec<Said>> {
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));

    Flow::builder("listener")
        .start("listen")
        .wait("listen", listen)
        .edge("listen", Action::DEFAULT, "listen")
        .end("listen", Action::CLOSED)
        .build()
        .unwrap()
}

/// Runs a flow until it ends. The run is dropped with the returned future, or when that is ready.
async fn finish<S>(mut run: Run<'_, S>, mut state: S) -> Result<(Ended, S), RunError> {
    let ended = run.finish(&mut state).await?;
    Ok((ended, state))
}

fn numbers_by(heard: &[Said], by: u32) -> Vec<u32> {
    let theirs = heard.iter().filter(|said| said.by == by);
    theirs.map(|said| said.number).collect()
}
