mod settings;

pub use settings::SelfAsk;

use cogwork_text::{Name, NameList};
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{is_missing, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answering::{ask_for_answer, or};
use crate::solve::{ANSWER, check_answer};
use crate::{
    Answer, Ask, Method, PlannedCall, Solve, StageReply, Stop, Strategy, StrategyName, ThoughtDraft,
};

/// The field and the parameter with the smaller question.
const QUESTION: &str = "sub_question";

/// The field and the parameter with the answer to it.
const PART: &str = "sub_question_answer";

/// The parameter with the number of the question.
const NUMBER: &str = "sub_question_number";

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
        self.check_tool(cx)?;
        cx.think_problem()?;

        let mut next = self.choose(cx, "problem_decomposition")?;
        for number in 1.. {
            let question = match next.sub_question.as_str() {
                // If no smaller question is needed, the problem is the only one.
                "" => cx.problem().to_owned(),
                question => question.to_owned(),
            };
            self.work_on(cx, number, &question, &next)?;

            if !next.answer.is_empty() {
                cx.think("completion_check", "The problem can be answered.")?;
                break;
            }
            if number >= self.max_questions {
                cx.think("completion_check", "No more questions may be asked.")?;
                break;
            }
            next = self.choose(cx, "completion_check")?;
            if next.sub_question.is_empty() {
                break;
            }
        }

        let stage = "solution_formulation";
        let answer = if next.answer.is_empty() {
            let prompt = cx.prompt(&[stage])?;
            ask_for_answer(cx, stage, &prompt)?
        } else {
            cx.think(stage, &*next.answer)?;
            next.answer
        };
        cx.think("final_response", &*answer)?;
        Ok(answer.into())
    }
}

impl SelfAsk {
    fn answers_itself(&self) -> bool {
        self.answering_tool.is_none()
    }

    fn check_tool(&self, cx: &Solve) -> Result<(), Stop> {
        let Some(tool) = &self.answering_tool else {
            return Ok(());
        };

        let known: Vec<&str> = cx.tools().names().collect();
        if known.contains(&tool.as_str()) {
            return Ok(());
        }

        let expected = if known.is_empty() {
            "one given to the solver".to_owned()
        } else {
            NameList::or(&known).to_string()
        };

        let tool = Name(tool);
        Err(Stop::fail(format!(
            "there is no tool `{tool}` to answer questions; expected {expected}"
        )))
    }

    /// Asks for the next smaller question, or for the answer to the problem.
    fn choose(&self, cx: &mut Solve, stage: &str) -> Result<NextStep, Stop> {
        let prompt = cx.prompt(&[stage])?;
        let and_answer = if self.answers_itself() {
            " and answer it"
        } else {
            ""
        };
        let question = Ask::new(format!(
            "{prompt} Ask one smaller question that can be answered by itself{and_answer}, or give the answer \
             to the problem if no more is needed."
        ));

        let mut question = question.with_fields_of::<NextStep>();
        let mut json_keys = AnswerKey::of::<Choice>();
        if self.answers_itself() {
            let wanted = |key: AnswerKey| match key.name() {
                PART => key.wanted(),
                _ => key,
            };
            json_keys = json_keys.into_iter().map(wanted).collect();
        } else {
            question = question.without_field(PART);
            json_keys.retain(|key| key.name() != PART);
        }

        let problem = cx.problem().to_owned();
        let question = question
            .with_json_fields(json_keys, chosen)
            .with_offered_answers(&problem)
            .with_check(self.choice_check(&problem));
        let mut next = NextStep::of(&cx.ask(stage, question)?, &problem);

        let text = if next.sub_question.is_empty() {
            "No smaller question is needed."
        } else {
            "A smaller question is needed."
        };
        // If a tool answers the question, an answer to the problem in the same reply was given
        // without knowing that answer, and is discarded.
        if !next.sub_question.is_empty() && !self.answers_itself() {
            next.answer.clear();
        }
        if !next.answer.is_empty() {
            cx.keep(&*next.answer);
        }
        cx.think(stage, or(&next.thought, text))?;
        Ok(next)
    }

    /// Returns a check that a reply has an answer, or a question that is answered if necessary.
    fn choice_check(
        &self,
        problem: &str,
    ) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let answers_itself = self.answers_itself();
        let problem = problem.to_owned();

        move |reply| {
            let next = NextStep::of(reply, &problem);
            let question = &next.sub_question;

            match (question.is_empty(), next.answer.is_empty()) {
                (true, false) => check_answer(ANSWER, &next.answer, &problem),
                (false, false) => Ok(()),
                (true, true) => Err(format!(
                    "the reply has neither `{QUESTION}` nor `{ANSWER}`, expected one"
                )),
                (false, true) if answers_itself && next.sub_question_answer.is_empty() => {
                    let question = Name(question);
                    Err(format!(
                        "`{PART}` is missing, expected the answer to `{question}`"
                    ))
                }
                (false, true) => Ok(()),
            }
        }
    }

    /// Adds the question and its answer, which a tool may give.
    fn work_on(
        &self,
        cx: &mut Solve,
        number: usize,
        question: &str,
        next: &NextStep,
    ) -> Result<(), Stop> {
        let thought = ThoughtDraft::at("sub_question_formulation", question);
        cx.add(thought.with(QUESTION, question).with(NUMBER, number))?;
        cx.progress(question)?;

        let stage = "sub_question_answering";
        let part = match &self.answering_tool {
            Some(tool) if next.answer.is_empty() => {
                let call = PlannedCall::new(format!("question {number}"), tool, question);
                let call = call.fitted(cx.tools());
                let called = cx.call_tools(stage, vec![call])?.pop();
                let part = called.map_or_else(String::new, |called| called.output);
                cx.say(format!("The answer to question {number}: {part}"));
                part
            }
            _ if next.sub_question.is_empty() => next.answer.clone(),
            _ => or(&next.sub_question_answer, &next.answer).to_owned(),
        };

        let thought = ThoughtDraft::at(stage, &*part);
        cx.add(thought.with(PART, &*part).with(NUMBER, number))?;
        cx.think("answer_integration", format!("{question} {part}"))?;
        Ok(())
    }
}

impl NextStep {
    /// Reads a reply. Next to a smaller question, an answer such as `none` only means that there is
    /// no answer yet.
    fn of(reply: &StageReply, problem: &str) -> Self {
        let mut next: Self = reply.value().unwrap_or_default();
        let is_no_answer = is_missing(&next.answer) || no_answer(&next.answer, problem).is_some();
        if !next.sub_question.is_empty() && is_no_answer {
            next.answer.clear();
        }
        next
    }
}

/// Returns a reply in JSON with the fields of one in lines.
fn chosen(mut reply: StageReply) -> StageReply {
    let Ok(choice) = reply.value::<Choice>() else {
        return reply;
    };

    let fields = match choice.what {
        What::Answer => vec![(ANSWER, choice.text)],
        What::SubQuestion => vec![(QUESTION, choice.text), (PART, choice.sub_question_answer)],
    };
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    reply.fields = fields
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect();
    reply
}
