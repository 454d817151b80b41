use serde_json::Value;

use super::answering::{ANSWER, answer_field, answered, draft, keep_answer, say_answer};
use crate::quote::Name;
use crate::{
    Answer, Ask, Done, Draft, Driver, Next, Parameter, ParameterType, Reply, SolveError, Solving, Stage,
    Strategy, StrategyName, Thought, ThoughtId, Turn, Work,
};

/// Think one thought after another; judge, revise and branch, and end with a hypothesis that was verified.
///
/// Every question says the number of the thought that it asks for, so that the model can name earlier ones.
/// A revision takes the place of one in the session, and a branch is one of the session, on which the run
/// goes on. A number that is not on the path, and the name of a branch that there is already, are asked for
/// again with the complaint. A hypothesis that does not hold leads back to `continuation_decision`.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `initial_thought_planning` | the model: the way, and how many thoughts it will take |
/// | `thought_generation` | the model |
/// | `thought_evaluation` | the model: a judgement, and how to go on |
/// | `thought_revision` | the model |
/// | `continuation_decision` | the program: what the model chose when it judged; else the model |
/// | `thought_adjustment` | the program: how many thoughts the model says it still needs |
/// | `branch_creation` | the model |
/// | `hypothesis_generation`, `hypothesis_verification` | the model |
/// | `solution_finalization` | the model: the solution, with the answer |
/// | `final_response` | the program: the answer |
///
/// A branch goes on from the thought that the model named, or from the first one behind it after which the
/// table lets a thought be generated, so that its judgement goes along. The best answer so far is the newest hypothesis of the branch, also
/// when it did not hold.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Linear, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "thought: Tens and ones.\nthoughts_needed: 4",
///     "30 and 21 make 51.",
///     "thought: Right.\nnext: hypothesis_generation",
///     "hypothesis: 51",
///     "verification: 51 / 3 = 17.\nholds: yes",
///     "thought: 17 * 3 = 30 + 21 = 51.\nanswer: 51",
/// ]);
/// let solved = Solver::new(client, Linear::new()).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    max_thoughts: usize,
    max_branches: usize,
}

impl Default for Linear {
    fn default() -> Self {
        Self { max_thoughts: 30, max_branches: 10 }
    }
}

impl Linear {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many thoughts and hypotheses may be generated. Then a last hypothesis is put forward, and when
    /// that does not hold the run is given up. Default: 30; at least 1.
    #[must_use]
    pub fn with_max_thoughts(mut self, thoughts: usize) -> Self {
        self.max_thoughts = thoughts.max(1);
        self
    }

    /// How many branches may be opened. Default: 10; at most 500.
    #[must_use]
    pub fn with_max_branches(mut self, branches: usize) -> Self {
        self.max_branches = branches.min(500);
        self
    }
}

/// How many thoughts the model says it still needs: the field that asks for it, and the note until it is
/// used.
const NEEDED: &str = "thoughts_needed";
/// How the model goes on, from its judgement to the stage of that decision.
const DECISION: &str = "decision";
const REVISES: &str = "revises_thought";
const FROM: &str = "branch_from_thought";
const BRANCH: &str = "branch_id";
const HYPOTHESIS: &str = "hypothesis";
const HOLDS: &str = "holds";

/// Earlier thoughts that a question names; what is older is known from the conversation.
const NAMED: usize = 50;

impl Driver for Linear {
    fn strategy(&self) -> Strategy {
        StrategyName::Linear.strategy()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let number = solving.session().thoughts().len() + 1;
        let ask_with = |before: &str, after: &str| {
            let question = format!("{before}This is thought {number}. {}{after}", turn.stage.prompt());
            Ask::new(solving.transcript().clone(), question)
        };
        let ask = |before: &str| ask_with(before, "");
        let own = |ask: Ask| {
            let parameters = turn.stage.parameters().iter();
            ask.with_fields(parameters.map(|(name, parameter)| (name.clone(), parameter.clone())))
        };
        Ok(match turn.stage.name() {
            "problem_reception" => Work::say(solving.problem()),
            "initial_thought_planning" => Work::Ask(ask("").with_field(NEEDED, needed(true))),
            "thought_generation" => Work::Ask(ask(&on_new_branch(solving))),
            "thought_evaluation" => {
                let mut next = self.choices(turn);
                next.extend(turn.strategy.stage("thought_revision"));
                Work::Ask(ask_with("", &ways(&next)).with_field(NEEDED, needed(false)).with_next(next))
            }
            "thought_revision" => {
                let known = revisable(solving);
                let ask = own(ask_with("", &can_name(&known)));
                Work::Ask(ask.with_check(move |reply| among(reply, REVISES, &known)))
            }
            "continuation_decision" => match (decision(solving), self.choices(turn).as_slice()) {
                (Some(decision), _) => Work::say(format!("Next: {decision}.")),
                (None, [only]) => Work::say(format!("Next: {}.", only.name())),
                (None, several) => {
                    let ask = ask_with("", &ways(several)).with_field(NEEDED, needed(false));
                    Work::Ask(ask.with_next(several.iter().copied()))
                }
            },
            "thought_adjustment" => Work::say(match solving.note(NEEDED).and_then(Value::as_u64) {
                Some(needed) => format!("About {needed} more thoughts are needed."),
                None => "More thoughts are needed.".to_owned(),
            }),
            "branch_creation" => {
                let known: Vec<ThoughtId> = newest(solving.path().map(Thought::id));
                let taken: Vec<String> =
                    solving.session().branches().iter().map(|branch| branch.name().to_owned()).collect();
                let ask = own(ask_with("", &can_name(&known)));
                Work::Ask(ask.with_check(move |reply| {
                    among(reply, FROM, &known)?;
                    free(reply.field(BRANCH), &taken)
                }))
            }
            "hypothesis_generation" | "hypothesis_verification" => Work::Ask(own(ask(""))),
            "solution_finalization" => Work::Ask(ask("").with_field(ANSWER, answer_field())),
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let mut next = done.next_of(stage);
        let thought = match (done.reply(), stage.name()) {
            (Some(reply), "initial_thought_planning") => {
                planned(solving, draft(stage, &reply.text, "The way is open."), whole(reply, NEEDED))
            }
            (Some(reply), "thought_evaluation") => {
                if next != Next::stage("thought_revision") {
                    keep_decision(solving, reply);
                    next = Next::stage("continuation_decision");
                }
                draft(stage, &reply.text, "Judged.")
            }
            (Some(reply), "continuation_decision") => {
                keep_decision(solving, reply);
                solving.take_note(DECISION);
                draft(stage, &reply.text, "Decided.")
            }
            (None, "continuation_decision") => {
                if let Some(Value::String(decision)) = solving.take_note(DECISION) {
                    next = Next::Stage(decision);
                } else {
                    // The only one that is left once there are as many thoughts as may be.
                    next = Next::stage("hypothesis_generation");
                }
                done.draft_at(stage)
            }
            (None, "thought_adjustment") => {
                let needed = solving.take_note(NEEDED).and_then(|needed| needed.as_u64());
                planned(solving, done.draft_at(stage), needed).needs_more_thoughts()
            }
            (Some(reply), "hypothesis_verification") => {
                let holds = reply.fields.get(HOLDS).and_then(Value::as_bool).unwrap_or_default();
                next = match (holds, self.is_over(solving)) {
                    (true, _) => Next::stage("solution_finalization"),
                    (false, false) => Next::stage("continuation_decision"),
                    (false, true) => Next::GiveUp(format!(
                        "after {} thoughts the hypothesis does not hold",
                        generated(solving)
                    )),
                };
                worded(done.draft_at(stage), reply.field("verification"))
            }
            (Some(reply), "hypothesis_generation") => worded(done.draft_at(stage), reply.field(HYPOTHESIS)),
            (Some(reply), "branch_creation") => worded(done.draft_at(stage), reply.field(BRANCH)),
            (Some(_), "thought_revision") => worded(done.draft_at(stage), "Revised."),
            (Some(reply), "solution_finalization") => {
                keep_answer(solving, reply);
                draft(stage, &reply.text, reply.field(ANSWER))
            }
            _ => done.draft_at(stage),
        };
        solving.think(thought)?;
        if let (Some(reply), "branch_creation") = (done.reply(), stage.name()) {
            open_branch(solving, reply)?;
        }
        Ok(next)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving).or_else(|| {
            let hypothesis = solving.last_at("hypothesis_generation")?.parameter(HYPOTHESIS)?;
            hypothesis.as_str().map(Answer::new)
        })
    }

    /// Thoughts, revisions and hypotheses; a judgement on them may well be the same as the last.
    fn progress(&self, thought: &Thought) -> Option<String> {
        match thought.stage().name() {
            "thought_generation" | "thought_revision" => Some(thought.text().to_owned()),
            "hypothesis_generation" => thought.parameter(HYPOTHESIS).map(Value::to_string),
            _ => None,
        }
    }
}

impl Linear {
    fn is_over(&self, solving: &Solving) -> bool {
        generated(solving) >= self.max_thoughts
    }

    /// The stages among which the model may choose how to go on.
    fn choices<'t>(&self, turn: &Turn<'t>) -> Vec<&'t Stage> {
        let decision = turn.strategy.stage("continuation_decision");
        let may = |stage: &&Stage| match stage.name() {
            "thought_adjustment" => !self.is_over(turn.solving),
            "branch_creation" => {
                !self.is_over(turn.solving) && turn.solving.session().branches().len() <= self.max_branches
            }
            _ => true,
        };
        decision.into_iter().flat_map(|stage| turn.strategy.next(stage)).filter(may).collect()
    }
}

fn generated(solving: &Solving) -> usize {
    let counts =
        |thought: &&Thought| matches!(thought.stage().name(), "thought_generation" | "hypothesis_generation");
    solving.session().thoughts().iter().filter(counts).count()
}

fn needed(required: bool) -> Parameter {
    let kind = ParameterType::Integer { min: Some(1.0), max: Some(1000.0) };
    let parameter = Parameter::new(kind, "how many more thoughts you expect to need");
    if required { parameter } else { parameter.optional() }
}

fn whole(reply: &Reply, field: &str) -> Option<u64> {
    reply.fields.get(field).and_then(Value::as_f64).map(|number| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "fields of whole numbers were held against their range"
        )]
        let number = number as u64;
        number
    })
}

/// With the thoughts that are still needed: the number that is expected rises, and does not fall.
fn planned(solving: &Solving, draft: Draft, needed: Option<u64>) -> Draft {
    let Ok(branch) = solving.session().branch(solving.session().current()) else { return draft };
    let needed = needed.and_then(|needed| u32::try_from(needed).ok()).unwrap_or_default();
    let own = u32::try_from(branch.own().len()).unwrap_or(u32::MAX);
    let total = own.saturating_add(1).saturating_add(needed).max(branch.total_thoughts());
    draft.total_thoughts(total)
}

fn decision(solving: &Solving) -> Option<&str> {
    solving.note(DECISION).and_then(Value::as_str)
}

fn keep_decision(solving: &mut Solving, reply: &Reply) {
    if let Some(next) = &reply.next {
        solving.set_note(DECISION, next.as_str());
    }
    match whole(reply, NEEDED) {
        Some(needed) => solving.set_note(NEEDED, needed),
        None => drop(solving.take_note(NEEDED)),
    }
}

/// A thought whose fields say it all may have no text of its own.
fn worded(draft: Draft, or: &str) -> Draft {
    if draft.thought.is_empty() { Draft { thought: or.to_owned(), ..draft } } else { draft }
}

/// The newest of them, in their order.
fn newest(path: impl Iterator<Item = ThoughtId>) -> Vec<ThoughtId> {
    let mut newest: Vec<_> = path.take(NAMED).collect();
    newest.reverse();
    newest
}

/// The thoughts that can be revised.
fn revisable(solving: &Solving) -> Vec<ThoughtId> {
    let may = |thought: &&Thought| {
        let stage = thought.stage().name();
        matches!(stage, "initial_thought_planning" | "thought_generation" | "thought_revision")
    };
    newest(solving.path().filter(may).map(Thought::id))
}

/// A model counts badly, so it is told which numbers there are.
fn can_name(known: &[ThoughtId]) -> String {
    format!(" Thoughts that you can name: {}.", list(known))
}

fn list(thoughts: &[ThoughtId]) -> String {
    thoughts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn among(reply: &Reply, field: &str, known: &[ThoughtId]) -> Result<(), String> {
    let number = reply.fields.get(field).and_then(Value::as_u64);
    match number {
        Some(number) if known.iter().any(|known| u64::from(known.get()) == number) => Ok(()),
        _ => {
            let found = reply.fields.get(field).map_or_else(String::new, Value::to_string);
            Err(format!("`{field}` is {}, expected one of the thoughts {}", Name(&found), list(known)))
        }
    }
}

fn free(name: &str, taken: &[String]) -> Result<(), String> {
    if taken.iter().any(|taken| taken == name) {
        return Err(format!("`{BRANCH}` is `{}`, expected a name that no branch has yet", Name(name)));
    }
    match name.chars().count() {
        1..=64 if !name.trim().is_empty() => Ok(()),
        _ => Err(format!("`{BRANCH}` is `{}`, expected a name of 1 to 64 characters", Name(name))),
    }
}

/// Forks the session, and goes on there.
fn open_branch(solving: &mut Solving, reply: &Reply) -> Result<(), SolveError> {
    let from = whole(reply, FROM).unwrap_or_default();
    let leads = |thought: &&Thought| {
        let generates = |next: &String| next == "thought_generation";
        u64::from(thought.id().get()) >= from && thought.stage().next_names().iter().any(generates)
    };
    // The path begins with the newest thought, which is the one that opens the branch and leads on.
    let Some(from) = solving.path().filter(leads).last().map(Thought::id) else { return Ok(()) };
    let branch = solving.session_mut().fork(from, reply.field(BRANCH))?;
    Ok(solving.session_mut().switch(branch)?)
}

/// What the model is told of the branch that it was just put on.
fn on_new_branch(solving: &Solving) -> String {
    let session = solving.session();
    let (Ok(branch), Some(last)) = (session.branch(session.current()), session.thoughts().last()) else {
        return String::new();
    };
    let (Some(from), Some(named), true) =
        (branch.forked_from(), last.parameter(FROM), branch.own().is_empty())
    else {
        return String::new();
    };
    let aside = match from == last.id() {
        true => String::new(),
        false => format!(" Thoughts {} to {} are left aside.", from.get().saturating_add(1), last.id()),
    };
    format!("You are on the branch `{}` now, from thought {named} on.{aside}\n\n", Name(branch.name()))
}

/// What each way to go on is for, since a model knows the stages by their names alone.
fn ways(next: &[&Stage]) -> String {
    let way = |stage: &&Stage| match stage.name() {
        "thought_revision" => "thought_revision to put a wrong thought right",
        "thought_adjustment" => "thought_adjustment to think more",
        "branch_creation" => "branch_creation to try another way",
        _ => "hypothesis_generation when you see a solution",
    };
    format!("\nThen go on: {}.", next.iter().map(way).collect::<Vec<_>>().join(", "))
}
