mod approach;
mod branches;
mod names;
mod questions;
mod selection;
mod settings;
mod stages;
mod tree;
mod way;

pub use settings::{Search, TreeOfThoughts, Worth};

use cogwork_tools::Tools;

use self::names::TreeStage;
use self::tree::Tree;
use super::answering::{answer_if_any, answered, conclude_unless, say_answer, take_answer};
use super::stage_names::StageName;
use crate::{
    Answer, Ask, Done, Driver, Next, SolveError, Solving, Stage, StageTurn, StageWork, Strategy,
    StrategyName, Thought,
};

impl Driver for TreeOfThoughts {
    fn strategy(&self) -> Strategy {
        StrategyName::TreeOfThoughts.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is \
         followed. Each message asks for one part of that work. Do what it asks and nothing else."
            .to_owned()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;
        let tree = Tree::new(self, solving);

        Ok(match TreeStage::of(turn.stage.name())? {
            TreeStage::ProblemReception => StageWork::say(solving.problem()),
            TreeStage::ApproachExploration => self.ask_for_approaches(turn),
            TreeStage::BranchCreation => StageWork::say(tree.to_open_ids().join(", ")),
            TreeStage::BranchDevelopment => self.ask_for_steps(turn, &tree),
            TreeStage::BranchEvaluation => self.ask_for_scores(turn, &tree),
            // The thoughts of the selection are created from the tree.
            TreeStage::BranchSelection => StageWork::say(""),
            TreeStage::ContinuationDecision => StageWork::say(tree.way().to_string()),
            TreeStage::SolutionFormulation => StageWork::Ask(questions::solution(turn, &tree)),
            TreeStage::PathJustification => StageWork::say(tree.justification()),
            TreeStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);

        match TreeStage::of(stage.name())? {
            TreeStage::ApproachExploration => self.explore(solving, stage, &done)?,
            TreeStage::BranchCreation => self.create(solving, stage)?,
            TreeStage::BranchDevelopment => self.develop(solving, stage, done)?,
            TreeStage::BranchEvaluation => self.evaluate(solving, stage, done)?,
            TreeStage::BranchSelection => self.select(solving, stage)?,
            TreeStage::ContinuationDecision => return self.decide(solving, stage),
            TreeStage::SolutionFormulation => {
                let thought = take_answer(solving, stage, &done);
                solving.think(thought)?;
            }
            TreeStage::ProblemReception
            | TreeStage::PathJustification
            | TreeStage::FinalResponse => stages::think_if_said(solving, stage, &done)?,
        }

        Ok(next)
    }

    /// Returns the answer, or the steps of the branch with the highest score until there is one.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let steps = || Tree::new(self, solving).best_steps();
        answered(solving).or_else(|| answer_if_any(solving, &steps()?))
    }

    fn conclude(&self, solving: &Solving) -> Option<Ask> {
        conclude_unless(answered(solving).is_some(), solving)
    }

    /// Returns `None`, since a tree always ends: its depth is limited, and repeated steps are
    /// ignored.
    fn progress(&self, _thought: &Thought) -> Option<String> {
        None
    }
}
