//! Watches a run: prints its events as they occur. Two aspects of an article are researched in parallel. The article is drafted by a node
//! that fails at first, and reviewed until it is short enough.
//!
//! ```text
//! monday: started
//! monday: article/research#1 entered
//! monday: article/research#1[cats]/search#1 entered
//! monday: article/research#1[dogs]/search#1 entered
//! monday: article/research#1[cats]/search#1 ended on `default` after 3 steps in all
//! monday: article/research#1[dogs]/search#1 ended on `default` after 3 steps in all
//! monday: article/research#1 moved on `default` to draft
//! monday: article/draft#2 entered
//! monday: article/draft#2 failed attempt 1, next in 10.0ms: the server is starting
//! monday: article/draft#2 moved on `default` to review
//! monday: article/review#3 entered
//! monday: article/review#3 moved on `too long` to draft
//! monday: article/draft#4 entered
//! monday: article/draft#4 moved on `default` to review
//! monday: article/review#5 entered
//! monday: article/review#5 ended on `good` after 7 steps in all
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cogwork::flow::watch::{EventKind, events};
use cogwork::flow::{Action, Backoff, Branches, BuildError, Flow, Node, from_fn, from_phases};

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
    Flow::builder(what)
        .start("search")
        .node("search", search)
        .end("search", Action::DEFAULT)
        .build()
}

/// Fails at the first attempt, like a server that is still starting.
fn draft() -> impl Node<Article> {
    let awake = AtomicBool::new(false);
    let draft = from_phases(
        |article: &mut Article| (article.notes.join(", and "), article.text.clone()),
        move |(notes, last)| {
            let awake = awake.swap(true, Ordering::SeqCst);
            async move {
                match (awake, last.len()) {
                    (false, _) => Err("the server is starting"),
                    (true, 0) => Ok(format!("Here is, at some length, {notes}.")),
                    (true, _) => Ok(notes),
                }
            }
        },
        |article, text| article.text = text,
    );

    draft.retry(
        Backoff::of::<3>()
            .with_first(Duration::from_millis(10))
            .with_jitter(false),
    )
}

fn article() -> Result<Flow<Article>, BuildError> {
    let research = Branches::new()
        .branch(
            "cats",
            look_up("cats", 5)?,
            |_| String::new(),
            |article: &mut Article, note| article.notes.push(note),
        )
        .branch(
            "dogs",
            look_up("dogs", 30)?,
            |_| String::new(),
            |article, note| article.notes.push(note),
        );

    let review = from_fn(|article: &mut Article| {
        Action::from_static(match article.text.len() {
            0 => "nothing to read",
            1..60 => "good",
            _ => "too long",
        })
    });

    Flow::builder("article")
        .start("research")
        .branches("research", research)
        .edge("research", Action::DEFAULT, "draft")
        .node("draft", draft())
        .edge("draft", Action::DEFAULT, "review")
        .node(
            "review",
            review.with_actions(["good", "too long", "nothing to read"]),
        )
        .edge("review", "too long", "draft")
        .edge("review", "nothing to read", "research")
        .end("review", "good")
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

    let mut article = Article::default();
    flow.begin()
        .with_id("monday")
        .with_events(sink)
        .finish(&mut article)
        .await?;

    reader.await?;
    Ok(())
}
