//! Any calls give the same answers with sessions in memory and in a database.

use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use proptest::prelude::*;
use proptest::sample::select;
use rmcp::model::ReadResourceRequestParams;
use serde_json::{Value, json};

use crate::support::{Client, call, client_of, text};

/// The names of times, which differ.
const TIMES: [&str; 5] = ["began", "created", "updated", "seconds", "at"];

/// What a client does.
#[derive(Debug, Clone)]
enum Action {
    Call(&'static str, Value),
    /// Replies to the first question of a session of `begin`.
    Reply(&'static str),
    ReadResource(String),
    ListResources,
}

#[derive(Debug, Clone)]
struct Step {
    client: usize,
    action: Action,
}

/// Two clients of one server.
struct Clients([Client; 2]);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..50)
}

fn step() -> impl Strategy<Value = Step> {
    let action = prop_oneof![
        4 => sequential(),
        4 => think(),
        3 => manage(),
        2 => guided(),
        2 => resource(),
    ];
    (0..2_usize, action).prop_map(|(client, action)| {
        // One client uses a session without a name, so that there is only one to remove.
        let client = if action.is_unnamed() { 0 } else { client };
        Step { client, action }
    })
}

impl Action {
    fn is_unnamed(&self) -> bool {
        matches!(self, Self::Call(_, arguments) if arguments["sessionId"].is_null())
    }
}

fn session() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c", "d"][..])
}

fn words() -> impl Strategy<Value = &'static str> {
    select(&["The sea", "the MOON and the sea", "ÄRGER", "x"][..])
}

fn sequential() -> impl Strategy<Value = Action> {
    let branch = prop::option::of((1_u64..4, "[a-d]"));
    (prop::option::of(session()), words(), branch).prop_map(|(session, thought, branch)| {
        let mut arguments = json!({
            "sessionId": session,
            "thought": thought,
            "thoughtNumber": 2,
            "totalThoughts": 3,
            "nextThoughtNeeded": true,
        });
        if let Some((from, id)) = branch {
            arguments["branchFromThought"] = json!(from);
            arguments["branchId"] = json!(id);
        }
        Action::Call("sequentialthinking", arguments)
    })
}

fn think() -> impl Strategy<Value = Action> {
    let strategy = prop::option::of(select(&["linear", "react"][..]));
    let arguments = (session(), words(), strategy, any::<bool>());
    arguments.prop_map(|(session, thought, strategy, needed)| {
        let arguments = json!({
            "sessionId": session,
            "thought": thought,
            "strategy": strategy,
            "nextThoughtNeeded": needed,
        });
        Action::Call("think", arguments)
    })
}

fn manage() -> impl Strategy<Value = Action> {
    let operations = [
        "fork", "undo", "show", "remove", "export", "resume", "search", "list",
    ];
    let query = select(&["sea", "moon sea", "ärger", "nowhere"][..]);
    let order = select(&["thoughtCount", "created"][..]);
    let arguments = (select(operations.to_vec()), session(), query, order);
    arguments.prop_map(|(operation, session, query, order)| {
        let mut arguments = json!({"operation": operation, "sessionId": session});
        match operation {
            "search" => arguments["query"] = json!(query),
            "list" => arguments["sortBy"] = json!(order),
            _ => {}
        }
        Action::Call("think_session", arguments)
    })
}

fn guided() -> impl Strategy<Value = Action> {
    prop_oneof![
        (session(), words()).prop_map(|(session, problem)| {
            let arguments =
                json!({"sessionId": session, "problem": problem, "strategy": "step_back"});
            Action::Call("begin", arguments)
        }),
        session().prop_map(Action::Reply),
    ]
}

fn resource() -> impl Strategy<Value = Action> {
    let view = select(&["", "/json", "/mermaid"][..]);
    prop_oneof![
        Just(Action::ListResources),
        (session(), view).prop_map(|(session, view)| {
            Action::ReadResource(format!("cogwork://sessions/{session}{view}"))
        }),
    ]
}

impl Clients {
    /// Connects to a server with limits that are reached soon.
    async fn connect(builder: ServerBuilder) -> Self {
        let limits = ServerLimits::default()
            .with_thoughts(5)
            .with_branches(2)
            .with_sessions(4)
            .with_open_sessions(1);
        let limits = limits.with_resource_bytes(400);
        let server = builder.with_limits(limits).open().expect("it opens");
        Self([client_of(&server).await, client_of(&server).await])
    }

    async fn take(&self, Step { client, action }: &Step) -> Value {
        let client = &self.0[*client];
        match action {
            Action::Call(tool, arguments) => outcome(client, tool, arguments.clone()).await,
            Action::Reply(session) => reply(client, session).await,
            Action::ReadResource(uri) => resource_at(client, uri).await,
            Action::ListResources => resources(client).await,
        }
    }
}

/// Returns what a call answers, without times.
async fn outcome(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    let text = text(&result).to_owned();
    let data = result.structured_content.map(timeless);

    // The texts of some contain times.
    let is_error = result.is_error == Some(true);
    let text = (is_error || tool == "sequentialthinking").then_some(text);
    json!({"text": text, "data": data, "isError": is_error})
}

async fn reply(client: &Client, session: &str) -> Value {
    let view = outcome(client, "answer", json!({"sessionId": session})).await;
    let question = &view["data"]["questions"][0]["id"];
    let replies = json!([{"question": question, "reply": "It is the sea."}]);
    outcome(
        client,
        "answer",
        json!({"sessionId": session, "replies": replies}),
    )
    .await
}

async fn resource_at(client: &Client, uri: &str) -> Value {
    let request = ReadResourceRequestParams::new(uri);
    match client.read_resource(request).await {
        Ok(result) => {
            let result = serde_json::to_value(result.contents).expect("JSON");
            let text = result[0]["text"].as_str().expect("a text");
            serde_json::from_str(text).map_or_else(|_| json!(text), timeless)
        }
        Err(error) => json!(error.to_string()),
    }
}

async fn resources(client: &Client) -> Value {
    let resources = client.list_all_resources().await.expect("resources");
    let mut uris: Vec<_> = { resources.into_iter() }
        .map(|resource| (resource.uri.clone(), resource.name.clone()))
        .collect();
    uris.retain(|(uri, _)| uri.len() < 30);
    uris.sort();
    json!(uris)
}

/// Returns data without times, random ids, and an order that depends on times.
fn timeless(data: Value) -> Value {
    match data {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let is_time = TIMES.contains(&name.as_str());
                let value = if is_time {
                    Value::Null
                } else {
                    timeless(value)
                };
                (name, value)
            });
            fields.collect()
        }
        Value::Array(values) => {
            let mut values: Vec<_> = values.into_iter().map(timeless).collect();
            if values.iter().all(|value| value["session"].is_string()) {
                values.sort_by_key(|value| value["session"].to_string());
            }
            Value::Array(values)
        }
        value => value,
    }
}

async fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = Clients::connect(Server::builder()).await;
    let database = Clients::connect(Server::builder().with_data(folder.path())).await;

    for step in steps {
        let expected = database.take(step).await;
        prop_assert_eq!(memory.take(step).await, expected, "{:?}", step);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn memory_gives_the_answers_of_a_database(steps in steps()) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(check(&steps))?;
    }
}
