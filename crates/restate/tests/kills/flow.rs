//! A flow with everything that a flow can have: a loop, a batch, a flow for each item, branches,
//! subflows, waits, sleeps, and calls inside a step.

use std::time::Duration;

use cogwork_flow::engine::{recorded, scoped_event, wait_for};
use cogwork_flow::{
    Action, Batch, BoxError, Branches, BuildError, Each, Flow, Node, Wait, from_exec, from_fn,
    from_phases,
};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::witness::{Call, Made, Witness};

/// The answer to each event. It is always the same, so that all runs end in the same way.
pub(crate) const ANSWER: u64 = 7;

/// How long sleeps are, and a wait that nobody answers.
pub(crate) const SHORT: Duration = Duration::from_millis(15);

const CHAPTERS: u64 = 3;
const FACTS: u64 = 4;
const EDITIONS: u32 = 2;
const AGAIN: Action = Action::from_static("again");

/// The state of a run.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Story {
    /// Depends on all outcomes and answers so far.
    pub(crate) number: u64,
    turns: u32,
    editions: u32,
    /// The outcomes so far.
    pub(crate) used: Vec<Made>,
}

impl Story {
    fn call(&mut self) -> Call {
        self.part(0)
    }

    /// Returns the call for one of several parts that are made at the same time.
    fn part(&self, index: u64) -> Call {
        Call {
            number: self.number.wrapping_add(index),
            after: self.used.last().map(|made| made.made),
        }
    }

    fn add(&mut self, made: Made) {
        self.hear(made.number);
        self.used.push(made);
    }

    fn add_all(&mut self, made: Vec<Made>) {
        made.into_iter().for_each(|made| self.add(made));
    }

    fn hear(&mut self, answer: u64) {
        self.number = self.number.rotate_left(1).wrapping_add(answer);
    }

    /// Returns the story for one of several flows that run at the same time. It begins with the last
    /// outcome, and the others stay in the whole story.
    fn excerpt(&self, index: u64) -> Self {
        Self {
            number: self.number.wrapping_add(index),
            used: self.used.last().cloned().into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a story that began as an excerpt.
    fn merge(&mut self, excerpt: Self) {
        self.hear(excerpt.number);
        self.used.extend(excerpt.used.into_iter().skip(1));
    }

    fn next_turn(&mut self) -> Action {
        self.turns += 1;
        match self.turns % 3 {
            0 => Action::DEFAULT,
            _ => AGAIN,
        }
    }

    fn next_edition(&mut self) -> Action {
        self.editions += 1;
        match self.editions {
            EDITIONS => Action::DEFAULT,
            _ => AGAIN,
        }
    }
}

/// A node that makes one call.
fn calls(witness: &Witness) -> impl Node<Story> + use<> {
    calls_then(witness, &[Action::DEFAULT], |_| Action::DEFAULT)
}

fn calls_then(
    witness: &Witness,
    actions: &[Action],
    next: fn(&mut Story) -> Action,
) -> impl Node<Story> + use<> {
    let witness = witness.clone();
    let node = from_phases(
        Story::call,
        move |call| witness.clone().make(call),
        move |story: &mut Story, made| {
            story.add(made);
            next(story)
        },
    );
    node.with_actions(actions.iter().cloned())
}

pub(crate) fn flow(witness: &Witness) -> Result<Flow<Story>, BuildError> {
    let edition = from_fn(Story::next_edition).with_actions([AGAIN, Action::DEFAULT]);

    Flow::builder("story")
        .start("title")
        .subflow("title", turns(witness)?, |story: &mut Story| story)
        .batch("facts", facts(witness))
        .each("chapters", chapters(witness)?)
        .branches("reviews", reviews(witness)?)
        .node("compose", Compose(witness.clone()))
        .wait("approve", asks("approval"))
        .node("print", calls(witness))
        .node("edition", edition)
        .edge("title", Action::DEFAULT, "facts")
        .edge("facts", Action::DEFAULT, "chapters")
        .edge("chapters", Action::DEFAULT, "reviews")
        .edge("reviews", Action::DEFAULT, "compose")
        .edge("compose", Action::DEFAULT, "approve")
        .edge("approve", Action::DEFAULT, "print")
        .edge("print", Action::DEFAULT, "edition")
        .edge("edition", AGAIN, "title")
        .end("edition", Action::DEFAULT)
        .build()
}

/// A loop.
fn turns(witness: &Witness) -> Result<Flow<Story>, BuildError> {
    let turn = calls_then(witness, &[AGAIN, Action::DEFAULT], Story::next_turn);
    Flow::builder("turns")
        .start("turn")
        .node("turn", turn)
        .edge("turn", AGAIN, "turn")
        .end("turn", Action::DEFAULT)
        .build()
}

/// A batch of calls.
fn facts(witness: &Witness) -> Batch<Story, Call, impl Node<Call, Exec = Made> + use<>> {
    let witness = witness.clone();
    let check = from_exec(move |call| witness.clone().make(call));
    let split = |story: &Story| {
        (0..FACTS)
            .map(|index| story.part(index))
            .collect::<Vec<_>>()
    };
    Batch::at_most(2, check, split, Story::add_all)
}

/// A flow for each item, which calls, waits and sleeps.
fn chapters(witness: &Witness) -> Result<Each<Story, Story>, BuildError> {
    let chapter = Flow::builder("chapter")
        .node("draft", calls(witness))
        .wait("review", asks("review"))
        .sleep("rest", |_: &Story| SHORT)
        .node("revise", calls(witness))
        .chain(["draft", "review", "rest", "revise"])
        .build()?;

    let split = |story: &Story| {
        let chapters = (0..CHAPTERS).map(|index| story.excerpt(index));
        chapters.collect::<Vec<_>>()
    };
    let join = |story: &mut Story, chapters: Vec<Story>| {
        chapters
            .into_iter()
            .for_each(|chapter| story.merge(chapter));
    };
    Ok(Each::at_most(2, chapter, split, join))
}

fn reviews(witness: &Witness) -> Result<Branches<Story>, BuildError> {
    // Nobody answers, so the wait times out.
    let silence = asks("silence").with_timeout(SHORT);
    let critic = Flow::builder("critic")
        .node("read", calls(witness))
        .wait("listen", silence)
        .node("judge", calls(witness))
        .chain(["read", "listen", "judge"])
        .edge("listen", Action::TIMED_OUT, "judge")
        .build()?;

    Ok(Branches::new()
        .branch(
            "reader",
            turns(witness)?,
            |story: &Story| story.excerpt(0),
            Story::merge,
        )
        .branch("critic", critic, |story| story.excerpt(1), Story::merge))
}

fn asks(event: &str) -> Wait<Story> {
    Wait::for_event(event, Story::hear).with_schema(json!({"type": "integer"}))
}

/// A step with several recorded calls, some of them at the same time, and a wait in between.
struct Compose(Witness);

impl Compose {
    async fn make(&self, label: &str, call: Call) -> Result<Made, BoxError> {
        let made = recorded(label, || self.0.clone().make(call)).await?;
        Ok(made)
    }
}

impl Node<Story> for Compose {
    type Prep = Call;
    type Exec = Vec<Made>;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, story: &mut Story) -> Result<Call, BoxError> {
        Ok(story.call())
    }

    async fn exec(&self, call: &Call) -> Result<Vec<Made>, BoxError> {
        let outline = self.make("outline", call.clone()).await?;

        let sections = (0..3).map(|index| self.make("section", outline.followed_by(index)));
        let mut all = try_join_all(sections).await?;

        let event = scoped_event("ending");
        let answer = wait_for::<u64>(&event, "how it ends", None, None).await?;
        let ending = outline.followed_by(answer.unwrap_or_default());
        let ending = self.make("ending", ending).await?;

        all.extend([outline, ending]);
        Ok(all)
    }

    fn post(&self, story: &mut Story, _: Call, made: Vec<Made>) -> Result<Action, BoxError> {
        story.add_all(made);
        Ok(Action::DEFAULT)
    }
}
