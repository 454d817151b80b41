use std::collections::BTreeSet;

use cogwork_tools::Tools;

use super::answer::{answer_text, no_answer_at};
use super::{Ask, Solving, StageReply};
use crate::session::REVISES;
use crate::{Stage, Strategy};

/// The context of one turn, which is a visit to a stage. It is passed to a
/// [`Driver`](super::Driver).
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
    /// Whether the client supports tools. Otherwise, the tools have to be described in the text for
    /// the model.
    pub native_tools: bool,
}

impl StageTurn<'_> {
    /// Returns whether this is the first thought of the run.
    pub(super) fn is_start(&self) -> bool {
        self.solving.session().thoughts().is_empty()
    }

    /// Returns the default question of the stage: its prompt, its parameters, and the choice of the
    /// next stage. In a final stage, the model is asked again if the reply [isn't an
    /// answer](cogwork_typed::ask::no_answer).
    pub fn ask(&self) -> Ask {
        let question = Ask::new(self.solving.transcript().clone(), self.stage.prompt())
            .with_fields(self.stage.parameters())
            .with_next(self.strategy.next(self.stage))
            .with_check(self.fits_session());

        if self.stage.is_final() {
            question.with_check(self.has_answer())
        } else {
            question
        }
    }

    /// Returns a check that a reply in a final stage has an answer.
    fn has_answer(&self) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let stage = self.stage.clone();
        let problem = self.solving.problem().to_owned();

        move |reply| {
            let fields = reply.fields.iter();
            let fields = fields.map(|(name, value)| (name.as_str(), value));
            let text = answer_text(&reply.text, fields);

            match no_answer_at(&stage, &text, &problem) {
                Some(reason) => Err(format!("the reply {reason}")),
                None => Ok(()),
            }
        }
    }

    /// Returns a check that the session will accept the reply: every thought that it refers to
    /// exists, and no value is nested too deeply.
    fn fits_session(&self) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
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
                let Some(parameter) = parameters.get(name) else {
                    continue;
                };
                if let Some(fault) = parameter.kind().faults(name, value).first() {
                    return Err(fault.to_string());
                }

                let mut named = Vec::new();
                parameter.kind().thoughts(value, &mut named);
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
