mod blueprint;
mod evidence;

use std::collections::BTreeMap;

use cogwork_tools::Tools;

use serde_json::{Value, json};

use self::blueprint::{Blueprint, BlueprintStep};
use super::shared::{ask_for_answer, or, respond, tool_list};
use crate::session::ThoughtDraft;
use crate::{Answer, Ask, Called, Method, PlannedCall, Solve, Stop, Strategy, StrategyName};

/// Plans all tool calls in advance, gathers the evidence, and solves the problem with it (Xu et al.
/// 2023).
///
/// The model is called twice: first as the planner, which writes the plan with all calls, then as
/// the solver. The [`Tools`] are called concurrently, each as soon as the evidence in its input
/// exists. Without tools, the run fails before the first call to the model. If the plan calls an
/// unknown tool or uses evidence before it exists, the model is asked again. The evidence of a failed call is its error.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `planning_phase` | the model: the whole plan, with the calls |
/// | `tool_call_specification` | the method: the calls |
/// | `working_phase` | the tools |
/// | `evidence_collection` | the method: the evidence by name |
/// | `solving_phase` | the model: the solution |
/// | `final_response` | the method: the answer |
///
/// For a step that a model should do, add a tool that calls the model. If a run is stopped, its best
/// answer is the last evidence.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::Rewoo;
/// use cogwork_tools::{Tools, function};
/// use serde_json::Value;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let double = |input: Value| async move { Ok((input["n"].as_i64().unwrap_or(0) * 2).to_string()) };
/// let tools = Tools::new().with(function("double", "Doubles a number.", double))?;
/// let client = ScriptedClient::new([
///     "Plan: Double 7.\n#E1 = double{\"n\": 7}\nPlan: Say it in words.",
///     "answer: fourteen",
/// ]);
/// let solved = Solver::new(client, Rewoo::default()).with_tools(tools).solve("Twice seven, in words?").await?;
/// assert_eq!((solved.answer(), solved.spent().calls), (Some("fourteen"), 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewoo {
    /// The maximum number of calls in a plan, from 1 to 100. If a plan has more, the model is asked
    /// again. The default is 20.
    pub max_calls: usize,
}

impl Default for Rewoo {
    fn default() -> Self {
        Self { max_calls: 20 }
    }
}

impl Method for Rewoo {
    fn strategy(&self) -> Strategy {
        StrategyName::Rewoo.strategy()
    }

    fn instructions(&self, tools: &Tools, _native_tools: bool) -> String {
        let tools = tool_list(tools);
        format!(
            "You solve a problem by a plan whose steps call tools. First you write the whole plan; \
             then all calls are made, and you are told what they brought.\n\nThe tools:{tools}"
        )
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        if cx.tools().is_empty() {
            return Err(Stop::fail(
                "the strategy `rewoo` plans with tools, and there are none; \
                 add one or more with `Solver::with_tools`",
            ));
        }
        cx.think_problem()?;

        let steps = self.plan(cx)?;
        let calls = steps.iter().filter_map(|step| step.call.clone());
        let calls: Vec<PlannedCall> = calls.collect();
        specify(cx, &calls)?;

        let called = gather(cx, &calls)?;
        let outputs: Vec<&str> = called.iter().map(|called| called.output.as_str()).collect();
        cx.think("working_phase", outputs.join("\n"))?;

        let evidence = collect(cx, &called)?;
        let prompt = cx.prompt(&["solving_phase"])?;
        let question = Ask::of(format!("The evidence:\n{evidence}\n\n{prompt}"));
        let answer = ask_for_answer(cx, "solving_phase", question)?;
        respond(cx, answer)
    }
}

impl Rewoo {
    /// Asks for the plan, and adds the thought with its steps.
    fn plan(&self, cx: &mut Solve) -> Result<Vec<BlueprintStep>, Stop> {
        let stage = "planning_phase";
        let tools: Vec<String> = cx.tools().names().map(str::to_owned).collect();
        let question = Blueprint::ask(cx.prompt(&[stage])?, tools, self.max_calls.clamp(1, 100));
        let Blueprint { thought, steps } = Blueprint::of(&cx.ask(stage, question)?);

        let lines: Vec<String> = steps.iter().map(BlueprintStep::to_string).collect();
        let text = lines.join("\n");
        cx.add(ThoughtDraft::at(stage, or(&thought, &text)).with("plan", lines))?;
        Ok(steps)
    }
}

/// Adds the thought with the calls, such as `#E1 = search, #E2 = look`.
fn specify(cx: &mut Solve, calls: &[PlannedCall]) -> Result<(), Stop> {
    let named = calls.iter();
    let named = named.map(|call| format!("{} = {}", call.id, call.tool));
    let text = named.collect::<Vec<_>>().join(", ");

    let written = calls.iter();
    let written =
        written.map(|call| json!({"id": call.id, "tool": call.tool, "input": call.input}));
    let written: Vec<Value> = written.collect();
    cx.add(ThoughtDraft::at("tool_call_specification", text).with("tool_calls", written))?;
    Ok(())
}

/// Makes all calls, each as soon as the evidence in its input exists. Returns the results in order.
fn gather(cx: &mut Solve, calls: &[PlannedCall]) -> Result<Vec<Called>, Stop> {
    let mut called = Vec::new();
    // The plan was checked: the first call that isn't made only refers to earlier ones.
    while called.len() < calls.len() {
        let ready = evidence::ready(calls, &called);
        called.extend(cx.call_tools("working_phase", ready)?);
        called.sort_by_key(|called: &Called| calls.iter().position(|call| call.id == called.id));

        // Until there is a solution, the best answer is the last evidence.
        if let Some(last) = called.iter().rfind(|called| !called.failed) {
            cx.keep_guess(&last.output);
        }
    }

    Ok(called)
}

/// Adds the thought with the evidence, and returns it in lines such as `#E1 = 51`.
fn collect(cx: &mut Solve, called: &[Called]) -> Result<String, Stop> {
    let lines = called.iter();
    let lines = lines.map(|called| format!("{} = {}", called.id, called.output));
    let text = lines.collect::<Vec<_>>().join("\n");

    let by_name = called.iter().map(|called| (&called.id, &called.output));
    let by_name: BTreeMap<&String, &String> = by_name.collect();
    cx.add(ThoughtDraft::at("evidence_collection", &*text).with("evidence", json!(by_name)))?;
    Ok(text)
}
