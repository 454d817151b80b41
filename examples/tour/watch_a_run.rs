//! Watches a run: prints its events as they occur. Two topics are researched in parallel, and a node fails at first.
//!
//! ```text
//! monday: started
//! monday: article/research#1 entered
//! monday: article/research#1[cats]/search#1 entered
//! monday: article/research#1[dogs]/search#1 entered
//! monday: article/research#1[cats]/search#1 returned "what is known of cats"
//! monday: article/research#1[cats]/search#1 ended on `default` after 3 steps in all
//! monday: article/research#1[dogs]/search#1 returned "what is known of dogs"
//! monday: article/research#1[dogs]/search#1 ended on `default` after 3 steps in all
//! monday: article/research#1 moved on `default` to draft
//! monday: article/draft#2 entered
//! monday: article/draft#2 failed attempt 1, next in 10.0ms: the server is starting
//! monday: article/draft#2 returned "what is known of cats, and what is known of dogs"
//! monday: article/draft#2 ended on `default` after 4 steps in all
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cogwork::flow::watch::{EventKind, events};
use cogwork::flow::{Backoff, Branches, BuildError, Flow, Node, from_phases};

#[derive(Default)]
struct Article {
    notes: Vec<String>,
    text: String,
}

/// A flow with a slow lookup.
fn look_up(what: &'static str, milliseconds: u64) -> Result<Flow<String>, BuildError> {
    let search = from_phases(
        |_: &mut String| (),
        move |()| async move {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            Ok::<_, std::io::Error>(format!("what is known of {what}"))
        },
        |note, found| *note = found,
    );
    Flow::from_node("search", search)
}

fn article() -> Result<Flow<Article>, BuildError> {
    let add = |article: &mut Article, note| article.notes.push(note);
    let research = Branches::new()
        .branch("cats", look_up("cats", 5)?, |_| String::new(), add)
        .branch("dogs", look_up("dogs", 30)?, |_| String::new(), add);

    // Fails at the first attempt, like a server that is still starting.
    let is_awake = AtomicBool::new(false);
    let draft = from_phases(
        |article: &mut Article| article.notes.join(", and "),
        move |notes| {
            let is_awake = is_awake.swap(true, Ordering::SeqCst);
            async move { is_awake.then_some(notes).ok_or("the server is starting") }
        },
        |article, text| article.text = text,
    )
    .retry(Backoff::fixed::<3>(Duration::from_millis(10)));

    Flow::builder("article")
        .branches("research", research)
        .node("draft", draft)
        .chain(["research", "draft"])
        .build()
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let flow = article()?;
    let (sink, mut told) = events(1_000);

    // The reader is independent of the run. If it is too slow, it misses events.
    let reader = tokio::spawn(async move {
        while let Some(event) = told.next().await {
            if !matches!(event.kind, EventKind::PhaseFinished { .. }) {
                println!("{event}");
            }
        }
    });

    let mut run = flow.begin().with_id("monday").with_events(sink);
    run.finish(&mut Article::default()).await?;
    drop(run);

    reader.await?;
    Ok(())
}
