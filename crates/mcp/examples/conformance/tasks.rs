//! Tools that are tasks for clients that know tasks.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult,
    InputRequest,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use serde_json::{Value, json};

use crate::asking::{asked, field, form, name_form, reply};
use crate::contents::{complete, failed, text_block, text_result, wire};
use crate::fixture::Fixture;

/// How long the tool that fails works.
const WORK: Duration = Duration::from_secs(1);

type Outcome = Result<CallToolResult, TaskExit>;

impl Fixture {
    pub(crate) async fn task_tool(
        &self,
        name: &str,
        request: CallToolRequestParams,
        client: Option<&ClientCapabilities>,
    ) -> Result<CallToolResponse, ErrorData> {
        let has_tasks = client.is_some_and(ClientCapabilities::supports_tasks);
        let seconds = seconds(&request);

        match name {
            "slow_compute" if !has_tasks || seconds == 0 => text_result("computed"),
            _ if !has_tasks => {
                let needed = ClientCapabilities::builder().enable_tasks().build();
                Err(ErrorData::missing_required_client_capability(needed))
            }
            "slow_compute" => Ok(self.spawn(move |context| compute(seconds, context))),
            "failing_job" => Ok(self.spawn(|_| fail())),
            "protocol_error_job" => Ok(self
                .spawn(|_| async { Err(ErrorData::internal_error("as it should", None).into()) })),
            "confirm_delete" => Ok(self.spawn(confirm)),
            "multi_input" => Ok(self.spawn(two_questions)),
            _ => {
                let replies = request.input_responses.as_ref();
                let name = reply(replies, "user_name").and_then(|reply| field(reply, "name"));
                let Some(name) = name.map(str::to_owned) else {
                    return asked([("user_name", name_form("What is your name?"))], None);
                };
                Ok(self.spawn(|_| async move { text(&format!("Hello, {name}!")) }))
            }
        }
    }

    fn spawn<F>(&self, work: impl FnOnce(TaskContext) -> F) -> CallToolResponse
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let options = TaskOptions::new()
            .with_ttl_ms(60_000)
            .with_poll_interval_ms(100);
        let task = self.tasks.spawn(options, |context| Box::pin(work(context)));
        CallToolResponse::Task(CreateTaskResult::new(task))
    }
}

fn seconds(request: &CallToolRequestParams) -> u64 {
    let arguments = request.arguments.as_ref();
    let seconds = arguments.and_then(|arguments| arguments.get("seconds"));
    seconds.and_then(Value::as_u64).unwrap_or_default()
}

fn text(text: &str) -> Outcome {
    Ok(wire(complete(json!({"content": [text_block(text)]})))?)
}

async fn compute(seconds: u64, context: TaskContext) -> Outcome {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(seconds)) => text("computed"),
        () = context.cancelled() => Err(TaskExit::Cancelled),
    }
}

async fn fail() -> Outcome {
    tokio::time::sleep(WORK).await;
    Ok(failed("it failed, as it should")?)
}

fn confirmation(message: &str) -> Result<InputRequest, ErrorData> {
    let confirm = json!({"confirm": {"type": "boolean"}});
    wire(form(message, confirm, &["confirm"]))
}

async fn confirm(context: TaskContext) -> Outcome {
    let reply = context
        .request_input("confirm", confirmation("Delete it?")?)
        .await?;
    text(&format!("the reply was {reply}"))
}

async fn two_questions(context: TaskContext) -> Outcome {
    let first = context.request_input("first", confirmation("The first?")?);
    let second = context.request_input("second", confirmation("The second?")?);
    let (first, second) = futures_util::try_join!(first, second)?;
    text(&format!("the replies were {first} and {second}"))
}
