//! Makes the tool calls of a reply.

use crate::ask::{Meter, call_label, record, report_tool_call};
use cogwork_flow::note;
use cogwork_llm::{ChatResponse, Message, ToolCall};
use cogwork_text::Name;
use cogwork_tools::Tools;
use futures_util::future::join_all;

/// Makes the calls concurrently, and returns their results in order. In a composite node of a run
/// with a journal, each outcome is recorded.
pub(crate) async fn make_calls(
    tools: &Tools,
    response: &ChatResponse,
    round: u32,
    meter: &Meter,
) -> Vec<Message> {
    let calls = response.tool_calls().iter().enumerate();
    let results = calls.map(|(index, call)| async move {
        let result = match tools.admit(index, response.finish_reason()) {
            Ok(()) => {
                meter.count_tool_call();
                let what = format!("tool {round}.{} {}", index + 1, call.name());
                let label = call_label(&what, &call.arguments());
                make_call(tools, call, &label).await
            }
            Err(error) => Err(error.to_string()),
        };

        match result {
            Ok(output) => Message::tool_result(call, output),
            Err(problem) => Message::tool_failure(call, problem),
        }
    });

    join_all(results).await
}

async fn make_call(tools: &Tools, call: &ToolCall, label: &str) -> Result<String, String> {
    let made = record(label, || async {
        note(|| format!("calling the tool `{}`", Name(call.name())));
        let input = || call.arguments().to_owned();
        let made = report_tool_call(call.id(), call.name(), input, tools.call(call));
        made.await.map_err(|error| error.to_string())
    });

    made.await.and_then(|(result, _)| result)
}
