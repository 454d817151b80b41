//! Makes the tool calls of a reply.

use cogwork_flow::{note, report};
use cogwork_llm::{FinishReason, ToolCall};
use cogwork_text::Name;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::{ChainOfThought, ReasoningEvent, ToolUse};

/// The tool calls of a reply.
pub(crate) struct ToolCalls<'a> {
    pub(crate) node: &'a ChainOfThought,
    pub(crate) thought_number: u32,
    /// The reason why the model stopped writing the reply.
    pub(crate) reason: &'a FinishReason,
    pub(crate) calls: &'a [ToolCall],
}

impl ToolCalls<'_> {
    /// Returns how many of the calls are made. The others are answered with an error.
    pub(crate) fn admitted(&self) -> usize {
        let tools = &self.node.tooling.tools;
        (0..self.calls.len())
            .filter(|index| tools.admit(*index, self.reason).is_ok())
            .count()
    }

    /// Makes the calls concurrently. `uses` are the records of the calls, in order, to which the
    /// results are added as soon as they are there, because a turn may end before all calls have
    /// returned.
    pub(crate) async fn make(&self, uses: &mut [ToolUse]) {
        let indexed = self.calls.iter().enumerate();
        let mut running: FuturesUnordered<_> = indexed
            .map(|(index, call)| async move { (index, self.result(index, call).await) })
            .collect();

        while let Some((index, result)) = running.next().await {
            let Some(begun) = uses.get_mut(index) else {
                continue;
            };

            *begun = begun.clone().returned(result);
            self.report(begun);
        }
    }

    /// Returns the output of a call, or a description of the failure for the model.
    async fn result(&self, index: usize, call: &ToolCall) -> Result<String, String> {
        let tools = &self.node.tooling.tools;
        tools
            .admit(index, self.reason)
            .map_err(|error| error.to_string())?;

        note(|| format!("calling the tool `{}`", Name(call.name())));
        self.node.reporter.calling_tool(self.thought_number, call);
        report(|| ReasoningEvent::tool_call(self.thought_number, call));

        tools.call(call).await.map_err(|error| error.to_string())
    }

    fn report(&self, used: &ToolUse) {
        let outcome = if used.failed { "failed" } else { "returned" };
        let bytes = used.output.len();
        note(|| format!("the tool `{}` {outcome} ({bytes} bytes)", Name(&used.name)));

        self.node.reporter.tool_returned(self.thought_number, used);
        report(|| ReasoningEvent::tool_result(self.thought_number, used));
    }
}
