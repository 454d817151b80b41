use cogwork_text::Name;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{is_missing, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;

use super::shared::{ask_for_answer, or, respond};
use crate::session::ThoughtDraft;
use crate::solve::{ANSWER, check_answer};
use crate::{Answer, Ask, Method, Solve, StageReply, Stop, Strategy, StrategyName};

/// Asks and answers smaller questions until the problem can be answered (Press et al. 2022).
///
/// The model is called once for each question: it asks the question and answers it in the same
/// reply, or answers the problem.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `problem_decomposition` | the model: the first question, or the answer if none is needed |
/// | `sub_question_formulation` | the method: the question, with its number |
/// | `sub_question_answering` | the method: the answer of the same reply |
/// | `answer_integration` | the method: question and answer |
/// | `completion_check` | the model: the next question, or the answer |
/// | `solution_formulation` | the method: the answer; or the model, once no more questions may be asked |
/// | `final_response` | the method: the answer |
///
/// If no smaller question is needed, the problem is the only question.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::SelfAsk;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "sub_question: When was the transistor invented?\nsub_question_answer: 1947",
///     "sub_question: Who was president of the USA in 1947?\nsub_question_answer: Harry S. Truman",
///     "answer: Harry S. Truman",
/// ]);
/// let solver = Solver::new(client, SelfAsk { max_questions: 4 });
/// let solved = solver.solve("Who was president of the USA when the transistor was invented?").await?;
/// assert_eq!(solved.answer(), Some("Harry S. Truman"));
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfAsk {
    /// The maximum number of smaller questions, which is at least 1. Once it is reached, the model is
    /// asked for the solution. The default is 10.
    pub max_questions: usize,
}

impl Default for SelfAsk {
    fn default() -> Self {
        Self { max_questions: 10 }
    }
}

// The fields and the parameters with the smaller question and the answer to it.
const QUESTION: &str = "sub_question";
const PART: &str = "sub_question_answer";

/// The next smaller question, or the answer to the problem.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct NextStep {
    thought: String,
    /// the next smaller question, if one is needed
    sub_question: String,
    /// the answer to the smaller question
    sub_question_answer: String,
    /// the answer to the problem, if no smaller question is needed
    answer: String,
}

/// The next step in JSON. All of it is required, since small models leave out all that they may.
#[derive(Deserialize, JsonSchema)]
struct Choice {
    /// what you give: a smaller question, or the answer to the problem
    what: What,
    /// the smaller question, or the answer to the problem
    text: String,
    /// the answer to the smaller question
    #[serde(default)]
    sub_question_answer: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    SubQuestion,
    Answer,
}

impl Method for SelfAsk {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfAsk.strategy()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        let mut next = choose(cx, "problem_decomposition")?;
        for number in 1.. {
            work_on(cx, number, &next)?;

            if !next.answer.is_empty() {
                cx.think("completion_check", "The problem can be answered.")?;
                break;
            }
            if number >= self.max_questions {
                cx.think("completion_check", "No more questions may be asked.")?;
                break;
            }
            next = choose(cx, "completion_check")?;
            if next.sub_question.is_empty() {
                break;
            }
        }

        let stage = "solution_formulation";
        if next.answer.is_empty() {
            let question = Ask::of(cx.prompt(&[stage])?);
            next.answer = ask_for_answer(cx, stage, question)?;
        } else {
            cx.think(stage, &*next.answer)?;
        }
        respond(cx, next.answer)
    }
}

/// Asks for the next smaller question, or for the answer to the problem.
fn choose(cx: &mut Solve, stage: &str) -> Result<NextStep, Stop> {
    let problem = cx.problem().to_owned();
    let question = question(&cx.prompt(&[stage])?, problem.clone());
    let next = NextStep::of(&cx.ask(stage, question)?, &problem);

    let text = match next.sub_question.is_empty() {
        true => "No smaller question is needed.",
        false => "A smaller question is needed.",
    };
    if !next.answer.is_empty() {
        cx.keep(&*next.answer);
    }
    cx.think(stage, or(&next.thought, text))?;
    Ok(next)
}

fn question(prompt: &str, problem: String) -> Ask {
    let json_keys = AnswerKey::of::<Choice>().into_iter();
    let json_keys = json_keys.map(|key| match key.name() {
        PART => key.wanted(),
        _ => key,
    });

    let question = format!(
        "{prompt} Ask one smaller question that can be answered by itself and answer it, or give the answer \
         to the problem if no more is needed."
    );
    Ask::new(question)
        .with_fields_of::<NextStep>()
        .with_json_fields(json_keys.collect())
        .with_offered_answers(&problem)
        .with_check(move |reply| NextStep::of(reply, &problem).check(&problem))
}

/// Adds the question and its answer.
fn work_on(cx: &mut Solve, number: usize, next: &NextStep) -> Result<(), Stop> {
    // If no smaller question is needed, the problem is the only one.
    let question = or(&next.sub_question, cx.problem()).to_owned();
    let thought = ThoughtDraft::at("sub_question_formulation", &*question);
    let thought = thought.with(QUESTION, &*question);
    cx.add(thought.with("sub_question_number", number))?;
    cx.progress(&*question)?;

    let part = match next.sub_question.is_empty() {
        true => next.answer.as_str(),
        false => or(&next.sub_question_answer, &next.answer),
    };
    let thought = ThoughtDraft::at("sub_question_answering", part).with(PART, part);
    cx.add(thought.with("sub_question_number", number))?;
    cx.think("answer_integration", format!("{question} {part}"))?;
    Ok(())
}

impl NextStep {
    /// Reads a reply. Next to a smaller question, an answer such as `none` only means that there is
    /// no answer yet.
    fn of(reply: &StageReply, problem: &str) -> Self {
        let mut next = match reply.value() {
            Ok(Choice {
                what: What::Answer,
                text: answer,
                ..
            }) => Self {
                answer,
                ..Self::default()
            },
            Ok(Choice {
                what: What::SubQuestion,
                text: sub_question,
                sub_question_answer,
            }) => Self {
                sub_question,
                sub_question_answer,
                ..Self::default()
            },
            Err(_) => reply.value().unwrap_or_default(),
        };
        next.thought.clone_from(&reply.text);

        let is_no_answer = is_missing(&next.answer) || no_answer(&next.answer, problem).is_some();
        if !next.sub_question.is_empty() && is_no_answer {
            next.answer.clear();
        }
        next
    }

    /// Checks that there is an answer, or a question that is answered.
    fn check(&self, problem: &str) -> Result<(), String> {
        match (self.sub_question.as_str(), self.answer.as_str()) {
            ("", "") => Err(format!(
                "the reply has neither `{QUESTION}` nor `{ANSWER}`, expected one"
            )),
            ("", answer) => check_answer("`answer`", answer, problem),
            (question, "") if self.sub_question_answer.is_empty() => {
                let question = Name(question);
                Err(format!(
                    "`{PART}` is missing, expected the answer to `{question}`"
                ))
            }
            _ => Ok(()),
        }
    }
}
