use cogwork_plan::{Plan, Status, Step};
use serde_json::Value;

use super::answering::{
    ANSWER, answer_field, answered, draft, keep_answer, say_answer, verification, verified,
};
use crate::{
    Answer, Ask, Done, Draft, Driver, Next, Parameter, ParameterType, SolveError, Solving, Stage, Strategy,
    StrategyName, Thought, ThoughtKind, Turn, Work,
};

/// Take the problem apart into steps, and work through them (Wei et al. 2022).
///
/// Three calls: for the steps, for their results with the answer, and for a check, which may correct the
/// answer. The steps are the [plan](Driver::plan) of the trace, with their results; where the check came to
/// another answer, the last of them is to be verified.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `step_decomposition` | the model; each step is a thought of its own |
/// | `sequential_reasoning` | the model; each result is a thought of its own |
/// | `solution_formulation` | the program: the answer that the model came to |
/// | `answer_verification` | the model, unless [told otherwise](Self::with_verification) |
/// | `final_response` | the program: the answer, corrected where it did not hold |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{ChainOfThought, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
///     "thought: 17 is 10 and 7.\nresults:\n- 30\n- 21\n- 51\nanswer: 51",
/// ]);
/// let driver = ChainOfThought::new().with_verification(false);
/// let solved = Solver::new(client, driver).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// assert_eq!(
///     solved.trace().plan().ok_or("no plan")?.task_list().to_string(),
///     "- [x] Multiply the tens.: 30\n- [x] Multiply the ones.: 21\n- [x] Add.: 51",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainOfThought {
    verification: bool,
    max_steps: usize,
}

impl Default for ChainOfThought {
    fn default() -> Self {
        Self { verification: true, max_steps: 20 }
    }
}

impl ChainOfThought {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the model checks its answer, which is one call more. Default: yes.
    #[must_use]
    pub fn with_verification(mut self, verification: bool) -> Self {
        self.verification = verification;
        self
    }

    /// How many steps there may be; of more the model is asked for fewer. Default: 20; at least 1, at most
    /// 100.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps.clamp(1, 100);
        self
    }
}

const STEPS: &str = "steps";
const RESULTS: &str = "results";

impl Driver for ChainOfThought {
    fn strategy(&self) -> Strategy {
        StrategyName::ChainOfThought.strategy()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let ask = || Ask::new(solving.transcript().clone(), turn.stage.prompt());
        Ok(match turn.stage.name() {
            "problem_reception" => Work::say(solving.problem()),
            "step_decomposition" => {
                let most = self.max_steps;
                let few = move |reply: &crate::Reply| match items(reply.fields.get(STEPS)).count() {
                    steps if steps > most => {
                        Err(format!("`{STEPS}` has {steps} items, expected at most {most}"))
                    }
                    _ => Ok(()),
                };
                Work::Ask(ask().with_field(STEPS, texts("the steps")).with_check(few))
            }
            "sequential_reasoning" => {
                let results = texts("what each step gives, in the order of the steps");
                Work::Ask(ask().with_field(RESULTS, results).with_field(ANSWER, answer_field()))
            }
            "answer_verification" if self.verification => verification(turn),
            "answer_verification" => Work::say("Not checked."),
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        let (thought, parts) = match (done.reply(), stage.name()) {
            (Some(reply), "step_decomposition") => {
                let steps: Vec<String> = items(reply.fields.get(STEPS)).map(str::to_owned).collect();
                (draft(stage, &reply.text, "The steps:"), steps)
            }
            (Some(reply), "sequential_reasoning") => {
                let most = steps_at(solving, "step_decomposition").count();
                let results = items(reply.fields.get(RESULTS)).take(most).map(str::to_owned).collect();
                keep_answer(solving, reply);
                (draft(stage, &reply.text, "The results:"), results)
            }
            (Some(reply), _) => (verified(solving, stage, reply), Vec::new()),
            (None, _) => (done.draft_at(stage), Vec::new()),
        };
        solving.think(thought)?;
        for part in parts {
            solving.think(Draft::here(part))?;
        }
        Ok(next)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Nothing comes twice in this strategy, however alike its thoughts are.
    fn progress(&self, _: &Thought) -> Option<String> {
        None
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let reasoned = solving.last_at("sequential_reasoning").is_some();
        let mut results = steps_at(solving, "sequential_reasoning");
        let planned = steps_at(solving, "step_decomposition").map(|step| match results.next() {
            Some(result) => Step::done(step, result),
            None if reasoned => Step::verification_needed(step, "the model gave no result"),
            None => Step::pending(step),
        });
        let mut plan: Plan = planned.collect();
        let formulated = solving.last_at("solution_formulation").map(Thought::text);
        if let (Some(formulated), Some(answer), Some(last)) =
            (formulated, answered(solving), plan.steps_mut().last_mut())
            && formulated != answer.text
        {
            // Which of the steps went wrong is not said; the last one has what came of it.
            last.status = Status::VerificationNeeded;
            last.mark = Some("the check came to another answer".to_owned());
        }
        Some(plan).filter(|plan| !plan.is_empty())
    }
}

fn texts(description: &str) -> Parameter {
    let items = Box::new(ParameterType::Text { choices: Vec::new() });
    Parameter::new(ParameterType::List { items, min_items: 1 }, description)
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The thoughts that a stage was taken apart into, the first one first.
fn steps_at<'s>(solving: &'s Solving, stage: &'s str) -> impl Iterator<Item = &'s str> {
    let thoughts: Vec<_> = solving.path().filter(|thought| thought.stage().name() == stage).collect();
    thoughts.into_iter().rev().filter(|thought| thought.kind() == ThoughtKind::Stay).map(Thought::text)
}
