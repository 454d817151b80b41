mod questions;

use self::questions::{BRANCH, CONCLUDE, Needed, REVISE, THINK_MORE};
use super::answering::{ask_for_answer, or};
use crate::{
    Answer, Method, Solve, StageReply, Stop, Strategy, StrategyName, Thought, ThoughtDraft,
    ThoughtId,
};

/// Thinks one thought after the other, with evaluations, revisions and branches, and ends with a
/// verified hypothesis.
///
/// Every question includes the number of the next thought, so that the model can refer to earlier
/// ones. A revision replaces a thought in the session. A branch is a branch of the session, on
/// which the run continues. If the model names a thought that isn't on the path, or uses the name
/// of an existing branch, it is asked again. A hypothesis that doesn't hold leads back to
/// `continuation_decision`.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `initial_thought_planning` | the model: the approach, and how many thoughts it will take |
/// | `thought_generation` | the model |
/// | `thought_evaluation` | the model: an evaluation, and how to continue |
/// | `thought_revision` | the model |
/// | `continuation_decision` | the method: the choice in the evaluation; otherwise, the model |
/// | `thought_adjustment` | the method: how many more thoughts the model expects |
/// | `branch_creation` | the model |
/// | `hypothesis_generation`, `hypothesis_verification` | the model |
/// | `solution_finalization` | the model: the solution, with the answer |
/// | `final_response` | the method: the answer |
///
/// A branch starts at the thought that the model named. If the table doesn't allow
/// `thought_generation` from there, it starts at the next thought from which that is allowed, so
/// that the evaluation of the named thought is kept. The best answer so far is the last hypothesis
/// on the branch, even if it didn't hold.
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
}

/// The maximum number of branches.
const MAX_BRANCHES: usize = 10;

impl Default for Linear {
    fn default() -> Self {
        Self { max_thoughts: 30 }
    }
}

impl Linear {
    /// Creates a method with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of generated thoughts and hypotheses, which is at least 1. Once it
    /// is reached, the model is asked for a last hypothesis, and the run gives up if that
    /// hypothesis doesn't hold. The default is 30.
    #[must_use]
    pub fn with_max_thoughts(mut self, thoughts: usize) -> Self {
        self.max_thoughts = thoughts.max(1);
        self
    }
}

impl Method for Linear {
    fn strategy(&self) -> Strategy {
        StrategyName::Linear.strategy()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;
        plan(cx)?;

        loop {
            generate(cx)?;
            let mut choice = self.evaluate(cx)?;

            while choice.way == CONCLUDE {
                if hypothesis_holds(cx)? {
                    return finalize(cx);
                }
                if self.is_over(cx) {
                    return Err(Stop::give_up(format!(
                        "after {} thoughts the hypothesis does not hold",
                        generated(cx)
                    )));
                }
                choice = self.decide(cx)?;
            }

            if choice.way == BRANCH {
                branch(cx)?;
            } else {
                adjust(cx, choice.needed)?;
            }
        }
    }
}

/// How the model wants to continue.
struct Choice {
    /// The next stage.
    way: String,
    /// How many more thoughts it expects to need.
    needed: Option<u32>,
}

impl Choice {
    fn read(reply: StageReply) -> Self {
        let needed = reply.value().ok();
        Self {
            needed: needed.and_then(|Needed { thoughts_needed }| thoughts_needed),
            way: reply.next.unwrap_or_else(|| CONCLUDE.to_owned()),
        }
    }
}

impl Linear {
    /// Returns whether the maximum number of thoughts is reached.
    fn is_over(&self, cx: &Solve) -> bool {
        generated(cx) >= self.max_thoughts
    }

    /// Returns the ways to continue.
    fn ways(&self, cx: &Solve) -> Vec<&'static str> {
        if self.is_over(cx) {
            return vec![CONCLUDE];
        }

        if cx.session().branches().len() > MAX_BRANCHES {
            return vec![THINK_MORE, CONCLUDE];
        }

        vec![THINK_MORE, BRANCH, CONCLUDE]
    }

    /// Asks for an evaluation of the last thought, and how to continue. A wrong thought is revised
    /// first.
    fn evaluate(&self, cx: &mut Solve) -> Result<Choice, Stop> {
        let stage = "thought_evaluation";
        let mut ways = self.ways(cx);
        ways.push(REVISE);

        let reply = cx.ask(stage, questions::choice(cx, stage, &ways)?)?;
        cx.think(stage, or(&reply.text, "Judged."))?;
        let choice = Choice::read(reply);
        if choice.way == REVISE {
            revise(cx)?;
            return self.decide(cx);
        }

        think_decision(cx, &choice.way)?;
        Ok(choice)
    }

    /// Asks how to continue, unless there is only one way.
    fn decide(&self, cx: &mut Solve) -> Result<Choice, Stop> {
        let ways = self.ways(cx);
        if let [way] = ways.as_slice() {
            think_decision(cx, way)?;
            return Ok(Choice {
                way: (*way).to_owned(),
                needed: None,
            });
        }

        let stage = "continuation_decision";
        let reply = cx.ask(stage, questions::choice(cx, stage, &ways)?)?;
        cx.think(stage, or(&reply.text, "Decided."))?;
        Ok(Choice::read(reply))
    }
}

fn think_decision(cx: &mut Solve, way: &str) -> Result<(), Stop> {
    cx.think("continuation_decision", format!("Next: {way}."))?;
    Ok(())
}

/// Returns the number of generated thoughts and hypotheses.
fn generated(cx: &Solve) -> usize {
    let thoughts = cx.session().thoughts().iter();
    let is_generated = |thought: &&Thought| {
        ["thought_generation", "hypothesis_generation"].contains(&thought.stage())
    };
    thoughts.filter(is_generated).count()
}

/// Asks for the approach, and how many thoughts it will take.
fn plan(cx: &mut Solve) -> Result<(), Stop> {
    let stage = "initial_thought_planning";
    let outline = cx.ask(stage, questions::outline(cx, stage)?)?;

    let thought = ThoughtDraft::at(stage, or(&outline.thought, "The way is open."));
    let thought = with_total(cx, thought, Some(outline.thoughts_needed));
    cx.add(thought)?;
    Ok(())
}

fn generate(cx: &mut Solve) -> Result<(), Stop> {
    let stage = "thought_generation";
    let thought = cx.ask(stage, questions::thought(cx, stage)?)?.text;
    cx.think(stage, &*thought)?;
    cx.progress(thought)
}

/// Asks for a better version of an earlier thought.
fn revise(cx: &mut Solve) -> Result<(), Stop> {
    let stage = REVISE;
    let reply = cx.ask(stage, questions::revision(cx, stage)?)?;
    let text = or(&reply.text, "Revised.");
    cx.add(reply.draft(stage, text))?;
    cx.progress(text)
}

/// Adds the thought with the number of thoughts that the model expects.
fn adjust(cx: &mut Solve, needed: Option<u32>) -> Result<(), Stop> {
    let text = match needed {
        Some(needed) => format!("About {needed} more thoughts are needed."),
        None => "More thoughts are needed.".to_owned(),
    };
    let thought = with_total(cx, ThoughtDraft::at(THINK_MORE, text), needed);
    cx.add(thought.needs_more_thoughts())?;
    Ok(())
}

/// Sets the expected number of thoughts on the current branch, which never decreases.
fn with_total(cx: &Solve, thought: ThoughtDraft, needed: Option<u32>) -> ThoughtDraft {
    let Ok(branch) = cx.session().branch(cx.session().current()) else {
        return thought;
    };

    let so_far = u32::try_from(branch.thoughts().len()).unwrap_or(u32::MAX);
    let expected = so_far
        .saturating_add(1)
        .saturating_add(needed.unwrap_or_default());
    thought.with_total_thoughts(expected.max(branch.total_thoughts()))
}

/// Asks for a branch, adds the thought that opens it, and continues on it.
fn branch(cx: &mut Solve) -> Result<(), Stop> {
    let stage = BRANCH;
    let reply = cx.ask(stage, questions::branch(cx, stage)?)?;
    let name = reply.field(questions::NAME);
    cx.add(reply.draft(stage, or(&reply.text, name)))?;

    let named = questions::number(&reply, questions::FROM).unwrap_or_default();
    let leads_on = |thought: &&Thought| {
        let mut next = cx.session().stage_of(thought).next_names().iter();
        let may_follow = next.any(|next| next == "thought_generation");
        may_follow && u64::from(thought.id().get()) >= named
    };

    // The path starts with the last thought, so this is the first one after the named one. There is
    // always one, since the thought that opens the branch qualifies.
    let from: Option<ThoughtId> = cx.path().filter(leads_on).last().map(Thought::id);
    if let Some(from) = from {
        let branch = cx.session_mut().fork(from, name)?;
        cx.session_mut().switch(branch)?;
    }
    Ok(())
}

/// Asks for a hypothesis and for its test. Returns whether it holds.
fn hypothesis_holds(cx: &mut Solve) -> Result<bool, Stop> {
    let stage = CONCLUDE;
    let reply = cx.ask(stage, questions::parameters(cx, stage)?)?;
    let hypothesis = reply.field("hypothesis");
    cx.add(reply.draft(stage, or(&reply.text, hypothesis)))?;
    cx.keep_guess(hypothesis);
    cx.progress(hypothesis)?;

    let stage = "hypothesis_verification";
    let reply = cx.ask(stage, questions::parameters(cx, stage)?)?;
    cx.add(reply.draft(stage, or(&reply.text, reply.field("verification"))))?;
    Ok(reply.is_true("holds"))
}

fn finalize(cx: &mut Solve) -> Result<Answer, Stop> {
    let stage = "solution_finalization";
    let question = questions::prompt(cx, stage)?;
    let answer = ask_for_answer(cx, stage, &question)?;
    cx.think("final_response", &*answer)?;
    Ok(answer.into())
}
