use std::collections::BTreeMap;
use std::fmt::Write;

use cogwork_plan::{Plan, Step};
use cogwork_tools::Tools;
use serde_json::{Value, json};

use super::answering::{ANSWER, answer_field, answered, draft, keep_answer, say_answer};
use super::blueprint::Blueprint;
use crate::{
    Answer, Ask, Call, Done, Driver, Next, PlannedCall, SolveError, Solving, Stage, Strategy, StrategyName,
    Thought, Turn, Work,
};

/// Plan all calls of tools at once, gather the evidence, then solve without looking back (Xu et al. 2023).
///
/// Two calls of the model: the planner's, who writes plan and calls together, and the solver's. The calls of
/// [`Tools`] run side by side, each as soon as the evidence that it names is there. A plan that calls an
/// unknown tool, or names evidence that is not earlier, is asked for again with the complaint; a call that
/// fails gives evidence that says so.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `planning_phase` | the model: the whole plan, with the calls |
/// | `tool_call_specification` | the program: the calls |
/// | `working_phase` | the tools |
/// | `evidence_collection` | the program: the evidence by its names |
/// | `solving_phase` | the model: the solution, from plan and evidence |
/// | `final_response` | the program: the answer |
///
/// The [plan](Driver::plan) of the trace has the evidence as results; a step whose call failed is marked to
/// be verified. To let a model do one of the steps, give a tool that asks it.
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
///     solved.trace().plan().ok_or("no plan")?.task_list().to_string(),
///     "- [x] Double 7. (#E1): 14\n- [x] Say it in words.",
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
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many calls a plan may have; one with more is asked for again. Default: 20; at least 1, at most
    /// 100.
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls.clamp(1, 100);
        self
    }
}

const PLAN: &str = "plan";
const CALLS: &str = "tool_calls";
const EVIDENCE: &str = "evidence";

impl Driver for Rewoo {
    fn strategy(&self) -> Strategy {
        StrategyName::Rewoo.strategy()
    }

    fn instructions(&self, tools: &Tools, _: bool) -> String {
        let mut text =
            "You solve a problem by a plan whose steps call tools. First you write the whole plan; \
                        then all calls are made, and you are told what they brought.\n\nThe tools:"
                .to_owned();
        for tool in tools.definitions() {
            let (name, description, schema) = (tool.name(), tool.description(), tool.input_schema());
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {name}: {description} Its input is JSON of this schema: {schema}");
        }
        text
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        Ok(match turn.stage.name() {
            "problem_reception" if turn.tools.is_empty() => {
                return Err(SolveError::driver("there are no tools to plan with; expected one or more"));
            }
            "problem_reception" => Work::say(solving.problem()),
            "planning_phase" => {
                let tools: Vec<String> = turn.tools.names().map(str::to_owned).collect();
                let most = self.max_calls;
                let question = format!("{}\n\n{}", turn.stage.prompt(), Blueprint::FORM);
                let ask = Ask::new(solving.transcript().clone(), question);
                Work::Ask(ask.with_check(move |reply| Blueprint::read(&reply.text).check(&tools, most)))
            }
            "tool_call_specification" => {
                let calls = solving.note(CALLS).cloned().unwrap_or_default();
                Work::say(specified(&calls)).with(CALLS, calls)
            }
            "working_phase" => {
                let calls = calls(solving).map(|call| call.fitted(turn.tools));
                Work::Call(calls.collect())
            }
            "evidence_collection" => {
                let evidence: BTreeMap<&str, &str> =
                    evidence(solving).map(|(id, output, _)| (id, output)).collect();
                Work::say(listed(solving)).with(EVIDENCE, json!(evidence))
            }
            "solving_phase" => {
                let question = format!("The evidence:\n{}\n\n{}", listed(solving), turn.stage.prompt());
                let ask = Ask::new(solving.transcript().clone(), question);
                Work::Ask(ask.with_field(ANSWER, answer_field()))
            }
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        let thought = match (done.reply(), stage.name()) {
            (Some(reply), "planning_phase") => {
                let Blueprint { thought, steps } = Blueprint::read(&reply.text);
                let calls = steps.iter().filter_map(|step| step.call.as_ref());
                let calls: Vec<_> = calls
                    .map(|call| json!({"id": call.id, "tool": call.tool, "input": call.input}))
                    .collect();
                solving.set_note(CALLS, calls);
                let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                draft(stage, &thought, steps.join("\n")).with(PLAN, steps)
            }
            (Some(reply), _) => {
                keep_answer(solving, reply);
                draft(stage, &reply.text, reply.field(ANSWER))
            }
            (None, "tool_call_specification") => {
                solving.take_note(CALLS);
                done.draft_at(stage)
            }
            (None, _) => done.draft_at(stage),
        };
        solving.think(thought)?;
        Ok(next)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Nothing comes twice in this strategy, however alike its thoughts are.
    fn progress(&self, _: &Thought) -> Option<String> {
        None
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let planned = solving.last_at("planning_phase")?.parameter(PLAN)?.as_array()?;
        let evidence: BTreeMap<String, (&str, bool)> =
            evidence(solving).map(|(id, output, failed)| (format!("({id})"), (output, failed))).collect();
        let solved = solving.last_at("solving_phase").is_some();
        let step = |step: &str| {
            let named = step.rsplit_once(' ').map_or("", |(_, id)| id);
            match evidence.get(named) {
                Some((output, true)) => Step::verification_needed(step, short(output)),
                Some((output, false)) => Step::done(step, short(output)),
                None if solved => Step { status: cogwork_plan::Status::Done, ..Step::pending(step) },
                None => Step::pending(step),
            }
        };
        Some(planned.iter().filter_map(Value::as_str).map(step).collect())
    }
}

/// The calls that were specified.
fn calls(solving: &Solving) -> impl Iterator<Item = PlannedCall> {
    let specified = solving.last_at("tool_call_specification");
    let calls = specified.and_then(|thought| thought.parameter(CALLS)).and_then(Value::as_array);
    calls.into_iter().flatten().filter_map(|call| {
        let text = |name| call.get(name).and_then(Value::as_str);
        Some(PlannedCall::new(text("id")?, text("tool")?, call.get("input").cloned().unwrap_or_default()))
    })
}

/// Of each call that was made: its id, what it brought, and whether it failed.
fn evidence(solving: &Solving) -> impl Iterator<Item = (&str, &str, bool)> {
    solving.calls().iter().filter_map(|call| match call {
        Call::Tool { id, output, failed, .. } => Some((id.as_str(), output.as_str(), *failed)),
        Call::Model { .. } => None,
    })
}

fn listed(solving: &Solving) -> String {
    let lines: Vec<_> = evidence(solving).map(|(id, output, _)| format!("{id} = {output}")).collect();
    lines.join("\n")
}

fn specified(calls: &Value) -> String {
    let text = |call: &Value, name| call.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let of = |call: &Value| format!("{} = {}", text(call, "id"), text(call, "tool"));
    calls.as_array().into_iter().flatten().map(of).collect::<Vec<_>>().join(", ")
}

/// What came of a step, in short.
fn short(output: &str) -> String {
    const MOST: usize = 200;
    let mut short: String = output.chars().take(MOST).collect();
    if short.len() < output.len() {
        short.push('…');
    }
    short
}
