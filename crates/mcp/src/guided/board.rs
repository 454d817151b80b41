//! The questions of a run that have no reply yet, and the model and the tools of the host that ask them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, Messages, ToolDefinition, Usage,
};
use cogwork_tools::{Tool, ToolError};
use serde_json::Value;
use tokio::sync::oneshot;

use super::entry::Reply;
use super::question::{Answered, Asked, Known, Question, RefusedReply};

/// The questions of a run. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Board(Arc<Mutex<Questions>>);

#[derive(Debug, Default)]
struct Questions {
    /// The number of questions so far.
    count: u64,
    open: BTreeMap<u64, Open>,
    known: Known,
    answered: Answered,
    /// The problem of the last reply, if the run reports problems by itself.
    problem: Option<String>,
    reports_problems: bool,
}

#[derive(Debug)]
struct Open {
    question: Arc<Question>,
    /// Missing once there is a reply.
    sender: Option<oneshot::Sender<Reply>>,
}

impl Board {
    /// Asks for the next message of a conversation.
    pub(super) fn ask_model(&self, request: &ChatRequest) -> Asking {
        let messages = request.messages();
        let mut questions = self.locked();
        let refusal = questions.refusal(messages);
        let known = questions.known.count(messages);
        questions.known.add(messages);

        let asked = Asked::Model {
            messages: messages.clone(),
            known,
            max_tokens: request.max_tokens(),
        };
        self.open(&mut questions, asked, refusal)
    }

    /// Asks for the output of a tool.
    pub(super) fn ask_tool(&self, name: String, input: Value) -> Asking {
        let asked = Asked::Tool { name, input };
        self.open(&mut self.locked(), asked, None)
    }

    fn open(
        &self,
        questions: &mut Questions,
        asked: Asked,
        refusal: Option<RefusedReply>,
    ) -> Asking {
        questions.count = questions.count.saturating_add(1);
        let number = questions.count;

        let question = Arc::new(Question {
            id: format!("q{number}-{:06x}", asked.hash()),
            asked,
            refusal,
        });
        let (sender, reply) = oneshot::channel();
        let open = Open {
            question: Arc::clone(&question),
            sender: Some(sender),
        };
        questions.open.insert(number, open);

        Asking {
            board: self.clone(),
            number,
            question,
            reply,
        }
    }

    /// Returns the questions without a reply, in order.
    pub(super) fn questions(&self) -> Vec<Arc<Question>> {
        let questions = self.locked();
        let open = questions.open.values();
        open.filter(|open| open.sender.is_some())
            .map(|open| Arc::clone(&open.question))
            .collect()
    }

    /// Gives a reply to an open question. Returns what was asked, if there is such a question.
    pub(super) fn reply(&self, reply: Reply) -> Option<Arc<Question>> {
        let mut questions = self.locked();
        let Questions { open, answered, .. } = &mut *questions;
        let mut open = open.values_mut();
        let is_meant = |open: &&mut Open| {
            reply.question.as_ref() == Some(&open.question.id) && open.sender.is_some()
        };
        let found = open.find(is_meant)?;
        let question = Arc::clone(&found.question);

        if let Asked::Model { messages, .. } = &question.asked {
            answered.add(messages, &reply.reply, &question.id);
        }
        if let Some(sender) = found.sender.take() {
            // The run may have withdrawn the question.
            let _ = sender.send(reply);
        }
        Some(question)
    }

    /// Notes that the run has taken a step. Conversations that continue are then new questions.
    pub(super) fn end_step(&self) {
        self.locked().answered.clear();
    }

    /// Declares that [`report_problem`](Self::report_problem) is called for each reply that cannot
    /// be used.
    pub(super) fn expect_problems(&self) {
        self.locked().reports_problems = true;
    }

    /// Notes why the last reply cannot be used.
    pub(super) fn report_problem(&self, problem: String) {
        self.locked().problem = Some(problem);
    }

    /// A panic can't leave the questions half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Questions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Questions {
    /// Returns the reply that made it necessary to continue this conversation, if it could not be
    /// used.
    fn refusal(&mut self, messages: &Messages) -> Option<RefusedReply> {
        let reported = self.problem.take();
        let question = self.answered.before(messages)?.to_owned();

        // Within a step, a conversation only continues because of a problem, unless tools are
        // called. A run that calls tools within a step reports its problems.
        let problem = match reported {
            None if self.reports_problems => return None,
            None => messages.last()?.text().to_owned(),
            Some(problem) => problem,
        };
        Some(RefusedReply { question, problem })
    }
}

/// A question that waits for its reply. It is withdrawn when this is dropped.
#[derive(Debug)]
pub(super) struct Asking {
    board: Board,
    number: u64,
    question: Arc<Question>,
    reply: oneshot::Receiver<Reply>,
}

impl Asking {
    async fn reply(mut self) -> Reply {
        match (&mut self.reply).await {
            Ok(reply) => reply,
            // The board lives as long as the run.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.board.locked().open.remove(&self.number);
    }
}

/// The model of the host. A call is a question, and waits for its reply.
///
/// It has no capabilities: nothing enforces the form of a reply. So replies are requested as lines
/// or as YAML, which need no escapes in the argument of a tool, and JSON is accepted as well.
pub(super) struct HostClient(pub(super) Board);

#[async_trait]
impl LlmClient for HostClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asking = self.0.ask_model(&request);
        let read = asking.question.asked.tokens();

        let reply = asking.reply().await;
        let response = ChatResponse::new(reply.reply);
        let written = response.estimated_tokens();
        Ok(response.with_usage(Usage::new(read, written)))
    }
}

/// A tool of the host. A call is a question, and waits for the output.
pub(super) struct HostTool {
    pub(super) board: Board,
    pub(super) definition: ToolDefinition,
}

#[async_trait]
impl Tool for HostTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let name = self.definition.name().to_owned();
        let reply = self.board.ask_tool(name, input).reply().await;

        if reply.failed {
            return Err(ToolError::failed(reply.reply));
        }
        Ok(reply.reply)
    }
}
