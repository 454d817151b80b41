//! The tools `begin` and `answer`.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cogwork_text::{MultiLine, Name, NameList, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{CallToolResponse, JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::entry::{Budget, Entry, HostToolSettings, Reply, Settings, StopReason};
use super::on_own_thread;
use super::session::{Begun, GuidedSession};
use super::view::{Before, NotAccepted, View, Wanted};
use crate::arguments;
use crate::connection::Connection;
use crate::method::Method;
use crate::store::{
    Changed, HeaderChange, NewSession, Owner, SessionId, SessionKind, SessionStore,
};
use crate::tool::{ServerTool, ToolCall, ToolFailure, described, schema_of, set_choices, tool};

const BEGIN: &str = "\
Solve a hard problem step by step, guided by a strategy. You do the reasoning: the result contains the first \
question, and you reply to it with `answer`. Each reply is checked. It leads to the next question, to the same \
question with a description of what is wrong, or to the final answer. The budget limits the replies.

Strategies: `loop` (the default) keeps a plan that is evaluated and corrected in each thought; `chain_of_thought` \
breaks the problem down and checks the answer; `linear` revises and verifies a hypothesis; `step_back` finds the \
principle first; `scratchpad` calculates with variables; `self_ask` asks smaller questions; `self_consistency` \
takes a vote over several paths; `tree_of_thoughts` explores and scores approaches; `react` and `rewoo` use your \
tools, which you describe in `tools` and call when a question asks for it.";

const ANSWER: &str = "\
Reply to the open questions of a session that `begin` started. Write the reply in exactly the form that the \
question asks for. If several questions are open, answer them one by one or together; each is to be answered on \
its own. Without a reply, the open questions are shown again. With `conclude`, the session stops early: you are \
asked once for the best answer so far, and a second `conclude` ends the session without it.";

/// The maximum number of characters of the title of a session.
const TITLE: usize = 200;

/// The arguments of `begin`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BeginArguments {
    /// The whole problem, with everything that is needed to solve it.
    problem: String,
    strategy: Option<String>,
    /// Limits of the session.
    budget: Option<Budget>,
    /// Tools of yours that you may call for the session.
    #[schemars(length(max = 64))]
    tools: Option<Vec<HostToolSettings>>,
    /// An id for the session. By default, one is created.
    session_id: Option<SessionId>,
}

/// The arguments of `answer`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnswerArguments {
    /// The session. By default, the one that this connection used last.
    session_id: Option<SessionId>,
    /// The reply to a question.
    reply: Option<String>,
    /// The id of the question, if several are open.
    question: Option<String>,
    /// Whether a tool failed, and the reply is its error.
    failed: Option<bool>,
    /// Replies to several questions.
    #[schemars(length(max = 64))]
    replies: Option<Vec<Reply>>,
    /// Stops early with the best answer so far.
    conclude: Option<bool>,
    /// Shows whole conversations, not only what is new.
    full: Option<bool>,
    /// Shows all thoughts in full, the newest up to 1 MiB.
    trace: Option<bool>,
}

/// Begins a session.
pub(super) struct BeginTool(pub(super) Arc<Guided>);

#[async_trait]
impl ServerTool for BeginTool {
    fn definition(&self) -> Tool {
        let mut input = (*schema_of::<BeginArguments>()).clone();
        let names = Method::all().map(|method| method.as_str().to_owned());
        set_choices(&mut input, "strategy", names.collect());
        let tool = tool("begin", "Begin guided reasoning", BEGIN, input);
        tool.with_raw_output_schema(schema_of::<View>())
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let max_bytes = self.0.store.limits().thought_bytes;
        let arguments: BeginArguments = arguments::read(call.arguments, max_bytes)?;
        if arguments.problem.trim().is_empty() {
            let found = Value::String(arguments.problem);
            let expected = "a text that isn't empty";
            return Err(arguments::wrong("problem", expected, &found));
        }

        let settings = Settings {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began: self.0.clock.now(),
            problem: arguments.problem,
            method: method(arguments.strategy)?,
            budget: arguments.budget.unwrap_or_default(),
            tools: arguments.tools.unwrap_or_default(),
        };
        if settings.method.needs_tools() && settings.tools.is_empty() {
            let expected = format_args!("at least one tool of yours for `{}`", settings.method);
            return Err(arguments::missing("tools", expected));
        }

        let guided = Arc::clone(&self.0);
        let owner = call.connection.owner().clone();
        let id = arguments.session_id;
        let begun = on_own_thread(async move { guided.begin(&owner, id, settings).await });
        response(call.connection, &begun.await?)
    }
}

fn method(name: Option<String>) -> Result<Method, ToolFailure> {
    let Some(name) = name else {
        return Ok(Method::Loop);
    };
    Method::named(&name).ok_or_else(|| {
        let expected = NameList::or(Method::all().map(Method::as_str).collect::<Vec<_>>());
        arguments::wrong("strategy", expected, &name.into())
    })
}

/// Continues a session.
pub(super) struct AnswerTool(pub(super) Arc<Guided>);

#[async_trait]
impl ServerTool for AnswerTool {
    fn definition(&self) -> Tool {
        let input = (*schema_of::<AnswerArguments>()).clone();
        let tool = tool("answer", "Answer a question", ANSWER, input);
        tool.with_raw_output_schema(schema_of::<View>())
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = call.arguments;
        write_replies(&mut arguments);
        let max_bytes = self.0.store.limits().thought_bytes;
        let arguments: AnswerArguments = arguments::read(arguments, max_bytes)?;

        let current = || call.connection.current(SessionKind::Guided);
        let Some(id) = arguments.session_id.clone().or_else(current) else {
            return Err(ToolFailure::message(
                "no session has begun on this connection; call `begin`, or give the `sessionId` \
                 of an earlier one",
            ));
        };

        let guided = Arc::clone(&self.0);
        let owner = call.connection.owner().clone();
        let view = on_own_thread(async move { guided.answer(&owner, &id, arguments).await });
        response(call.connection, &view.await?)
    }
}

/// Writes replies that are objects as texts: they are replies in JSON.
fn write_replies(arguments: &mut JsonObject) {
    if let Some(reply @ Value::Object(_)) = arguments.get_mut("reply") {
        *reply = Value::String(reply.to_string());
    }
    let replies = arguments.get_mut("replies").and_then(Value::as_array_mut);
    let replies = replies.into_iter().flatten();
    replies
        .filter_map(Value::as_object_mut)
        .for_each(write_replies);
}

/// Returns the result of a call, as text and as data. The text is safe to print; the data contains
/// what models and hosts wrote unchanged.
fn response(connection: &Connection, view: &View) -> Result<CallToolResponse, ToolFailure> {
    connection.set_current(SessionKind::Guided, view.session_id.clone());
    let data = serde_json::to_value(view).map_err(ToolFailure::message)?;
    Ok(described(MultiLine::new(view).to_string(), data))
}

/// The sessions of the tools `begin` and `answer`.
pub(super) struct Guided {
    store: SessionStore,
    clock: Clock,
}

/// A call on a session that has begun.
#[derive(Clone, Copy)]
struct Call<'a> {
    id: &'a SessionId,
    wanted: Wanted,
    now: u64,
}

impl Guided {
    pub(super) fn new(store: SessionStore) -> Self {
        Self {
            store,
            clock: Clock::new(),
        }
    }

    async fn begin(
        &self,
        owner: &Owner,
        id: Option<SessionId>,
        settings: Settings,
    ) -> Result<View, ToolFailure> {
        // A session that could not even ask its first question isn't created.
        let begin = || {
            let limits = self.store.limits();
            Begun::new(settings.clone(), limits).map_err(ToolFailure::message)
        };
        if let Some(end) = begin()?.end() {
            return Err(ToolFailure::message(end.reason));
        }

        let title = OneLine::new(&settings.problem).with_max_chars(TITLE);
        let new = NewSession {
            id: id.clone(),
            kind: SessionKind::Guided,
            title: title.to_string(),
            strategy: settings.method.as_str().to_owned(),
        };
        let id = id.unwrap_or_else(SessionId::random);

        let change = self
            .store
            .change(owner, &id, Some(&new), |session: &mut GuidedSession| {
                if session.begun.is_some() {
                    return Err(ToolFailure::message(format_args!(
                        "the session `{id}` already exists"
                    )));
                }
                let call = Call {
                    id: &id,
                    wanted: Wanted::default(),
                    now: self.clock.now(),
                };
                let begun = session.begun.insert(begin()?);
                Ok(Changed {
                    result: call.view(begun, Before::default()),
                    entry: Entry::Begin(Box::new(settings.clone())),
                    change: HeaderChange {
                        text: settings.problem.clone(),
                        ..HeaderChange::default()
                    },
                })
            });
        change.await
    }

    /// Stops a session, gives it replies, or shows it. If its time is over, it ends.
    async fn answer(
        &self,
        owner: &Owner,
        id: &SessionId,
        arguments: AnswerArguments,
    ) -> Result<View, ToolFailure> {
        let wanted = Wanted {
            full: arguments.full.unwrap_or(false),
            trace: arguments.trace.unwrap_or(false),
        };
        let now = self.clock.now();
        let call = Call { id, wanted, now };

        let conclude = arguments.conclude.unwrap_or(false);
        let only = arguments.reply.map(|reply| Reply {
            question: arguments.question,
            reply,
            failed: arguments.failed.unwrap_or(false),
        });
        let others = arguments.replies.unwrap_or_default();
        let replies: Vec<Reply> = only.into_iter().chain(others).collect();
        if conclude && !replies.is_empty() {
            return Err(ToolFailure::message(
                "`conclude` withdraws the open questions; send it without replies",
            ));
        }

        if !conclude && replies.is_empty() {
            let session: GuidedSession = self.store.read(owner, id).await?;
            let begun = session.begun.ok_or_else(|| not_begun(id))?;
            if !begun.is_out_of_time(begun.elapsed(now)) {
                return Ok(call.view(&begun, Before::of(&begun)));
            }
        }

        let change = self
            .store
            .change(owner, id, None, |session: &mut GuidedSession| {
                let begun = session.begun.as_mut().ok_or_else(|| not_begun(id))?;
                if begun.end().is_some() {
                    return Err(call.has_ended(begun));
                }
                if conclude {
                    return Ok(call.stop(begun, StopReason::Asked));
                }
                if begun.is_out_of_time(begun.elapsed(now)) {
                    return Ok(call.stop(begun, StopReason::Time));
                }
                call.reply(begun, &replies)
            });
        change.await
    }
}

impl Call<'_> {
    fn view(self, begun: &Begun, before: Before) -> View {
        View::new(self.id, begun, before, self.wanted, self.now)
    }

    /// Stops a session: the run asks for the best answer so far, or ends if it did so already.
    fn stop(self, begun: &mut Begun, reason: StopReason) -> Changed<Entry, View> {
        let at = begun.elapsed(self.now);
        let before = Before::of(begun);
        begun.stop(at, reason);

        Changed {
            entry: Entry::Stop { at, reason },
            change: HeaderChange {
                is_complete: Some(begun.end().is_some()),
                ..HeaderChange::default()
            },
            result: self.view(begun, before),
        }
    }

    /// Gives replies to open questions.
    fn reply(
        self,
        begun: &mut Begun,
        replies: &[Reply],
    ) -> Result<Changed<Entry, View>, ToolFailure> {
        let mut accepted: Vec<Reply> = Vec::new();
        let mut refused = Vec::new();
        for reply in replies {
            match check(begun, &accepted, reply) {
                Ok(reply) => accepted.push(reply),
                Err(problem) => refused.push(NotAccepted {
                    question: Name(reply.question.as_deref().unwrap_or_default()).to_string(),
                    problem,
                }),
            }
        }
        if accepted.is_empty() {
            return Err(self.all_refused(&refused));
        }

        let at = begun.elapsed(self.now);
        let before = Before::of(begun);
        let used = begun.give(at, &accepted);

        let is_used = |reply: &Reply| used.iter().any(|used| used.question == reply.question);
        let unused = accepted.iter().filter(|reply| !is_used(reply));
        refused.extend(unused.map(|reply| NotAccepted {
            question: reply.question.clone().unwrap_or_default(),
            problem: "the question was no longer needed after the replies before it".to_owned(),
        }));

        let mut view = self.view(begun, before);
        view.not_accepted = refused;

        let texts: Vec<_> = used.iter().map(|reply| reply.reply.as_str()).collect();
        Ok(Changed {
            change: HeaderChange {
                is_complete: Some(begun.end().is_some()),
                text: texts.join("\n"),
                ..HeaderChange::default()
            },
            entry: Entry::Replies { at, replies: used },
            result: view,
        })
    }

    fn all_refused(self, refused: &[NotAccepted]) -> ToolFailure {
        let lines = refused
            .iter()
            .map(|refused| match refused.question.as_str() {
                "" => refused.problem.clone(),
                question => format!("{question}: {}", refused.problem),
            });
        let message = lines.collect::<Vec<_>>().join("\n");
        let data = json!({"error": {
            "kind": "notAccepted",
            "message": message,
            "sessionId": self.id,
            "notAccepted": refused,
        }});
        ToolFailure::Described { message, data }
    }

    fn has_ended(self, begun: &Begun) -> ToolFailure {
        let call = Self {
            wanted: Wanted::default(),
            ..self
        };
        let view = MultiLine::new(call.view(begun, Before::of(begun)));
        let message = format!("the session has ended, so it takes no replies.\n{view}");
        let data = json!({"error": {"kind": "ended", "message": message, "sessionId": self.id}});
        ToolFailure::Described { message, data }
    }
}

/// Returns a reply with the question that it is for, or why it can't be given to the run.
fn check(begun: &Begun, accepted: &[Reply], reply: &Reply) -> Result<Reply, String> {
    let questions = begun.questions();
    let open = NameList::or(questions.iter().map(|open| &open.id));

    let question = match (&reply.question, questions.as_slice()) {
        (Some(id), _) => questions.iter().find(|open| open.id == *id),
        (None, [only]) => Some(only),
        (None, _) => return Err(format!("name the question; expected {open}")),
    };
    let Some(question) = question else {
        return Err(format!(
            "the question isn't open, it was answered, withdrawn or never asked; expected {open}"
        ));
    };

    let id = Some(question.id.clone());
    if accepted.iter().any(|other| other.question == id) {
        return Err("there is an earlier reply to it in this call".to_owned());
    }
    if reply.failed && !question.is_for_tool() {
        return Err("only the call of a tool can fail; write a reply".to_owned());
    }
    Ok(Reply {
        question: id,
        ..reply.clone()
    })
}

fn not_begun(id: &SessionId) -> ToolFailure {
    ToolFailure::message(format_args!(
        "the session `{id}` has no first entry, because the server was stopped while it began; \
         begin a new one"
    ))
}

/// A clock that starts at the system time, and is advanced by tokio's clock.
struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    fn new() -> Self {
        Self {
            then: SystemTime::now(),
            since: Instant::now(),
        }
    }

    /// Returns the milliseconds since 1970.
    fn now(&self) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = then.saturating_add(self.since.elapsed());
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}
