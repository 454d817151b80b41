mod blueprint;

use std::collections::BTreeMap;

use cogwork_plan::{Plan, Status, Step};
use cogwork_text::OneLine;
use cogwork_tools::Tools;
use serde_json::{Value, json};

use self::blueprint::{Blueprint, BlueprintStep};
use super::answering::{answered, ask, ask_for_answer, draft, say_answer, take_answer};
use super::stage_names::{StageName, stage_names};
use super::tool_list::tool_list;
use crate::{
    Answer, Call, Done, Driver, Next, PlannedCall, SolveError, Solving, Stage, StageTurn,
    StageWork, Strategy, StrategyName, ThoughtDraft,
};

/// Plans all tool calls in advance, gathers the evidence, and solves the problem with it (Xu et al.
/// 2023).
///
/// The model is called twice: first as the planner, which writes the plan with all calls, then as
/// the solver. The [`Tools`] are called concurrently, each as soon as the evidence in its input
/// exists. Without tools, the run fails before the first call to the model. If the plan calls an unknown tool or uses evidence before it exists, the model is asked
/// again. The evidence of a failed call is its error.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `planning_phase` | the model: the whole plan, with the calls |
/// | `tool_call_specification` | the driver: the calls |
/// | `working_phase` | the tools |
/// | `evidence_collection` | the driver: the evidence by name |
/// | `solving_phase` | the model: the solution |
/// | `final_response` | the driver: the answer |
///
/// The [plan](Driver::plan) of the trace has the evidence as results. If a call failed, its step
/// needs verification. For a step that a model should do, add a tool that calls the model.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Rewoo, Solver};
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
/// let solved = Solver::new(client, Rewoo::new()).with_tools(tools).solve("Twice seven, in words?").await?;
/// assert_eq!((solved.answer(), solved.spent().calls), (Some("fourteen"), 2));
/// assert_eq!(
///     solved.trace().plan().ok_or("no plan")?.outline().to_string(),
///     "- [Done] Double 7. (#E1): 14\n- [Done] Say it in words.",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewoo {
    max_calls: usize,
}

impl Default for Rewoo {
    fn default() -> Self {
        Self { max_calls: 20 }
    }
}

impl Rewoo {
    /// Creates a driver with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of calls in a plan, from 1 to 100. If a plan has more, the model is
    /// asked again. The default is 20.
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls.clamp(1, 100);
        self
    }
}

stage_names! {
    /// The stages of `rewoo`.
    enum RewooStage for Rewoo {
        ProblemReception = "problem_reception",
        PlanningPhase = "planning_phase",
        ToolCallSpecification = "tool_call_specification",
        WorkingPhase = "working_phase",
        EvidenceCollection = "evidence_collection",
        SolvingPhase = "solving_phase",
        FinalResponse = "final_response",
    }
}

/// The maximum number of characters of evidence that the plan quotes.
const MAX_RESULT: usize = 200;

/// The parameter with the steps of the plan.
const PLAN: &str = "plan";

/// The parameter with the calls, and the note that holds them until they are specified.
const CALLS: &str = "tool_calls";

/// The parameter with the evidence by its names.
const EVIDENCE: &str = "evidence";

impl Driver for Rewoo {
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

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match RewooStage::of(turn.stage.name())? {
            RewooStage::ProblemReception => receive_problem(turn)?,
            RewooStage::PlanningPhase => self.ask_for_plan(turn),
            RewooStage::ToolCallSpecification => specify_calls(solving),
            RewooStage::WorkingPhase => make_calls(turn),
            RewooStage::EvidenceCollection => collect_evidence(solving),
            RewooStage::SolvingPhase => ask_for_solution(turn),
            RewooStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let thought = match RewooStage::of(stage.name())? {
            RewooStage::PlanningPhase => take_plan(solving, stage, &done),
            RewooStage::ToolCallSpecification => {
                // The calls are now a parameter of the thought.
                solving.take_note(CALLS);
                done.draft_at(stage)
            }
            RewooStage::SolvingPhase => take_answer(solving, stage, &done),
            RewooStage::ProblemReception
            | RewooStage::WorkingPhase
            | RewooStage::EvidenceCollection
            | RewooStage::FinalResponse => done.draft_at(stage),
        };

        solving.think(thought)?;
        Ok(done.next_of(stage))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let planned = solving.last_at(RewooStage::PlanningPhase.name())?;
        let steps = planned.parameter(PLAN)?.as_array()?;
        let is_solved = solving.last_at(RewooStage::SolvingPhase.name()).is_some();
        let evidence: BTreeMap<&str, Evidence<'_>> = evidence(solving)
            .map(|evidence| (evidence.id, evidence))
            .collect();

        let step = |step: &str| match evidence_named_by(step).and_then(|id| evidence.get(id)) {
            Some(found) if found.failed => Step::verification_needed(step, excerpt(found.output)),
            Some(found) => Step::done(step, excerpt(found.output)),
            None if is_solved => Step {
                status: Status::Done,
                ..Step::pending(step)
            },
            None => Step::pending(step),
        };

        Some(steps.iter().filter_map(Value::as_str).map(step).collect())
    }
}

impl Rewoo {
    fn ask_for_plan(&self, turn: &StageTurn<'_>) -> StageWork {
        let tools: Vec<String> = turn.tools.names().map(str::to_owned).collect();
        let most = self.max_calls;

        let ask = Blueprint::ask(turn, &tools, most);
        StageWork::Ask(ask.with_check(move |reply| Blueprint::of(reply).check(&tools, most)))
    }
}

fn receive_problem(turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
    if turn.tools.is_empty() {
        return Err(SolveError::driver(
            "the strategy `rewoo` plans with tools, and there are none; \
             add one or more with `Solver::with_tools`",
        ));
    }

    Ok(StageWork::say(turn.solving.problem()))
}

fn specify_calls(solving: &Solving) -> StageWork {
    let calls = solving.note(CALLS).cloned().unwrap_or_default();
    StageWork::say(described(&calls)).with(CALLS, calls)
}

/// Returns the calls in one line, such as `#E1 = search, #E2 = look`.
fn described(calls: &Value) -> String {
    let text = |call: &Value, name| {
        call.get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };

    let described = |call: &Value| format!("{} = {}", text(call, "id"), text(call, "tool"));

    let calls: Vec<String> = calls
        .as_array()
        .into_iter()
        .flatten()
        .map(described)
        .collect();

    calls.join(", ")
}

fn make_calls(turn: &StageTurn<'_>) -> StageWork {
    let calls = specified_calls(turn.solving).map(|call| call.fitted(turn.tools));
    StageWork::Call(calls.collect())
}

/// Returns the calls that were recorded when they were specified.
fn specified_calls(solving: &Solving) -> impl Iterator<Item = PlannedCall> {
    let specified = solving.last_at(RewooStage::ToolCallSpecification.name());
    let calls = specified
        .and_then(|thought| thought.parameter(CALLS))
        .and_then(Value::as_array);

    calls.into_iter().flatten().filter_map(|call| {
        let text = |name| call.get(name).and_then(Value::as_str);
        let input = call.get("input").cloned().unwrap_or_default();
        Some(PlannedCall::new(text("id")?, text("tool")?, input))
    })
}

fn collect_evidence(solving: &Solving) -> StageWork {
    let by_name: BTreeMap<&str, &str> = evidence(solving)
        .map(|evidence| (evidence.id, evidence.output))
        .collect();
    StageWork::say(evidence_list(solving)).with(EVIDENCE, json!(by_name))
}

fn ask_for_solution(turn: &StageTurn<'_>) -> StageWork {
    let evidence = evidence_list(turn.solving);
    let prompt = turn.stage.prompt();

    let question = ask(turn, format!("The evidence:\n{evidence}\n\n{prompt}"));
    StageWork::Ask(ask_for_answer(turn, question))
}

/// Keeps the calls of the plan, and returns the thought with its steps.
fn take_plan(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(reply) = done.reply() else {
        return done.draft_at(stage);
    };

    let blueprint = Blueprint::of(reply);
    let calls = blueprint.steps.iter().filter_map(|step| step.call.as_ref());
    let calls: Vec<Value> = calls
        .map(|call| json!({"id": call.id, "tool": call.tool, "input": call.input}))
        .collect();
    solving.set_note(CALLS, calls);

    let steps: Vec<String> = blueprint
        .steps
        .iter()
        .map(BlueprintStep::to_string)
        .collect();

    draft(stage, &blueprint.thought, &steps.join("\n")).with(PLAN, steps)
}

/// The output of a call.
struct Evidence<'s> {
    id: &'s str,
    output: &'s str,
    failed: bool,
}

fn evidence(solving: &Solving) -> impl Iterator<Item = Evidence<'_>> {
    solving.calls().iter().filter_map(|call| match call {
        Call::Tool {
            id, output, failed, ..
        } => Some(Evidence {
            id,
            output,
            failed: *failed,
        }),
        Call::Model { .. } => None,
    })
}

/// Returns the evidence in lines such as `#E1 = 51`.
fn evidence_list(solving: &Solving) -> String {
    let line = |evidence: Evidence<'_>| format!("{} = {}", evidence.id, evidence.output);
    evidence(solving).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the name of the evidence that a step of the plan ends with, as in
/// `Double 7. (#E1)`.
fn evidence_named_by(step: &str) -> Option<&str> {
    let last_word = step.rsplit_once(' ')?.1;
    last_word.strip_prefix('(')?.strip_suffix(')')
}

/// Returns the start of an output for the plan.
fn excerpt(output: &str) -> String {
    OneLine::new(output).with_max_chars(MAX_RESULT).to_string()
}
