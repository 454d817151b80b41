//! A service that answers tickets: a model drafts a reply, a person approves it, and clients follow by
//! server-sent events. Kill it at any moment: after a restart, each ticket goes on where it was, nothing
//! is done twice, and clients that come back get each event once.
//!
//! ```text
//! $ cargo run -p cogwork-examples --features studio --example tickets_service -- tickets 8080
//! $ api=http://127.0.0.1:8080/api json='Content-Type: application/json' staff='Authorization: Bearer staff'
//! $ curl -s $api/runs -H "$json" -d '{"flow": "ticket", "id": "17", "input": {"customer": "Ada", "text": "My kettle leaks."}}'
//! {"run":"17"}
//! $ curl -sN "$api/run/events?id=17"                          # what the customer sees
//! id: j0-4
//! data: {"at":0.11,"event":"approval","schema":{"type":"boolean"},"type":"paused","waits_at":"ticket/approval#2",…
//! $ curl -sN "$api/run/events?id=17" -H 'Last-Event-ID: j0-4' # from there on
//! $ curl -sN "$api/run/events?id=17" -H "$staff"              # with what was said
//! $ curl -s "$api/runs?status=paused" -H "$staff"
//! $ curl -s $api/run/answers -H "$json" -H "$staff" -d '{"id": "17", "event": "approval", "answer": true}'
//! $ curl -s $api/run/cancel -H "$json" -H "$staff" -d '{"id": "17"}'
//! ```

use std::env;
use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use cogwork::flow::{Action, Flow, Wait, from_fn, from_phases, idempotency_key};
use cogwork::journal::Store;
use cogwork_studio::{Runner, ServedFlow, View, api};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize)]
struct Ticket {
    customer: String,
    text: String,
    #[serde(default)]
    draft: String,
    #[serde(default)]
    answer: String,
}

const YES: Action = Action::from_static("yes");
const NO: Action = Action::from_static("no");

/// The place of a model. The outcome is recorded, so a restart doesn't ask for it again.
async fn draft((customer, text): (String, String)) -> Result<String, String> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(format!("Dear {customer}, we are sorry: {text}"))
}

fn decide(_: &mut Ticket, is_approved: bool) -> Action {
    if is_approved { YES } else { NO }
}

/// A mail server that gets the same key twice, after a crash in between, sends one mail.
async fn send(draft: String) -> Result<String, String> {
    let key = idempotency_key().unwrap_or_default();
    Ok(format!("{draft} (mail {key})"))
}

fn flow() -> Result<Flow<Ticket>, Box<dyn Error>> {
    let draft = from_phases(
        |ticket: &mut Ticket| (ticket.customer.clone(), ticket.text.clone()),
        draft,
        |ticket, draft| ticket.draft = draft,
    );
    let approval = Wait::for_event("approval", decide)
        .with_actions([YES, NO])
        .with_reason(|ticket| format!("Send this? {}", ticket.draft))
        .with_schema(json!({"type": "boolean"}));
    let send = from_phases(
        |ticket: &mut Ticket| ticket.draft.clone(),
        send,
        |ticket, answer| ticket.answer = answer,
    );
    let call = from_fn(|ticket: &mut Ticket| ticket.answer = "We will call you.".to_owned());

    Ok(Flow::builder("ticket")
        .start("draft")
        .node("draft", draft)
        .wait("approval", approval)
        .node("send", send)
        .node("call", call)
        .edge("draft", Action::DEFAULT, "approval")
        .edge("approval", YES, "send")
        .edge("approval", NO, "call")
        .end("send", Action::DEFAULT)
        .end("call", Action::DEFAULT)
        .build()?)
}

/// The staff sees and does everything. Customers write tickets, and follow those whose id they know.
fn view(request: &Parts) -> Option<View> {
    let key = request.headers.get("authorization");
    match (request.method.as_str(), request.uri.path()) {
        _ if key.is_some_and(|key| key == "Bearer staff") => Some(View::Full),
        ("POST", "/runs") | ("GET", "/run" | "/run/events") => Some(View::Public),
        _ => None,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(store), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("expected a store, such as `tickets` or `tickets.db`, and a port".into());
    };

    let begin = |input| Ok(serde_json::from_value(input)?);
    let tickets = ServedFlow::new(flow()?, begin, |ticket: &Ticket| {
        Some(ticket.answer.clone())
    });
    let runner = Runner::new(Store::at(&store)?, vec![tickets]);
    for (ticket, resumed) in runner.resume_interrupted().await? {
        if let Err(error) = resumed {
            eprintln!("ticket {ticket} cannot be resumed: {error}");
        }
    }

    let service = Router::new().nest("/api", api(runner.clone(), view));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    println!("{}", listener.local_addr()?);

    let stopped = async move {
        let _ = tokio::signal::ctrl_c().await;
        runner.shut_down().await;
    };
    let served = axum::serve(listener, service).with_graceful_shutdown(stopped);
    Ok(served.await?)
}
