//! The definition of the tool, and the arguments of a call.

use std::time::Duration;

use cogwork_strategies::Limits;
use cogwork_text::NameList;
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::Value;

use super::backend::Backend;
use super::result::Answered;
use crate::ServerLimits;
use crate::arguments;
use crate::method::Method;
use crate::store::SessionId;
use crate::tool::{ToolFailure, schema_of, set_choices, tool};

/// A run that is asked for.
#[derive(Debug)]
pub(super) struct SolveRequest {
    pub(super) problem: String,
    pub(super) method: Method,
    pub(super) limits: Limits,
    /// The id that the client chose for the session.
    pub(super) session: Option<SessionId>,
}

/// The arguments of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SolveArguments {
    /// The problem, with everything that is needed to solve it.
    #[schemars(length(min = 1))]
    problem: String,
    strategy: Option<String>,
    /// Lower limits than those of the server. A run that reaches one returns the best answer so far.
    budget: Option<Lower>,
    /// An id for the session of this run, if you want to choose it. There must be no such session
    /// yet.
    session_id: Option<SessionId>,
}

/// Limits that are lower than [`most`].
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lower {
    /// Calls to the model.
    #[schemars(range(min = 1, max = 100))]
    calls: Option<u32>,
    /// Tokens, read and written.
    #[schemars(range(min = 1, max = 500_000))]
    tokens: Option<u64>,
    /// Thoughts.
    #[schemars(range(min = 1, max = 500))]
    thoughts: Option<u32>,
    /// Time of all calls, in seconds.
    #[schemars(range(min = 1, max = 900))]
    seconds: Option<u64>,
}

impl SolveRequest {
    pub(super) fn read(
        arguments: JsonObject,
        backend: &Backend,
        limits: &ServerLimits,
    ) -> Result<Self, ToolFailure> {
        let arguments: SolveArguments = arguments::read(arguments, limits.thought_bytes)?;
        if arguments.problem.trim().is_empty() {
            let expected = "a text that isn't empty";
            return Err(arguments::wrong(
                "problem",
                expected,
                &arguments.problem.into(),
            ));
        }

        let method = method(arguments.strategy, backend)?;
        let budget = arguments.budget.unwrap_or_default();
        if method == Method::Flow && budget.limits_more_than_time() {
            let expected = "nothing but `seconds` for a flow";
            return Err(arguments::wrong(
                "budget",
                expected,
                &Value::Object(JsonObject::new()),
            ));
        }
        Ok(Self {
            problem: arguments.problem,
            method,
            limits: budget.limits().or(most()),
            session: arguments.session_id,
        })
    }
}

fn method(name: Option<String>, backend: &Backend) -> Result<Method, ToolFailure> {
    let methods = backend.methods();
    let Some(name) = name else {
        let default = methods.first().copied();
        return Ok(default.unwrap_or(Method::Loop));
    };

    let method = methods
        .iter()
        .find(|method| method.as_str() == name || Method::named(&name) == Some(**method));
    method.copied().ok_or_else(|| {
        let expected = NameList::or(methods.iter().map(|method| method.as_str()));
        arguments::wrong("strategy", expected, &name.into())
    })
}

impl Lower {
    fn limits_more_than_time(&self) -> bool {
        self.calls.is_some() || self.tokens.is_some() || self.thoughts.is_some()
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.calls = self.calls;
        limits.tokens = self.tokens;
        limits.thoughts = self.thoughts;
        limits.time = self.seconds.map(Duration::from_secs);
        limits
    }
}

/// The maximum time of a run.
pub(super) const LONGEST: Duration = Duration::from_secs(15 * 60);

fn most() -> Limits {
    Limits::default()
        .with_calls(100)
        .with_tokens(500_000)
        .with_thoughts(500)
        .with_time(LONGEST)
}

const DESCRIPTION: &str = "Solves a problem with another model, in a run of many thoughts that follow a strategy, and \
returns the answer. Use it for a problem that can be described completely in one text, and that is worth minutes and \
many calls to that model. The model sees nothing but `problem`: include all facts, constraints and the form of the \
answer. To reason yourself, use the other tools.";

pub(super) fn definition(backend: &Backend) -> Tool {
    let methods = backend.methods();
    let names = methods.iter().map(|method| method.as_str().to_owned());
    let mut input = (*schema_of::<SolveArguments>()).clone();
    let strategy = set_choices(&mut input, "strategy", names.collect());
    if let Some(strategy) = strategy {
        strategy.insert("description".to_owned(), describe(&methods).into());
    }

    let mut tool = tool("solve", "Solve a problem", DESCRIPTION, input);
    if let Some(annotations) = &mut tool.annotations {
        annotations.open_world_hint = Some(true);
    }
    tool.with_raw_output_schema(schema_of::<Answered>())
}

fn describe(methods: &[Method]) -> String {
    let default = methods
        .first()
        .map_or(Method::LOOP, |method| method.as_str());
    let described = methods
        .iter()
        .map(|method| format!("`{method}`: {}", purpose(*method)));
    let described: Vec<_> = described.collect();
    format!(
        "How to solve it. The default is `{default}`. {}",
        described.join(" ")
    )
}

fn purpose(method: Method) -> String {
    match method {
        Method::Strategy(name) => name.strategy().description().to_owned(),
        Method::Loop => {
            "Makes a plan, works through it, and corrects it in each thought.".to_owned()
        }
        Method::Flow => {
            "The flow that this server was started with; of the limits, only `seconds` applies."
                .to_owned()
        }
    }
}
