mod next_action;

use cogwork_llm::{Message, ToolCall};
use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;

use self::next_action::{ACTION, ACTION_INPUT, FINISH, NextAction, Planned, is_finish};
use super::tool_list::tool_list;
use crate::solve::check_text;
use crate::{
    Answer, Ask, Called, Method, Solve, StageReply, Stop, Strategy, StrategyName, ThoughtDraft,
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
/// | `problem_reception` | the method: the problem, unchanged |
/// | `initial_reasoning`, `reasoning_update` | the model: its reasoning, and the next action |
/// | `action_planning`, `action_execution`, `evaluation_checkpoint` | the method: the action |
/// | `observation_reception` | the tools |
/// | `solution_formulation` | the method: the answer |
/// | `final_response` | the method: the answer |
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
    /// Creates a method with the default settings.
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

/// The parameter with the output of the action.
const OBSERVATION: &str = "observation";

const ENOUGH: &str = "Enough is known.";
const NO_MORE: &str = "No more may be done.";
const NOTHING_CALLED: &str = "Nothing is called.";

impl Method for React {
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

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        check_tools(cx)?;
        cx.think_problem()?;

        let mut next = reason(cx, "initial_reasoning", false)?;
        let mut before = None;
        for cycle in 1.. {
            let Planned::Calls { calls, native } = &next else {
                break;
            };
            plan(cx, &next)?;
            let calls = calls.iter().map(|call| call.clone().fitted(cx.tools()));
            let called = cx.call_tools("action_execution", calls.collect())?;
            let observed = observe(cx, &called, *native)?;

            let done = Some((next.action(), next.input(), observed));
            let is_repeating = done == before;
            before = done;

            let is_over = cycle >= self.max_cycles;
            if is_over {
                cx.think("reasoning_update", NO_MORE)?;
                cx.think("evaluation_checkpoint", NO_MORE)?;
                return formulate(cx);
            }

            next = reason(cx, "reasoning_update", is_repeating)?;
            cx.think("evaluation_checkpoint", next.evaluation())?;
        }

        finish(cx, &next)
    }
}

/// Checks that no tool has the name of the action that ends the cycles. In text, it couldn't be
/// distinguished from it.
fn check_tools(cx: &Solve) -> Result<(), Stop> {
    if cx.native_tools() || !cx.tools().names().any(is_finish) {
        return Ok(());
    }

    Err(Stop::fail(format!(
        "a tool is called `{FINISH}`, which is the action that ends the cycles; expected another name"
    )))
}

/// Asks for the reasoning and the next action.
fn reason(cx: &mut Solve, stage: &str, is_repeating: bool) -> Result<Planned, Stop> {
    let problem = cx.problem().to_owned();
    let question = Ask::new(cx.prompt(&[stage])?)
        .with_check(move |reply| Planned::finishes_with_answer(reply, &problem));
    let question = if cx.native_tools() {
        question.with_tools(cx.tools().definitions())
    } else {
        // A model that repeats itself would do so until the run is stopped.
        let tools = cx.tools().names().filter(|_| !is_repeating);
        question
            .with_fields_of::<NextAction>()
            .choosing(ACTION, tools.chain([FINISH]))
            .narrowed(ACTION_INPUT, AnswerKey::wanted)
            // `none` may be the answer, or no answer, of a model that finishes.
            .with_literal(ACTION_INPUT)
    };

    let reply: StageReply = cx.ask(stage, question)?;
    let next = Planned::read(&reply);
    let text = match (reply.text.as_str(), &next) {
        ("", Planned::Finish(_)) => ENOUGH.to_owned(),
        ("", Planned::Calls { .. }) => format!("Next: {}.", next.action()),
        (text, _) => text.to_owned(),
    };

    // Until there is a solution, the best answer is the conclusion from the last observation.
    if stage == "reasoning_update" {
        cx.keep_guess(&text);
    }
    cx.think(stage, text)?;
    Ok(next)
}

/// Adds the thought with the next action. A rewording of the reasoning isn't progress, but another
/// action is.
fn plan(cx: &mut Solve, next: &Planned) -> Result<(), Stop> {
    let (action, input) = (next.action(), next.input());
    let text = match next {
        Planned::Finish(_) => ENOUGH.to_owned(),
        Planned::Calls { .. } => format!("Next: {action}."),
    };

    cx.add(
        ThoughtDraft::at("action_planning", text)
            .with(ACTION, &*action)
            .with(ACTION_INPUT, input.clone()),
    )?;
    cx.progress(format!("{action} {input}"))
}

/// Adds the outputs of the tools to the conversation, and returns them as one text.
fn observe(cx: &mut Solve, called: &[Called], native: bool) -> Result<String, Stop> {
    for called in called {
        cx.add_message(message(called, native));
    }

    let tools: Vec<&str> = called.iter().map(|called| called.tool.as_str()).collect();
    cx.think("action_execution", format!("Called: {}.", tools.join(", ")))?;

    let outputs: Vec<&str> = called.iter().map(|called| called.output.as_str()).collect();
    let observed = outputs.join("\n");
    think_observation(cx, &observed)?;
    Ok(observed)
}

fn think_observation(cx: &mut Solve, observed: &str) -> Result<(), Stop> {
    let thought = ThoughtDraft::at("observation_reception", observed);
    cx.add(thought.with(OBSERVATION, observed))?;
    cx.progress(observed)
}

/// Returns the output of a call as a message.
fn message(called: &Called, native: bool) -> Message {
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
fn finish(cx: &mut Solve, next: &Planned) -> Result<Answer, Stop> {
    // The table has no shorter way to the solution.
    if cx.session().stage().name() == "initial_reasoning" {
        plan(cx, next)?;
        cx.think("action_execution", NOTHING_CALLED)?;
        think_observation(cx, NOTHING_CALLED)?;
        cx.think("reasoning_update", ENOUGH)?;
        cx.think("evaluation_checkpoint", ENOUGH)?;
    }

    conclude(cx, next.answer())
}

/// Asks for the solution once no more may be done.
fn formulate(cx: &mut Solve) -> Result<Answer, Stop> {
    let stage = "solution_formulation";
    let problem = cx.problem().to_owned();
    let question =
        Ask::new(cx.prompt(&[stage])?).with_check(move |reply| check_text(&reply.text, &problem));
    let solution = cx.ask(stage, question)?.text;

    conclude(cx, &solution)
}

fn conclude(cx: &mut Solve, answer: &str) -> Result<Answer, Stop> {
    cx.keep(answer);
    cx.think("solution_formulation", answer)?;
    cx.think("final_response", answer)?;
    Ok(answer.into())
}
