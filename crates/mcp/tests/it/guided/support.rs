//! A host whose model follows a script.

use std::sync::Arc;

use cogwork_mcp::{Server, ServerBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::mind::Mind;
use crate::support::{Client, text};

/// What a host reads in a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    pub(crate) text: String,
    pub(crate) session: String,
    question: Option<Question>,
    /// The number of replies of the model.
    pub(crate) replies: u64,
    pub(crate) thoughts: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) text: String,
}

impl View {
    pub(crate) fn of(text: &str) -> Self {
        let (body, place) = text.rsplit_once("\nSession `").expect("the place");
        let (session, counts) = place.split_once('`').expect("an id");
        let number = |before: &str| {
            let (count, _) = counts.split_once(before).expect("a number");
            let count = count.rsplit(' ').next().expect("a number");
            count.parse().expect("a number")
        };

        let mut question: Option<Question> = None;
        for line in body.lines() {
            let id = line.strip_prefix("Question q");
            let id = id.and_then(|id| id.strip_suffix(':'));
            match (id, &mut question) {
                (Some(id), None) => {
                    question = Some(Question {
                        id: format!("q{id}"),
                        text: String::new(),
                    });
                }
                (None, _) if line.starts_with("Call `reason` with") => {}
                (_, Some(question)) => question.text += &format!("{line}\n"),
                (None, None) => {}
            }
        }
        Self {
            text: text.to_owned(),
            session: session.to_owned(),
            question,
            replies: number(" of "),
            thoughts: number(" thought"),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.question.is_some()
    }

    pub(crate) fn question(&self) -> &Question {
        self.question.as_ref().expect("a question")
    }

    /// Returns the call that replies to the question.
    pub(crate) fn reply(&self, reply: impl Into<Value>) -> Value {
        let (id, reply) = (&self.question().id, reply.into());
        json!({"sessionId": self.session, "question": id, "reply": reply})
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.text.contains("The session is complete.\n")
    }

    pub(crate) fn answer(&self) -> Option<&str> {
        let mut lines = self.text.lines();
        lines.find_map(|line| {
            let best = line.strip_prefix("Best answer so far: ");
            best.or_else(|| line.strip_prefix("Answer: "))
        })
    }
}

/// A server with its data in a folder, so that it can be restarted.
pub(crate) struct Host {
    folder: Arc<TempDir>,
    builder: ServerBuilder,
    pub(crate) client: Client,
}

impl Host {
    pub(crate) async fn new() -> Self {
        Self::with(Server::builder()).await
    }

    pub(crate) async fn with(builder: ServerBuilder) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let builder = builder.with_data(folder.path());
        let client = Client::new(builder.clone()).await;
        Self {
            folder,
            builder,
            client,
        }
    }

    /// Starts another server over the same data, in addition to this one.
    pub(crate) async fn beside(&self) -> Self {
        Self {
            folder: Arc::clone(&self.folder),
            builder: self.builder.clone(),
            client: Client::new(self.builder.clone()).await,
        }
    }

    /// Starts another server over the same data.
    pub(crate) async fn restart(&mut self) {
        *self = self.beside().await;
    }

    /// Changes the database.
    pub(crate) fn edit(&self, sql: &str) {
        let path = self.folder.path().join("sessions.sqlite");
        let database = rusqlite::Connection::open(path).expect("a database");
        database.execute(sql, []).expect("a change");
    }

    /// Calls the tool, and returns what the host reads.
    pub(crate) async fn reason(&self, arguments: Value) -> View {
        let result = self.client.call("reason", arguments).await;
        assert_ne!(result.is_error, Some(true), "{}", text(&result));
        assert_eq!(result.structured_content, None);
        View::of(text(&result))
    }

    /// Begins a session.
    pub(crate) async fn begin(&self, mind: &Mind) -> View {
        self.reason(mind.beginning()).await
    }

    /// Shows a session.
    pub(crate) async fn look(&self, view: &View) -> View {
        self.reason(json!({"sessionId": view.session})).await
    }

    /// Replies to the question as the mind does.
    pub(crate) async fn answer(&self, mind: &Mind, view: &View) -> View {
        self.reason(view.reply(mind.reply(view.question()))).await
    }

    /// Answers questions until the session ends, at most 60 times. Returns the last result.
    pub(crate) async fn finish(&self, mind: &Mind, mut view: View) -> View {
        for _ in 0..60 {
            if !view.is_open() {
                return view;
            }
            view = self.answer(mind, &view).await;
        }
        panic!("the session doesn't end: {}", view.text);
    }

    /// Returns the text of a call that is refused.
    pub(crate) async fn refused(&self, arguments: Value) -> String {
        self.client.refused("reason", arguments).await
    }
}
