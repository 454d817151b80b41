mod settings;

pub use settings::SelfAsk;

use cogwork_llm::Message;
use cogwork_text::{Name, NameList};
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{is_missing, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answering::{
    ANSWER, answered, ask, ask_for_answer, check_answer, draft, keep_answer, noted, say_answer,
    take_answer, with_offered_answers,
};
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Ask, Done, Driver, Next, PlannedCall, SolveError, Solving, Stage, StageReply,
    StageTurn, StageWork, Strategy, StrategyName, Thought, ThoughtDraft,
};

stage_names! {
    /// The stages of `self_ask`.
    enum SelfAskStage for SelfAsk {
        ProblemReception = "problem_reception",
        ProblemDecomposition = "problem_decomposition",
        SubQuestionFormulation = "sub_question_formulation",
        SubQuestionAnswering = "sub_question_answering",
        AnswerIntegration = "answer_integration",
        CompletionCheck = "completion_check",
        SolutionFormulation = "solution_formulation",
        FinalResponse = "final_response",
    }
}

/// The field, the note and the parameter with the smaller question.
const QUESTION: &str = "sub_question";

/// The field, the note and the parameter with the answer to it.
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

/// The parameter with the number of the question.
const NUMBER: &str = "sub_question_number";

impl Driver for SelfAsk {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfAsk.strategy()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match SelfAskStage::of(turn.stage.name())? {
            SelfAskStage::ProblemReception => self.receive_problem(turn)?,
            SelfAskStage::ProblemDecomposition => StageWork::Ask(self.next_question(turn)),
            SelfAskStage::SubQuestionFormulation => formulate_question(solving),
            SelfAskStage::SubQuestionAnswering => self.answer_question(turn),
            SelfAskStage::AnswerIntegration => integrate(solving),
            SelfAskStage::CompletionCheck => self.check_completion(turn),
            SelfAskStage::SolutionFormulation => formulate_solution(turn),
            SelfAskStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let at = SelfAskStage::of(stage.name())?;

        let thought = match at {
            SelfAskStage::ProblemDecomposition | SelfAskStage::CompletionCheck => {
                self.take_choice(solving, stage, &done)
            }
            SelfAskStage::SubQuestionFormulation => {
                // The question is now a parameter of the thought.
                solving.take_note(QUESTION);
                done.draft_at(stage)
            }
            SelfAskStage::SubQuestionAnswering => take_part(solving, stage, &done),
            SelfAskStage::SolutionFormulation => take_answer(solving, stage, &done),
            SelfAskStage::ProblemReception
            | SelfAskStage::AnswerIntegration
            | SelfAskStage::FinalResponse => done.draft_at(stage),
        };

        solving.think(thought)?;

        if at == SelfAskStage::CompletionCheck {
            return Ok(after_check(solving));
        }

        Ok(done.next_of(stage))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Returns the smaller question.
    fn progress(&self, thought: &Thought) -> Option<String> {
        let question = thought.parameter(QUESTION)?.as_str()?;
        Some(question.to_owned())
    }
}

impl SelfAsk {
    fn answers_itself(&self) -> bool {
        self.answering_tool.is_none()
    }

    fn receive_problem(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        self.check_tool(turn)?;
        Ok(StageWork::say(turn.solving.problem()))
    }

    fn check_tool(&self, turn: &StageTurn<'_>) -> Result<(), SolveError> {
        let Some(tool) = &self.answering_tool else {
            return Ok(());
        };

        let known: Vec<&str> = turn.tools.names().collect();
        if known.contains(&tool.as_str()) {
            return Ok(());
        }

        let expected = if known.is_empty() {
            "one given to the solver".to_owned()
        } else {
            NameList::or(&known).to_string()
        };

        let tool = Name(tool);
        Err(SolveError::driver(format!(
            "there is no tool `{tool}` to answer questions; expected {expected}"
        )))
    }

    /// Asks for the next smaller question, or for the answer to the problem.
    fn next_question(&self, turn: &StageTurn<'_>) -> Ask {
        let prompt = turn.stage.prompt();
        let and_answer = if self.answers_itself() {
            " and answer it"
        } else {
            ""
        };

        let question = ask(
            turn,
            format!(
                "{prompt} Ask one smaller question that can be answered by itself{and_answer}, or give the answer \
                 to the problem if no more is needed."
            ),
        );

        let mut question = question.with_fields_of::<NextStep>();
        let mut json_keys = AnswerKey::of::<Choice>();
        if self.answers_itself() {
            json_keys = json_keys
                .into_iter()
                .map(|key| {
                    if key.name() == PART {
                        key.wanted()
                    } else {
                        key
                    }
                })
                .collect();
        } else {
            question = question.without_field(PART);
            json_keys.retain(|key| key.name() != PART);
        }

        let question = question
            .with_json_fields(json_keys, chosen)
            .with_check(self.choice_check(turn.solving.problem()));
        with_offered_answers(turn, question, ANSWER)
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

    fn answer_question(&self, turn: &StageTurn<'_>) -> StageWork {
        let solving = turn.solving;
        if let Some(part) = noted(solving, PART) {
            return StageWork::say(part);
        }

        // The problem itself is the only question.
        if answered(solving).is_some() {
            return say_answer(solving);
        }

        let Some(tool) = &self.answering_tool else {
            return say_answer(solving);
        };

        let name = format!("question {}", asked(solving));
        let call = PlannedCall::new(name, tool, last_question(solving));
        StageWork::Call(vec![call.fitted(turn.tools)])
    }

    fn check_completion(&self, turn: &StageTurn<'_>) -> StageWork {
        if answered(turn.solving).is_some() {
            StageWork::say("The problem can be answered.")
        } else if asked(turn.solving) >= self.max_questions {
            StageWork::say("No more questions may be asked.")
        } else {
            StageWork::Ask(self.next_question(turn))
        }
    }

    /// Keeps the next question or the answer, whichever the model chose.
    fn take_choice(&self, solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
        let Some(reply) = done.reply() else {
            return done.draft_at(stage);
        };

        let next = NextStep::of(reply, solving.problem());
        if next.sub_question.is_empty() {
            keep_answer(solving, &next.answer);
            return draft(stage, &next.thought, "No smaller question is needed.");
        }

        solving.set_note(QUESTION, next.sub_question);

        // If a tool answers the question, an answer to the problem in the same reply was given
        // without knowing that answer, and is discarded.
        if self.answers_itself() {
            let part = match next.sub_question_answer {
                part if part.is_empty() => next.answer.clone(),
                part => part,
            };
            keep_answer(solving, &next.answer);
            solving.set_note(PART, part);
        }

        draft(stage, &next.thought, "A smaller question is needed.")
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
    let Some(choice) = reply.value::<Choice>() else {
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

fn formulate_question(solving: &Solving) -> StageWork {
    let question = noted(solving, QUESTION).unwrap_or(solving.problem());
    let number = asked(solving) + 1;
    StageWork::say(question)
        .with(QUESTION, question)
        .with(NUMBER, number)
}

fn integrate(solving: &Solving) -> StageWork {
    let part = solving.last_at(SelfAskStage::SubQuestionAnswering.name());
    let part = part.map_or("", Thought::text);
    StageWork::say(format!("{} {part}", last_question(solving)))
}

fn formulate_solution(turn: &StageTurn<'_>) -> StageWork {
    if answered(turn.solving).is_some() {
        return say_answer(turn.solving);
    }
    StageWork::Ask(ask_for_answer(turn, ask(turn, turn.stage.prompt())))
}

/// Adds the answer to the conversation, unless the model gave it itself.
fn take_part(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let draft = done.draft_at(stage);
    let answer = draft.thought.clone();
    let number = asked(solving);

    let was_noted = solving.take_note(PART).is_some();
    let is_known = was_noted || matches!(done, Done::Said { .. });
    if !is_known {
        solving.add_message(Message::user(format!(
            "The answer to question {number}: {answer}"
        )));
    }

    draft.with(PART, answer).with(NUMBER, number)
}

fn after_check(solving: &Solving) -> Next {
    if solving.note(QUESTION).is_some() {
        Next::stage(SelfAskStage::SubQuestionFormulation.name())
    } else {
        Next::stage(SelfAskStage::SolutionFormulation.name())
    }
}

/// Returns the number of questions on the path.
fn asked(solving: &Solving) -> usize {
    solving
        .path()
        .filter(|thought| SelfAskStage::SubQuestionFormulation.is_stage_of(thought))
        .count()
}

fn last_question(solving: &Solving) -> &str {
    let question = solving.last_at(SelfAskStage::SubQuestionFormulation.name());
    question.map_or("", Thought::text)
}
