use cogwork_cot::{
    ChainOfThought, CutShort, EarlyEnd, History, Prompts, Reading, Reasoning, Thought,
};
use cogwork_flow::Action;
use cogwork_typed::ask::Limits;
use schemars::JsonSchema;
use serde::Deserialize;

use super::inside::Inside;
use crate::settings::SettingProblem;
use crate::{FlowState, Made, Making, NodeType, Output, Visit};

/// The settings of a chain of thought, in addition to those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The problem, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// Which text is the answer of the node. Default: full.
    #[serde(default)]
    answer: AnswerText,
    /// The limits of the reasoning. Default: 50 thoughts, 1000000 tokens, 67108864 bytes, 3600 seconds.
    #[serde(default)]
    limits: LoopLimits,
    /// Which earlier thoughts a request contains. Default: all.
    #[serde(default)]
    history: History,
    /// The language of the instructions to the model. Default: english.
    #[serde(default)]
    language: Language,
    /// What happens when the model ends while steps are not done. Default: ask.
    #[serde(default)]
    early_end: EarlyEnd,
    /// Whether replies are repaired before the model is asked again. Default: repairing.
    #[serde(default)]
    reading: Reading,
}

#[derive(Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerText {
    /// The text of the last thought.
    #[default]
    Full,
    /// The result of the last step of the plan, in a few words; the text of the last thought if the step has no result.
    Conclusion,
}

#[derive(Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))]
struct LoopLimits {
    #[serde(flatten)]
    limits: Limits,
    /// How often a turn asks again when a reply cannot be used. Default: 2.
    asks_again: u32,
}

impl Default for LoopLimits {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            asks_again: 2,
        }
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Language {
    #[default]
    English,
    Chinese,
}

pub(super) fn node_type() -> NodeType {
    let summary =
        "Reasoning in steps: plans, judges its last thought, does the next step, and concludes.";
    NodeType::new("chain_of_thought", summary, make).with_client()
}

fn make(settings: Settings, making: &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>> {
    let Settings {
        prompt,
        answer,
        limits,
        history,
        language,
        early_end,
        reading,
    } = settings;

    let prompt = making.prompt(prompt)?;
    let node = ChainOfThought::new(making.client()?)
        .with_request(making.request())
        .with_limits(limits.limits)
        .with_asks_again(limits.asks_again)
        .with_history(history)
        .with_prompts(match language {
            Language::English => Prompts::english(),
            Language::Chinese => Prompts::chinese(),
        })
        .with_early_end(early_end)
        .with_reading(reading);

    let inside = Inside {
        id: making.id().into(),
        prompt,
        flow: node.into_flow(),
        leave: |_| Action::DEFAULT,
    };

    inside.made(
        |state, id, prompt| state.begin_reasoning(id, prompt.text),
        FlowState::reasoning_mut,
        move |state, id| {
            let reasoning = state.reasoning_mut(id);
            let spent = reasoning.spent();
            let output = Output {
                text: text(reasoning, answer),
                cut_short: reasoning.cut_short().map(reason),
                calls: calls(reasoning),
                usage: spent.usage,
                ..Output::default()
            };

            let tries = reasoning.thoughts().iter().map(Thought::trace);
            let tries = tries.flat_map(|trace| trace.tries.iter().cloned());
            Ok(Visit::answered(id, output)
                .with_tries(tries)
                .with_spent(spent))
        },
    )
}

/// Returns why the answer isn't complete.
fn reason(cut_short: &CutShort) -> String {
    let limit = cut_short.limit();
    match cut_short.problem() {
        None => format!("the limit of {limit} was reached"),
        Some(problem) => {
            format!("the limit of {limit} was reached without a conclusion: {problem}")
        }
    }
}

/// Counts every reply and every refusal of a form as a call.
fn calls(reasoning: &Reasoning) -> u32 {
    let traces = reasoning.thoughts().iter().map(Thought::trace);
    let calls = traces
        .chain(reasoning.cut_short().map(CutShort::trace))
        .map(|trace| trace.tries.len().saturating_add(trace.refusals.len()))
        .sum::<usize>();
    u32::try_from(calls).unwrap_or(u32::MAX)
}

fn text(reasoning: &Reasoning, answer: AnswerText) -> String {
    let text = match answer {
        AnswerText::Full => reasoning.solution(),
        AnswerText::Conclusion => reasoning.answer(),
    };
    text.unwrap_or_default().to_owned()
}
