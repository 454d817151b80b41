use cogwork_cot::{ChainOfThought, CutShort, EarlyEnd, History, Prompts, Reasoning};
use cogwork_flow::Action;
use cogwork_typed::ask::Limits;
use schemars::JsonSchema;
use serde::Deserialize;

use super::inside::Inside;
use crate::{FlowState, Made, Making, Output, Visit};

/// The settings of a chain of thought, in addition to those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// The problem, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// Which text is the answer of the node. Default: full.
    #[serde(default)]
    answer: AnswerText,
    /// The limits of the reasoning. Default: 50 thoughts, 1000000 tokens, 67108864 bytes, 3600 seconds.
    #[serde(default)]
    limits: Limits,
    /// How often a turn asks again when a reply cannot be used. Default: 2.
    asks_again: Option<u32>,
    /// Which earlier thoughts a request contains. Default: all.
    #[serde(default)]
    history: History,
    /// The language of the instructions to the model. Default: english.
    #[serde(default)]
    language: Language,
    /// What happens when the model ends while steps are not done. Default: ask.
    #[serde(default)]
    early_end: EarlyEnd,
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

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Language {
    #[default]
    English,
    Chinese,
}

pub(super) fn make(settings: Settings, making: &mut Making<'_, '_>) -> Option<Made> {
    let node = ChainOfThought::new(making.client.clone())
        .with_request(making.request.clone())
        .with_limits(settings.limits)
        .with_asks_again(settings.asks_again.unwrap_or(2))
        .with_history(settings.history)
        .with_prompts(match settings.language {
            Language::English => Prompts::english(),
            Language::Chinese => Prompts::chinese(),
        })
        .with_early_end(settings.early_end);

    let inside = Inside {
        prompt: making.prompt(settings.prompt),
        flow: node.into_flow(),
        leave: |_| Action::DEFAULT,
    };

    inside.made(
        making,
        |state, id, prompt| {
            let reasoning = Reasoning::new(prompt.text);
            state.reasonings.insert(id.to_owned(), reasoning);
        },
        part,
        move |state, id| {
            let reasoning = part(state, id);
            let traces = reasoning.thoughts().iter().map(|thought| &thought.trace);
            let mut visit = Visit::of(id);
            visit.spent = reasoning.spent();
            visit.tries = traces.flat_map(|trace| trace.tries.clone()).collect();

            let text = match settings.answer {
                AnswerText::Full => reasoning.solution(),
                AnswerText::Conclusion => reasoning.answer(),
            };
            Ok(visit.with_output(Output {
                text: text.unwrap_or_default().to_owned(),
                cut_short: reasoning.cut_short().map(reason),
                ..Output::default()
            }))
        },
    )
}

fn part<'s>(state: &'s mut FlowState, id: &str) -> &'s mut Reasoning {
    // A state that a person has edited may lack the part.
    let part = state.reasonings.entry(id.to_owned());
    part.or_insert_with(|| Reasoning::new(String::new()))
}

/// Returns why the answer isn't complete.
fn reason(cut_short: &CutShort) -> String {
    let limit = cut_short.limit;
    match &cut_short.problem {
        None => format!("the limit of {limit} was reached"),
        Some(problem) => {
            format!("the limit of {limit} was reached without a conclusion: {problem}")
        }
    }
}
