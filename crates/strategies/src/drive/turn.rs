use std::collections::BTreeSet;

use cogwork_tools::Tools;

use super::{Ask, Solving, StageReply};
use crate::session::REVISES;
use crate::{Stage, Strategy};

/// One turn, which is a visit to a stage, as a [`Driver`](super::Driver) sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StageTurn<'a> {
    /// The state of the run.
    pub solving: &'a Solving,
    /// The stage.
    pub stage: &'a Stage,
    /// The strategy.
    pub strategy: &'a Strategy,
    /// The tools.
    pub tools: &'a Tools,
    /// Whether the client supports tools. Otherwise, the model needs a description of them in the
    /// text.
    pub native_tools: bool,
}

impl StageTurn<'_> {
    /// Returns whether this is the first thought of the run.
    pub(super) fn is_start(&self) -> bool {
        self.solving.session().thoughts().is_empty()
    }

    /// Returns the default question of the stage: its prompt, its parameters, and which stage comes
    /// next.
    pub fn ask(&self) -> Ask {
        Ask::new(self.solving.transcript().clone(), self.stage.prompt())
            .with_fields(self.stage.parameters())
            .with_next(self.strategy.next(self.stage))
            .with_check(self.names_thoughts())
    }

    /// Returns a check that the thoughts a reply names exist, since the session would refuse it
    /// otherwise.
    fn names_thoughts(&self) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let parameters = self.stage.parameters().clone();
        let thoughts = self.solving.session().thoughts().len();
        let path = if parameters.contains_key(REVISES) {
            let path = self.solving.path();
            path.map(|thought| thought.id().get()).collect()
        } else {
            BTreeSet::new()
        };

        move |reply| {
            for (name, value) in &reply.fields {
                let mut named = Vec::new();
                if let Some(parameter) = parameters.get(name) {
                    parameter.kind().thoughts(value, &mut named);
                }

                for number in named {
                    check_thought(name, number, thoughts, &path)?;
                }
            }

            Ok(())
        }
    }
}

/// Checks that a thought exists and, if it is revised, that it is on the path.
fn check_thought(
    name: &str,
    number: u32,
    thoughts: usize,
    path: &BTreeSet<u32>,
) -> Result<(), String> {
    let exists = usize::try_from(number).is_ok_and(|number| (1..=thoughts).contains(&number));
    if !exists {
        return Err(format!(
            "`{name}` is {number}, expected a number from 1 to {thoughts}"
        ));
    }

    if name == REVISES && !path.contains(&number) {
        return Err(format!(
            "`{name}` is {number}, expected a thought of the branch"
        ));
    }

    Ok(())
}
