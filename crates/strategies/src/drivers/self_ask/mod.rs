mod settings;

pub use settings::SelfAsk;

use cogwork_llm::Message;
use cogwork_text::{Name, NameList};
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{is_missing, no_answer};

use super::answering::{
    ANSWER, answered, ask, ask_for_answer, check_answer, draft, keep_answer, noted, say_answer,
    take_answer, with_offered_answers,
};
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Ask, Done, Driver, Next, Parameter, ParameterType, PlannedCall, SolveError, Solving,
    Stage, StageReply, StageTurn, StageWork, Strategy, StrategyName, Thought, ThoughtDraft,
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

/// The field of a reply in JSON that tells whether its text is a question or the answer.
const WHAT: &str = "what";

/// The field of a reply in JSON with the question or the answer.
const TEXT: &str = "text";

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

        let mut question = ask(
            turn,
            format!(
                "{prompt} Ask one smaller question that can be answered by itself{and_answer}, or give the answer \
                 to the problem if no more is needed."
            ),
        );

        let smaller = Parameter::text("the next smaller question, if one is needed");
        question = question.with_field(QUESTION, smaller.optional());

        if self.answers_itself() {
            let part = Parameter::text("the answer to the smaller question");
            question = question.with_field(PART, part.optional());
        }

        let answer = Parameter::text("the answer to the problem, if no smaller question is needed");
        let question = question
            .with_field(ANSWER, answer.optional())
            .with_json_fields(self.json_fields(), chosen)
            .with_check(self.choice_check(turn.solving.problem()));
        with_offered_answers(turn, question, ANSWER)
    }

    /// Returns the fields of a reply in JSON. All of them are required, since small models leave out
    /// all that they may.
    fn json_fields(&self) -> Vec<AnswerKey> {
        let kind = ParameterType::Text {
            choices: [QUESTION, ANSWER].map(str::to_owned).to_vec(),
        };

        let what = "what you give: a smaller question, or the answer to the problem";
        let text = "the smaller question, or the answer to the problem";
        let mut fields = vec![
            Parameter::new(kind, what).key(WHAT),
            Parameter::text(text).key(TEXT),
        ];

        if self.answers_itself() {
            let part = Parameter::text("the answer to the smaller question");
            fields.push(part.key(PART).wanted());
        }

        fields
    }

    /// Returns a check that a reply has an answer, or a question that is answered if necessary.
    fn choice_check(
        &self,
        problem: &str,
    ) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let answers_itself = self.answers_itself();
        let problem = problem.to_owned();

        move |reply| {
            let question = reply.field(QUESTION);
            let answer = answer_beside(question, reply, &problem);

            if question.is_empty() && !answer.is_empty() {
                return check_answer(ANSWER, answer, &problem);
            }
            if !answer.is_empty() {
                return Ok(());
            }
            if question.is_empty() {
                return Err(format!(
                    "the reply has neither `{QUESTION}` nor `{ANSWER}`, expected one"
                ));
            }

            if answers_itself && reply.field(PART).is_empty() {
                let question = Name(question);
                return Err(format!(
                    "`{PART}` is missing, expected the answer to `{question}`"
                ));
            }

            Ok(())
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

        let question = reply.field(QUESTION);
        if question.is_empty() {
            keep_answer(solving, reply);
            return draft(stage, &reply.text, "No smaller question is needed.");
        }

        solving.set_note(QUESTION, question);

        // If a tool answers the question, an answer to the problem in the same reply was given
        // without knowing that answer, and is discarded.
        if self.answers_itself() {
            let answer = answer_beside(question, reply, solving.problem());
            if !answer.is_empty() {
                solving.set_note(ANSWER, answer);
            }

            let part = Some(reply.field(PART)).filter(|part| !part.is_empty());
            solving.set_note(PART, part.unwrap_or(answer));
        }

        draft(stage, &reply.text, "A smaller question is needed.")
    }
}

/// Returns the answer of a reply. Next to a smaller question, a text such as `none` only means that
/// there is no answer yet.
fn answer_beside<'r>(question: &str, reply: &'r StageReply, problem: &str) -> &'r str {
    let answer = reply.field(ANSWER);
    let is_no_answer = is_missing(answer) || no_answer(answer, problem).is_some();

    if !question.is_empty() && is_no_answer {
        return "";
    }
    answer
}

/// Returns a reply in JSON with the fields of one in lines.
fn chosen(mut reply: StageReply) -> StageReply {
    let is_answer = reply.field(WHAT) == ANSWER;
    reply.fields.remove(WHAT);

    if let Some(text) = reply.fields.remove(TEXT) {
        let field = if is_answer { ANSWER } else { QUESTION };
        reply.fields.insert(field.to_owned(), text);
    }

    if is_answer {
        reply.fields.remove(PART);
    }

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
