use cogwork_llm::{Message, ToolCall};
use cogwork_tools::Tools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Answer, Ask, Call, Called, Done, Driver, Next, Parameter, ParameterType, PlannedCall, Reply, SolveError,
    Solving, Stage, Strategy, StrategyName, Thought, Turn, Work,
};

/// Reason, act, observe, and reason again until enough is known (Yao et al. 2022).
///
/// In every cycle the model is asked once: for its reasoning and the next action, one of the [`Tools`] or
/// `finish` with the answer. Clients that know tools are offered them as such, and their model finishes by
/// calling none; others are told of them in text. A tool that is not there, input that does not fit and a
/// tool that fails come back as an observation.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `initial_reasoning`, `reasoning_update` | the model: what it thinks, and what it does next |
/// | `action_planning`, `action_execution`, `evaluation_checkpoint` | the program: what the model chose |
/// | `observation_reception` | the tools |
/// | `solution_formulation` | the program: the answer that the model finished with |
/// | `final_response` | the program: the same |
///
/// After [`max_cycles`](Self::with_max_cycles) the model is asked for the solution with what is known. The
/// best answer of a run that was stopped before is what the model made of the last observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct React {
    max_cycles: u32,
}

/// The action that ends the cycles.
const FINISH: &str = "finish";
/// What the model wants done next, from one stage to the next.
const WANTED: &str = "wanted";
/// What the last action brought.
const OBSERVED: &str = "observed";
/// How many cycles there were.
const CYCLES: &str = "cycles";

impl Default for React {
    fn default() -> Self {
        Self { max_cycles: 20 }
    }
}

impl React {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often the model may act. Default: 20; at least once.
    #[must_use]
    pub fn with_max_cycles(mut self, cycles: u32) -> Self {
        self.max_cycles = cycles.max(1);
        self
    }
}

/// What the model wants done next.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Wanted {
    calls: Vec<PlannedCall>,
    /// The answer, if it knows enough.
    finish: Option<String>,
    /// Whether the calls were asked for as such, and are answered as such.
    native: bool,
}

impl Driver for React {
    fn strategy(&self) -> Strategy {
        StrategyName::React.strategy()
    }

    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        let mut text = "You solve a problem by turns of reasoning and action. In each turn you say what you \
                        think and choose what to do next; you are then told what it brought."
            .to_owned();
        if native_tools {
            text.push_str(" When you know enough, call nothing and give the answer.");
            return text;
        }
        text.push_str("\n\nThe actions:");
        for tool in tools.definitions() {
            let (name, description, schema) = (tool.name(), tool.description(), tool.input_schema());
            text.push_str(&format!("\n- {name}: {description} Its input is JSON of this schema: {schema}"));
        }
        text.push_str(&format!("\n- {FINISH}: You know enough. Its input is the answer."));
        text
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let wanted = wanted(solving);
        Ok(match (turn.stage.name(), &wanted.finish) {
            ("problem_reception", _) if !turn.native_tools && turn.tools.names().any(is_finish) => {
                return Err(SolveError::driver(format!(
                    "a tool is called `{FINISH}`, which is the action that ends the cycles; expected another name"
                )));
            }
            ("problem_reception", _) => Work::say(solving.problem()),
            ("reasoning_update", Some(_)) => Work::say("Enough is known."),
            ("reasoning_update", None) if self.is_over(solving) => Work::say("No more may be done."),
            ("initial_reasoning" | "reasoning_update", None) => Work::Ask(question(turn)),
            ("initial_reasoning", Some(_)) => Work::say("Enough is known."),
            ("action_planning", Some(answer)) => {
                Work::say("Enough is known.").with("action", FINISH).with("action_input", answer.as_str())
            }
            ("action_planning", None) => planned(&wanted.calls),
            ("action_execution", Some(_)) => Work::say("Nothing is called."),
            ("action_execution", None) => {
                Work::Call(wanted.calls.into_iter().map(|call| call.fitted(turn.tools)).collect())
            }
            ("observation_reception", _) => {
                let observed = solving.note(OBSERVED).and_then(Value::as_str).unwrap_or("Nothing is called.");
                Work::say(observed).with("observation", observed)
            }
            ("evaluation_checkpoint", Some(_)) => Work::say("Enough is known."),
            ("evaluation_checkpoint", None) if self.is_over(solving) => Work::say("No more may be done."),
            ("evaluation_checkpoint", None) => Work::say("Another action is needed."),
            ("solution_formulation", Some(answer)) => Work::say(answer.as_str()),
            ("solution_formulation", None) => Work::Ask(turn.ask()),
            _ => Work::say(solving.last_at("solution_formulation").map_or("", Thought::text)),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let mut draft = done.draft_at(stage);
        let next = done.next_of(stage);
        match &done {
            Done::Replied(reply) if stage.name() != "solution_formulation" => {
                let wanted = wants(reply);
                if reply.text.is_empty() {
                    draft.thought = match wanted.finish {
                        Some(_) => "Enough is known.".to_owned(),
                        None => format!("Next: {}.", actions(&wanted.calls)),
                    };
                }
                // What is done belongs to the stage of planning.
                draft.parameters.clear();
                solving.set_note(WANTED, serde_json::to_value(wanted).unwrap_or_default());
            }
            Done::Called(called) => {
                let native = wanted(solving).native;
                called.iter().for_each(|called| solving.tell(observation(called, native)));
                solving.set_note(OBSERVED, draft.thought.as_str());
                let tools: Vec<_> = called.iter().map(|called| called.tool.as_str()).collect();
                draft.thought = format!("Called: {}.", tools.join(", "));
                solving.set_note(CYCLES, cycles(solving).saturating_add(1));
            }
            _ => {}
        }
        solving.think(draft)?;
        if stage.name() != "evaluation_checkpoint" {
            return Ok(next);
        }
        let over = wanted(solving).finish.is_some() || self.is_over(solving);
        Ok(Next::stage(if over { "solution_formulation" } else { "action_planning" }))
    }

    /// The solution; before there is one, what the model made of the last observation.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let said = |stage: &str| solving.last_at(stage).map(Thought::text).filter(|text| !text.is_empty());
        let learnt = || {
            let update = solving.last_at("reasoning_update")?;
            let is_models = solving
                .calls()
                .iter()
                .any(|call| matches!(call, Call::Model { stage, .. } if stage == "reasoning_update"));
            is_models.then(|| update.text())
        };
        said("solution_formulation").or_else(learnt).map(Answer::new)
    }

    /// The action and what it brought; wording alone is no progress.
    fn progress(&self, thought: &Thought) -> Option<String> {
        let parameters = thought.parameters().map(|(name, value)| format!("{name}={value} "));
        matches!(thought.stage().name(), "action_planning" | "observation_reception")
            .then(|| parameters.collect())
    }
}

impl React {
    fn is_over(&self, solving: &Solving) -> bool {
        cycles(solving) >= self.max_cycles
    }
}

fn cycles(solving: &Solving) -> u32 {
    solving.note(CYCLES).and_then(Value::as_u64).and_then(|cycles| cycles.try_into().ok()).unwrap_or_default()
}

fn wanted(solving: &Solving) -> Wanted {
    let note = solving.note(WANTED).cloned();
    note.and_then(|note| serde_json::from_value(note).ok()).unwrap_or_default()
}

/// What the model thinks and does next.
fn question(turn: &Turn<'_>) -> Ask {
    let ask = Ask::new(turn.solving.transcript().clone(), turn.stage.prompt());
    if turn.native_tools {
        return ask.with_tools(turn.tools.definitions());
    }
    let input = Parameter::new(ParameterType::Any, "what the action is given").optional();
    ask.with_field("action", Parameter::text("the name of the action"))
        .with_field("action_input", input)
        .with_check(|reply| match wants(reply).finish {
            Some(answer) if answer.trim().is_empty() => {
                Err(format!("`action_input` is missing, expected the answer, since the action is `{FINISH}`"))
            }
            _ => Ok(()),
        })
}

fn is_finish(action: &str) -> bool {
    action.eq_ignore_ascii_case(FINISH)
}

/// Whether it is no deeper than a parameter may be.
fn is_shallow(input: &Value) -> bool {
    let mut faults = Vec::new();
    ParameterType::Any.check("action_input", input, &mut faults);
    faults.is_empty()
}

/// What a reply asks for.
fn wants(reply: &Reply) -> Wanted {
    if !reply.tool_calls.is_empty() {
        // What is no object, or too deep to be saved within a state, stays as it was written.
        let call = |call: &ToolCall| {
            let input = serde_json::from_str::<Value>(call.arguments())
                .ok()
                .filter(|input| input.is_object() && is_shallow(input));
            let input = input.unwrap_or_else(|| Value::from(call.arguments()));
            PlannedCall::new(call.id(), call.name(), input).literal()
        };
        return Wanted { calls: reply.tool_calls.iter().map(call).collect(), finish: None, native: true };
    }
    let (action, inside) = split(reply.field("action"));
    let input = reply.fields.get("action_input").cloned().or(inside.map(Value::from));
    // With tools of its own, a client whose model calls none has given the answer.
    let finish = match input.as_ref() {
        _ if !reply.fields.contains_key("action") => Some(reply.text.clone()),
        _ if !is_finish(action) => None,
        Some(Value::String(answer)) => Some(answer.clone()),
        Some(answer) => Some(answer.to_string()),
        None => Some(reply.text.clone()),
    };
    let call = PlannedCall::new("call", action, input.unwrap_or_else(|| Value::Object(Map::new())));
    Wanted { calls: if finish.is_some() { Vec::new() } else { vec![call] }, finish, native: false }
}

/// `search[hobbits]`, as the paper writes it, in name and input.
fn split(action: &str) -> (&str, Option<&str>) {
    let action = action.trim().trim_matches('`');
    let inside = action.strip_suffix(']').and_then(|action| action.split_once('['));
    match inside.or_else(|| action.strip_suffix(')').and_then(|action| action.split_once('('))) {
        Some((name, input)) => (name.trim(), Some(input.trim().trim_matches(['"', '\'']))),
        None => (action, None),
    }
}

fn planned(calls: &[PlannedCall]) -> Work {
    let input = match calls {
        [one] => one.input.clone(),
        several => several.iter().map(|call| call.input.clone()).collect(),
    };
    // A list of several may be deeper than a parameter may; the tools get theirs as they are.
    let input = if is_shallow(&input) { input } else { input.to_string().into() };
    let action = actions(calls);
    Work::say(format!("Next: {action}.")).with("action", action).with("action_input", input)
}

fn actions(calls: &[PlannedCall]) -> String {
    calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(", ")
}

/// What a call brought, as a message of the conversation.
fn observation(called: &Called, native: bool) -> Message {
    let call = ToolCall::new(called.id.as_str(), called.tool.as_str(), "");
    match (native, called.failed) {
        (true, true) => Message::tool_failure(&call, called.output.as_str()),
        (true, false) => Message::tool_result(&call, called.output.as_str()),
        (false, _) => Message::user(format!("Observation: {}", called.output)),
    }
}
