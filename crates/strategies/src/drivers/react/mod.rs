mod wanted;

use cogwork_llm::{Message, ToolCall};
use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::no_answer;
use serde_json::Value;

use self::wanted::{
    ACTION, ACTION_INPUT, FINISH, NextAction, Wanted, finishes_with_answer, is_finish,
};
use super::answering::{answer_if_any, ask, choosing, conclude_unless, noted};
use super::stage_names::{StageName, stage_names};
use super::tool_list::tool_list;
use crate::{
    Answer, Ask, Call, Called, Done, Driver, Next, SolveError, Solving, Stage, StageReply,
    StageTurn, StageWork, Strategy, StrategyName, Thought, ThoughtDraft,
};

/// Alternates reasoning, actions and observations until the model can answer (Yao et al. 2022).
///
/// The model is called once in every cycle, for its reasoning and the next action. An action is one
/// of the [`Tools`] or `finish` with the answer. If the client supports tools, the model calls them
/// natively, and finishes with a reply that calls none. Otherwise, the tools are described in the
/// text. Unknown tools, wrong input and failures become observations. Without tools, the model can
/// only reason and finish.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `initial_reasoning`, `reasoning_update` | the model: its reasoning, and the next action |
/// | `action_planning`, `action_execution`, `evaluation_checkpoint` | the driver: the action |
/// | `observation_reception` | the tools |
/// | `solution_formulation` | the driver: the answer |
/// | `final_response` | the driver: the answer |
///
/// Once the limit set by [`with_max_cycles`](Self::with_max_cycles) is reached, the model is asked
/// for the solution. If a run is stopped earlier, its best answer is the conclusion from the last
/// observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct React {
    max_cycles: u32,
}

impl Default for React {
    fn default() -> Self {
        Self { max_cycles: 20 }
    }
}

impl React {
    /// Creates a driver with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of cycles, which is at least 1. The default is 20.
    #[must_use]
    pub fn with_max_cycles(mut self, cycles: u32) -> Self {
        self.max_cycles = cycles.max(1);
        self
    }
}

stage_names! {
    /// The stages of `react`.
    enum ReactStage for React {
        ProblemReception = "problem_reception",
        InitialReasoning = "initial_reasoning",
        ActionPlanning = "action_planning",
        ActionExecution = "action_execution",
        ObservationReception = "observation_reception",
        ReasoningUpdate = "reasoning_update",
        EvaluationCheckpoint = "evaluation_checkpoint",
        SolutionFormulation = "solution_formulation",
        FinalResponse = "final_response",
    }
}

/// The parameter with the output of the action.
const OBSERVATION: &str = "observation";

/// The note with the output of the last action.
const OBSERVED: &str = "observed";

/// The note with the number of cycles so far.
const CYCLES: &str = "cycles";

const ENOUGH: &str = "Enough is known.";
const NO_MORE: &str = "No more may be done.";
const NOTHING_CALLED: &str = "Nothing is called.";

impl Driver for React {
    fn strategy(&self) -> Strategy {
        StrategyName::React.strategy()
    }

    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        let opening = "You solve a problem by turns of reasoning and action. In each turn you say what you \
                       think and choose what to do next; you are then told what it brought.";
        if native_tools {
            return format!("{opening} When you know enough, call nothing and give the answer.");
        }

        let actions = tool_list(tools);
        format!(
            "{opening}\n\nThe actions:{actions}\n- {FINISH}: You know enough. Its input is the answer."
        )
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;
        let wanted = Wanted::of(solving);

        Ok(match ReactStage::of(turn.stage.name())? {
            ReactStage::ProblemReception => receive_problem(turn)?,
            ReactStage::InitialReasoning | ReactStage::ReasoningUpdate => {
                self.reason(turn, &wanted)
            }
            ReactStage::ActionPlanning => plan_action(&wanted),
            ReactStage::ActionExecution => execute_action(turn, wanted),
            ReactStage::ObservationReception => observe(solving),
            ReactStage::EvaluationCheckpoint => self.evaluate(solving, &wanted),
            ReactStage::SolutionFormulation => formulate_solution(turn, &wanted),
            ReactStage::FinalResponse => respond(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let at = ReactStage::of(stage.name())?;

        let thought = match at {
            ReactStage::InitialReasoning | ReactStage::ReasoningUpdate => {
                take_reasoning(solving, stage, &done)
            }
            ReactStage::ActionExecution => take_results(solving, stage, &done),
            ReactStage::ProblemReception
            | ReactStage::ActionPlanning
            | ReactStage::ObservationReception
            | ReactStage::EvaluationCheckpoint
            | ReactStage::SolutionFormulation
            | ReactStage::FinalResponse => done.draft_at(stage),
        };

        solving.think(thought)?;

        if at == ReactStage::EvaluationCheckpoint {
            return Ok(self.after_checkpoint(solving));
        }

        Ok(done.next_of(stage))
    }

    /// Returns the solution, or the conclusion from the last observation until there is one.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        solution(solving)
            .and_then(|text| answer_if_any(solving, text))
            .or_else(|| answer_if_any(solving, last_conclusion(solving)?))
    }

    fn conclude(&self, solving: &Solving) -> Option<Ask> {
        conclude_unless(solution(solving).is_some(), solving)
    }

    /// Returns the action and its output. A rewording of the reasoning isn't progress.
    fn progress(&self, thought: &Thought) -> Option<String> {
        match ReactStage::of(thought.stage()).ok()? {
            ReactStage::ActionPlanning | ReactStage::ObservationReception => {
                let parameters = thought.parameters();
                Some(
                    parameters
                        .map(|(name, value)| format!("{name}={value} "))
                        .collect(),
                )
            }
            _ => None,
        }
    }
}

impl React {
    fn is_over(&self, solving: &Solving) -> bool {
        cycles(solving) >= self.max_cycles
    }

    fn reason(&self, turn: &StageTurn<'_>, wanted: &Wanted) -> StageWork {
        if wanted.finish.is_some() {
            StageWork::say(ENOUGH)
        } else if self.is_over(turn.solving) {
            StageWork::say(NO_MORE)
        } else {
            StageWork::Ask(question(turn))
        }
    }

    fn evaluate(&self, solving: &Solving, wanted: &Wanted) -> StageWork {
        if wanted.finish.is_some() {
            StageWork::say(ENOUGH)
        } else if self.is_over(solving) {
            StageWork::say(NO_MORE)
        } else {
            StageWork::say("Another action is needed.")
        }
    }

    fn after_checkpoint(&self, solving: &Solving) -> Next {
        let is_over = Wanted::of(solving).finish.is_some() || self.is_over(solving);

        if is_over {
            Next::stage(ReactStage::SolutionFormulation.name())
        } else {
            Next::stage(ReactStage::ActionPlanning.name())
        }
    }
}

fn receive_problem(turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
    // In text, a tool with this name couldn't be distinguished from the end.
    if !turn.native_tools && turn.tools.names().any(is_finish) {
        return Err(SolveError::driver(format!(
            "a tool is called `{FINISH}`, which is the action that ends the cycles; expected another name"
        )));
    }

    Ok(StageWork::say(turn.solving.problem()))
}

/// Asks for the reasoning and the next action.
fn question(turn: &StageTurn<'_>) -> Ask {
    let problem = turn.solving.problem().to_owned();
    let ask = ask(turn, turn.stage.prompt())
        .with_check(move |reply| finishes_with_answer(reply, &problem));
    if turn.native_tools {
        return ask.with_tools(turn.tools.definitions());
    }

    let tools = turn.tools.names().filter(|_| !is_repeating(turn.solving));
    let actions = tools.chain([FINISH]);
    ask.with_fields_of::<NextAction>()
        .narrowed(ACTION, choosing(actions))
        .narrowed(ACTION_INPUT, AnswerKey::wanted)
        // `none` may be the answer, or no answer, of a model that finishes.
        .with_literal(ACTION_INPUT)
}

/// Returns whether the last action repeats the one before it, with the same result. A model that
/// repeats itself would do so until the run is stopped.
fn is_repeating(solving: &Solving) -> bool {
    let is_at = |stage: ReactStage| move |thought: &&Thought| stage.is_stage_of(thought);
    let mut actions = solving.path().filter(is_at(ReactStage::ActionPlanning));
    let mut observations = solving
        .path()
        .filter(is_at(ReactStage::ObservationReception));

    let repeats = |last: Option<&Thought>, before: Option<&Thought>| {
        let parameters = |thought: &Thought| -> Vec<Value> {
            thought
                .parameters()
                .map(|(_, value)| value.clone())
                .collect()
        };
        last.zip(before)
            .is_some_and(|(last, before)| parameters(last) == parameters(before))
    };

    repeats(actions.next(), actions.next()) && repeats(observations.next(), observations.next())
}

fn plan_action(wanted: &Wanted) -> StageWork {
    if let Some(answer) = &wanted.finish {
        return StageWork::say(ENOUGH)
            .with(ACTION, FINISH)
            .with(ACTION_INPUT, answer.as_str());
    }

    let action = wanted.action();
    StageWork::say(format!("Next: {action}."))
        .with(ACTION, action)
        .with(ACTION_INPUT, wanted.input())
}

fn execute_action(turn: &StageTurn<'_>, wanted: Wanted) -> StageWork {
    if wanted.finish.is_some() {
        return StageWork::say(NOTHING_CALLED);
    }
    StageWork::Call(
        wanted
            .calls
            .into_iter()
            .map(|call| call.fitted(turn.tools))
            .collect(),
    )
}

fn observe(solving: &Solving) -> StageWork {
    let observed = noted(solving, OBSERVED).unwrap_or(NOTHING_CALLED);
    StageWork::say(observed).with(OBSERVATION, observed)
}

fn formulate_solution(turn: &StageTurn<'_>, wanted: &Wanted) -> StageWork {
    match &wanted.finish {
        Some(answer) => StageWork::say(answer.as_str()),
        None => {
            let problem = turn.solving.problem().to_owned();
            let check = move |reply: &StageReply| check_text(&reply.text, &problem);
            StageWork::Ask(turn.ask().with_check(check))
        }
    }
}

/// Checks that a text is an answer to the problem.
fn check_text(text: &str, problem: &str) -> Result<(), String> {
    match no_answer(text, problem) {
        Some(reason) => Err(format!("the reply {reason}")),
        None => Ok(()),
    }
}

fn respond(solving: &Solving) -> StageWork {
    let solution = solving.last_at(ReactStage::SolutionFormulation.name());
    StageWork::say(solution.map_or("", Thought::text))
}

/// Keeps the next action, and returns the reasoning.
fn take_reasoning(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let mut draft = done.draft_at(stage);
    let Some(reply) = done.reply() else {
        return draft;
    };

    let wanted = Wanted::read(reply);
    if reply.text.is_empty() {
        draft.thought = match wanted.finish {
            Some(_) => ENOUGH.to_owned(),
            None => format!("Next: {}.", wanted.action()),
        };
    }

    // The action is a parameter of the stage `action_planning`.
    draft.parameters.clear();

    wanted.keep(solving);
    draft
}

/// Adds the outputs of the tools to the conversation, and keeps them for the observation.
fn take_results(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let mut draft = done.draft_at(stage);
    let Done::Called(called) = done else {
        return draft;
    };

    let native = Wanted::of(solving).native;
    for called in called {
        solving.add_message(observation(called, native));
    }

    let tools: Vec<&str> = called.iter().map(|called| called.tool.as_str()).collect();
    solving.set_note(OBSERVED, draft.thought.as_str());
    solving.set_note(CYCLES, cycles(solving).saturating_add(1));
    draft.thought = format!("Called: {}.", tools.join(", "));

    draft
}

/// Returns the output of a call as a message.
fn observation(called: &Called, native: bool) -> Message {
    let output = called.output.as_str();
    if !native {
        return Message::user(format!("Observation: {output}"));
    }

    let call = ToolCall::new(called.id.as_str(), called.tool.as_str(), "");
    if called.failed {
        Message::tool_failure(&call, output)
    } else {
        Message::tool_result(&call, output)
    }
}

/// Returns the answer with which the model finished.
fn solution(solving: &Solving) -> Option<&str> {
    let solution = solving.last_at(ReactStage::SolutionFormulation.name());
    solution.map(Thought::text).filter(|text| !text.is_empty())
}

/// Returns the conclusion from the last observation.
fn last_conclusion(solving: &Solving) -> Option<&str> {
    let update = ReactStage::ReasoningUpdate.name();
    let conclusion = solving.last_at(update)?;

    // Once the cycles are over, the model isn't asked in this stage.
    let asked = |call: &Call| matches!(call, Call::Model { stage, .. } if stage == update);
    solving.calls().iter().any(asked).then(|| conclusion.text())
}

fn cycles(solving: &Solving) -> u32 {
    let cycles = solving.note(CYCLES).and_then(Value::as_u64);
    cycles
        .and_then(|cycles| u32::try_from(cycles).ok())
        .unwrap_or_default()
}
