use std::time::Duration;

use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use rmcp::model::{
    CallToolResponse, CancelTaskParams, DetailedTask, GetTaskParams, TaskPayload, TaskStatus,
};
use serde_json::json;

use super::stalled::Stalled;
use crate::host::{Era, Host, call};

async fn started(host: &Host) -> String {
    let arguments = json!({"problem": "17 * 3?", "strategy": "chain_of_thought"});
    let response = host.client.call_tool_once(call("solve", arguments)).await;
    match response.expect("a response") {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("expected a task, got {other:?}"),
    }
}

/// Polls a task until it ends.
async fn ended(host: &Host, id: &str) -> DetailedTask {
    loop {
        let task = host.client.get_task(GetTaskParams::new(id)).await;
        let task = task.expect("the task is there").task;
        if task.status().is_terminal() {
            return task;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_with_tasks_polls_the_run() {
    for era in Era::BOTH {
        let client = ScriptedClient::new([
            "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
            "results:\n- 30\n- 21\n- 51\nanswer: 51",
            "thought: 51 / 3 = 17.\nholds: yes",
        ]);
        let server = Server::builder()
            .with_client(client)
            .open()
            .expect("it opens");
        let host = Host::connect_with_tasks(&server, era).await;

        let id = started(&host).await;
        let task = ended(&host, &id).await;

        let message = task.task.status_message.clone().expect("a message");
        assert!(message.starts_with("answered, after "), "{message}");
        match task.payload {
            TaskPayload::Completed { result } => {
                assert_eq!(result["structuredContent"]["answer"], "51");
            }
            other => panic!("expected a result, got {other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_task_drops_the_call_to_the_model() {
    for era in Era::BOTH {
        let model = Stalled::after(["steps:\n- Multiply."]);
        let builder = Server::builder().with_client(model.clone());
        let host = Host::connect_with_tasks(&builder.open().expect("it opens"), era).await;

        let id = started(&host).await;
        model.waiting(1).await;
        let cancelled = host.client.cancel_task(CancelTaskParams::new(&id)).await;
        cancelled.expect("the task is cancelled");

        model.dropped(1).await;
        assert_eq!(ended(&host, &id).await.status(), TaskStatus::Cancelled);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_outlives_the_connection() {
    let model = Stalled::after(["steps:\n- Multiply."]);
    let builder = Server::builder().with_client(model.clone());
    let server = builder.open().expect("it opens");

    let host = Host::connect_with_tasks(&server, Era::Discover).await;
    let id = started(&host).await;
    model.waiting(1).await;
    host.client.cancel().await.expect("the client ends");

    let host = Host::connect_with_tasks(&server, Era::Discover).await;
    let task = host.client.get_task(GetTaskParams::new(&id)).await;
    assert_eq!(task.expect("a task").task.status(), TaskStatus::Working);
}

#[tokio::test]
async fn unknown_tasks_are_errors() {
    let server = Server::builder().open().expect("it opens");
    let host = Host::connect_with_tasks(&server, Era::Discover).await;

    let params = GetTaskParams::new("\u{1b}[2J");
    let error = host.client.get_task(params).await.expect_err("an error");

    assert!(error.to_string().contains("unknown task"));
}
