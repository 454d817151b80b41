use std::fmt;
use std::sync::Arc;

use cogwork_llm::{LlmClient, Message};
use serde_json::Value;

use super::answering::{ANSWER, answer_field, answered, draft, keep_answer, say_answer};
use crate::quote::{List, Name};
use crate::{
    Answer, Ask, Done, Driver, Next, Parameter, PlannedCall, Reply, SolveError, Solving, Stage, Strategy,
    StrategyName, Thought, Turn, Work,
};

/// Ask and answer smaller questions until the first one can be answered (Press et al. 2022).
///
/// One call a question: the model asks it and answers it itself, or says the answer to the problem. The
/// questions can be answered [by a tool](Self::answered_by_tool), such as a search, or
/// [by another model](Self::answered_by), which is asked nothing else. A tool that fails says so in the
/// place of the answer.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `problem_decomposition` | the model: the first question, or the answer if it needs none |
/// | `sub_question_formulation` | the program: the question, with its number |
/// | `sub_question_answering` | the program: the model's own answer; or the tool, or the other model |
/// | `answer_integration` | the program: question and answer |
/// | `completion_check` | the model: the next question, or the answer |
/// | `solution_formulation` | the program: the answer; the model, when no more questions may be asked |
/// | `final_response` | the program: the same |
///
/// A problem that needs no smaller question is the only question itself.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{SelfAsk, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "sub_question: When was the transistor invented?\nsub_question_answer: 1947",
///     "sub_question: Who was president of the USA in 1947?\nsub_question_answer: Harry S. Truman",
///     "answer: Harry S. Truman",
/// ]);
/// let solver = Solver::new(client, SelfAsk::new().with_max_questions(4));
/// let solved = solver.solve("Who was president of the USA when the transistor was invented?").await?;
/// assert_eq!(solved.answer(), Some("Harry S. Truman"));
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SelfAsk {
    max_questions: usize,
    answerer: Answerer,
}

/// Who answers the smaller questions.
#[derive(Clone)]
enum Answerer {
    /// The model that asks them, in the same reply.
    Itself,
    Tool(String),
    Client(Arc<dyn LlmClient>),
}

impl Default for SelfAsk {
    fn default() -> Self {
        Self { max_questions: 10, answerer: Answerer::Itself }
    }
}

impl SelfAsk {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many smaller questions may be asked; then the model is asked for the solution with what is
    /// known. Default: 10; at least 1.
    #[must_use]
    pub fn with_max_questions(mut self, questions: usize) -> Self {
        self.max_questions = questions.max(1);
        self
    }

    /// Has the questions answered by one of the solver's tools, which is given the question. Unset: the
    /// model answers them itself.
    #[must_use]
    pub fn answered_by_tool(mut self, tool: impl Into<String>) -> Self {
        self.answerer = Answerer::Tool(tool.into());
        self
    }

    /// Has each question answered by this client, in a conversation of its own, without the problem. Its
    /// calls and tokens count as all others. Unset: the model answers them itself.
    #[must_use]
    pub fn answered_by(mut self, client: impl LlmClient + 'static) -> Self {
        self.answerer = Answerer::Client(Arc::new(client));
        self
    }

    fn answers_itself(&self) -> bool {
        matches!(self.answerer, Answerer::Itself)
    }

    /// What the model is asked in every cycle.
    fn question(&self, turn: &Turn<'_>) -> Work {
        let question = Parameter::text("the next smaller question, if one is needed").optional();
        let itself = self.answers_itself();
        let and_answer = if itself { " and answer it" } else { "" };
        let mut ask = Ask::new(
            turn.solving.transcript().clone(),
            format!(
                "{} Ask one smaller question that can be answered by itself{and_answer}, or give the answer \
                 to the problem if no more is needed.",
                turn.stage.prompt()
            ),
        )
        .with_field(QUESTION, question);
        if itself {
            ask = ask.with_field(PART, Parameter::text("the answer to the smaller question").optional());
        }
        let answer = Parameter::text("the answer to the problem, if no smaller question is needed");
        Work::Ask(ask.with_field(ANSWER, answer.optional()).with_check(move |reply| {
            match (reply.field(QUESTION), reply.field(PART), reply.field(ANSWER)) {
                ("", _, "") => {
                    Err(format!("the reply has neither `{QUESTION}` nor `{ANSWER}`, expected one"))
                }
                (question, "", "") if itself => {
                    Err(format!("`{PART}` is missing, expected the answer to `{}`", Name(question)))
                }
                _ => Ok(()),
            }
        }))
    }
}

const QUESTION: &str = "sub_question";
const PART: &str = "sub_question_answer";
const NUMBER: &str = "sub_question_number";

impl Driver for SelfAsk {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfAsk.strategy()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let noted = |note: &str| solving.note(note).and_then(Value::as_str);
        let asked = asked(solving);
        Ok(match turn.stage.name() {
            "problem_reception" => {
                self.find_tool(turn)?;
                Work::say(solving.problem())
            }
            "problem_decomposition" => self.question(turn),
            "sub_question_formulation" => {
                let question = noted(QUESTION).unwrap_or(solving.problem());
                Work::say(question).with(QUESTION, question).with(NUMBER, asked + 1)
            }
            "sub_question_answering" => match (noted(PART), &self.answerer) {
                (Some(answer), _) => Work::say(answer),
                (None, _) if answered(solving).is_some() => say_answer(solving),
                (None, Answerer::Tool(tool)) => {
                    let question = last_question(solving);
                    let call = PlannedCall::new(format!("question {asked}"), tool, question);
                    Work::Call(vec![call.fitted(turn.tools)])
                }
                (None, Answerer::Client(client)) => {
                    let told = [Message::system("Answer the question, short and complete.")];
                    let ask = Ask::new(told.into_iter().collect(), last_question(solving));
                    let ask = ask.named(format!("question {asked}")).with_client(Arc::clone(client));
                    Work::AskAll { asks: vec![ask], enough: None }
                }
                (None, Answerer::Itself) => say_answer(solving),
            },
            "answer_integration" => {
                let part = solving.last_at("sub_question_answering").map_or("", Thought::text);
                Work::say(format!("{} {part}", last_question(solving)))
            }
            "completion_check" if answered(solving).is_some() => Work::say("The problem can be answered."),
            "completion_check" if asked >= self.max_questions => Work::say("No more questions may be asked."),
            "completion_check" => self.question(turn),
            "solution_formulation" if answered(solving).is_none() => Work::Ask(
                Ask::new(solving.transcript().clone(), turn.stage.prompt())
                    .with_field(ANSWER, answer_field()),
            ),
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let (thought, next) = match stage.name() {
            "problem_decomposition" | "completion_check" => {
                let thought = match done.reply() {
                    Some(reply) => self.decided(solving, stage, reply),
                    None => done.draft_at(stage),
                };
                let asks = solving.note(QUESTION).is_some();
                let next = match stage.name() {
                    "completion_check" if !asks => "solution_formulation",
                    _ => "sub_question_formulation",
                };
                (thought, Next::stage(next))
            }
            "sub_question_formulation" => {
                solving.take_note(QUESTION);
                (done.draft_at(stage), done.next_of(stage))
            }
            "sub_question_answering" => {
                let own = solving.take_note(PART).is_some() || matches!(done, Done::Said { .. });
                let draft = done.draft_at(stage);
                let number = asked(solving);
                if !own {
                    solving
                        .tell(Message::user(format!("The answer to question {number}: {}", draft.thought)));
                }
                let answer = draft.thought.clone();
                (draft.with(PART, answer).with(NUMBER, number), done.next_of(stage))
            }
            "solution_formulation" => {
                let thought = match done.reply() {
                    Some(reply) => {
                        keep_answer(solving, reply);
                        draft(stage, &reply.text, reply.field(ANSWER))
                    }
                    None => done.draft_at(stage),
                };
                (thought, done.next_of(stage))
            }
            _ => (done.draft_at(stage), done.next_of(stage)),
        };
        solving.think(thought)?;
        Ok(next)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// The smaller question.
    fn progress(&self, thought: &Thought) -> Option<String> {
        thought.parameter(QUESTION).and_then(Value::as_str).map(str::to_owned)
    }
}

impl SelfAsk {
    /// What the model chose: another question, or the answer.
    fn decided(&self, solving: &mut Solving, stage: &Stage, reply: &Reply) -> crate::Draft {
        let question = reply.field(QUESTION);
        // An answer beside a question that another is to answer was given without it.
        if question.is_empty() || self.answers_itself() {
            keep_answer(solving, reply);
        }
        if question.is_empty() {
            return draft(stage, &reply.text, "No smaller question is needed.");
        }
        solving.set_note(QUESTION, question);
        if self.answers_itself() {
            let part = Some(reply.field(PART)).filter(|part| !part.is_empty());
            solving.set_note(PART, part.unwrap_or(reply.field(ANSWER)));
        }
        draft(stage, &reply.text, "A smaller question is needed.")
    }

    fn find_tool(&self, turn: &Turn<'_>) -> Result<(), SolveError> {
        let Answerer::Tool(tool) = &self.answerer else { return Ok(()) };
        let known: Vec<&str> = turn.tools.names().collect();
        if known.contains(&tool.as_str()) {
            return Ok(());
        }
        let expected = if known.is_empty() {
            "one given to the solver".to_owned()
        } else {
            List(&known, "or").to_string()
        };
        Err(SolveError::driver(format!(
            "there is no tool `{}` to answer questions; expected {expected}",
            Name(tool)
        )))
    }
}

/// How many questions there are on the path.
fn asked(solving: &Solving) -> usize {
    solving.path().filter(|thought| thought.stage().name() == "sub_question_formulation").count()
}

fn last_question(solving: &Solving) -> &str {
    solving.last_at("sub_question_formulation").map_or("", Thought::text)
}

impl fmt::Debug for SelfAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answerer = match &self.answerer {
            Answerer::Itself => "itself",
            Answerer::Tool(tool) => tool,
            Answerer::Client(_) => "another client",
        };
        f.debug_struct("SelfAsk")
            .field("max_questions", &self.max_questions)
            .field("answerer", &answerer)
            .finish()
    }
}
