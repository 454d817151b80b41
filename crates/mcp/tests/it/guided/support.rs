//! A host whose model follows a script.

use std::sync::Arc;

use cogwork_mcp::{Server, ServerBuilder};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::mind::Mind;
use crate::support::{Client, call, client_of, text};

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
        let client = client_of(&builder.clone().open().expect("the server opens")).await;
        Self {
            folder,
            builder,
            client,
        }
    }

    /// Starts another server over the same data.
    pub(crate) async fn restart(&mut self) {
        let builder = self.builder.clone().with_data(self.folder.path());
        self.client = client_of(&builder.open().expect("the server opens")).await;
    }

    /// Starts another server over the same data, in addition to this one.
    pub(crate) async fn beside(&self) -> Self {
        let builder = self.builder.clone().with_data(self.folder.path());
        let client = client_of(&builder.clone().open().expect("the server opens")).await;
        Self {
            folder: Arc::clone(&self.folder),
            builder,
            client,
        }
    }

    /// Changes the database.
    pub(crate) fn edit(&self, sql: &str) {
        let path = self.folder.path().join("sessions.sqlite");
        let database = rusqlite::Connection::open(path).expect("a database");
        database.execute(sql, []).expect("a change");
    }

    pub(crate) async fn begin(&self, arguments: Value) -> Value {
        data(&call(&self.client, "begin", arguments).await)
    }

    pub(crate) async fn answer(&self, arguments: Value) -> Value {
        data(&call(&self.client, "answer", arguments).await)
    }

    /// Returns the text of a call that is refused.
    pub(crate) async fn refused(&self, tool: &'static str, arguments: Value) -> String {
        let result = call(&self.client, tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{}", text(&result));
        text(&result).to_owned()
    }
}

/// Returns the data of a result that isn't an error.
pub(crate) fn data(result: &CallToolResult) -> Value {
    assert_ne!(result.is_error, Some(true), "{}", text(result));
    result.structured_content.clone().expect("data")
}

/// Returns the ids of the open questions.
pub(crate) fn ids(view: &Value) -> Vec<String> {
    let questions = view["questions"].as_array().expect("a list");
    let ids = questions.iter().map(|question| question["id"].as_str());
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

/// Returns the text of the last message of a question.
pub(crate) fn last_message(question: &Value) -> &str {
    let messages = question["messages"].as_array().expect("messages");
    let last = messages.last().expect("a message");
    last["text"].as_str().expect("a text")
}

/// Returns a call with a reply to one question.
pub(crate) fn reply_to(session: &str, question: &str, reply: &str) -> Value {
    json!({"sessionId": session, "replies": [{"question": question, "reply": reply}]})
}

/// Returns a view without what differs between two sessions with the same replies.
pub(crate) fn comparable(mut view: Value) -> Value {
    view["sessionId"] = Value::Null;
    view["budget"]["seconds"] = Value::Null;
    view
}

/// Answers all open questions until the session ends, at most 60 times. Returns the last result.
pub(crate) async fn finish(host: &Host, mind: &Mind, mut view: Value) -> Value {
    let session = view["sessionId"].clone();
    for _ in 0..60 {
        if view["status"] != "open" {
            return view;
        }
        let replies = mind.replies(&view);
        let call = json!({"sessionId": session, "replies": replies});
        view = host.answer(call).await;
    }
    panic!("the session doesn't end: {view}");
}
