mod approach;
mod questions;
mod settings;
mod tree;

pub use settings::{Search, TreeOfThoughts, Worth};

use cogwork_tools::Tools;

use self::tree::{Tree, Way};
use super::answering::{ShortAnswer, or};
use crate::{Answer, Method, Solve, Stop, Strategy, StrategyName};

/// The parameter with the approaches.
const APPROACHES: &str = "approaches";

/// The parameter with the name of a branch's approach.
const APPROACH: &str = "approach_id";

/// The field and the parameter with the score of a branch.
const SCORE: &str = "evaluation_score";

impl Method for TreeOfThoughts {
    fn strategy(&self) -> Strategy {
        StrategyName::TreeOfThoughts.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is \
         followed. Each message asks for one part of that work. Do what it asks and nothing else."
            .to_owned()
    }

    // A tree always ends: its depth is limited, and repeated steps are ignored.
    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        let mut tree = Tree::explore(self, cx)?;
        tree.open(cx)?;
        loop {
            tree.develop(cx)?;
            tree.evaluate(cx)?;
            tree.select(cx)?;

            match tree.decide(cx)? {
                (Way::Develop, _) => {}
                (Way::Open, _) => tree.open(cx)?,
                (Way::Formulate, _) => break,
                (Way::Exhausted, why) => return Err(Stop::give_up(why)),
            }
        }

        let stage = "solution_formulation";
        let question = questions::solution(tree.steps(cx)?, cx.problem());
        let reply = cx.ask(stage, question)?;
        let ShortAnswer { thought, answer } = reply.value().map_err(Stop::fail)?;
        cx.keep(&*answer);
        cx.think(stage, or(&thought, &answer))?;
        cx.think("path_justification", tree.justification(cx)?)?;
        cx.think("final_response", &*answer)?;
        Ok(answer.into())
    }
}
