use std::collections::BTreeSet;

use cogwork_tools::Tools;

use super::{Ask, Solving, StageReply};
use crate::session::REVISES;
use crate::{Stage, Strategy};

/// One pass through a stage, as a [`Driver`] sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StageTurn<'a> {
    /// The run so far.
    pub solving: &'a Solving,
    /// The stage that is to be thought in.
    pub stage: &'a Stage,
    /// Its strategy.
    pub strategy: &'a Strategy,
    /// The tools there are.
    pub tools: &'a Tools,
    /// Whether the client takes tools itself. Else the model is told of them in text.
    pub native_tools: bool,
}

impl StageTurn<'_> {
    /// Whether this is the first thought of the run.
    pub fn is_start(&self) -> bool {
        self.solving.session().thoughts().is_empty()
    }

    /// The question that a stage asks by itself: its prompt, its parameters, and which stage is next.
    pub fn ask(&self) -> Ask {
        self.ask_for(self.stage.prompt())
    }

    /// The same with another text in the place of the prompt.
    pub fn ask_for(&self, instruction: impl Into<String>) -> Ask {
        let parameters = self.stage.parameters().iter();
        Ask::new(self.solving.transcript().clone(), instruction)
            .with_fields(parameters.map(|(name, parameter)| (name.clone(), parameter.clone())))
            .with_next(self.strategy.next(self.stage))
            .with_check(self.names_thoughts())
    }

    /// Whether the thoughts that a reply names are there: the session would refuse it else.
    fn names_thoughts(&self) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let kinds = self.stage.parameters().clone();
        let thoughts = self.solving.session().thoughts().len();
        let path: BTreeSet<u32> = match kinds.contains_key(REVISES) {
            true => self
                .solving
                .path()
                .map(|thought| thought.id().get())
                .collect(),
            false => BTreeSet::new(),
        };

        move |reply| {
            for (name, value) in &reply.fields {
                let mut named = Vec::new();
                kinds
                    .get(name)
                    .into_iter()
                    .for_each(|parameter| parameter.kind().thoughts(value, &mut named));
                for number in named {
                    if usize::try_from(number)
                        .map_or(true, |number| number == 0 || number > thoughts)
                    {
                        return Err(format!(
                            "`{name}` is {number}, expected a number from 1 to {thoughts}"
                        ));
                    } else if name == REVISES && !path.contains(&number) {
                        return Err(format!(
                            "`{name}` is {number}, expected a thought of the branch"
                        ));
                    }
                }
            }

            Ok(())
        }
    }
}
