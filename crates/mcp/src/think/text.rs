//! Reports as text.

use std::fmt;

use cogwork_strategies::{Parameter, ParameterType};
use cogwork_text::{Name, NameList, OneLine};

use super::change::What;
use super::report::{NextStage, Report};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_what(f)?;
        self.write_place(f)?;
        self.write_next(f)
    }
}

impl Report {
    fn write_what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branch = Name(&self.branch.name);
        match self.what {
            What::Nothing => Ok(()),
            What::Begun => f.write_str("The session has begun. "),
            What::Thought(thought) => write!(f, "Thought {thought} is recorded. "),
            What::Forked(from) => {
                write!(f, "The branch `{branch}` continues from thought {from}. ")
            }
            What::Switched => write!(f, "`{branch}` is the current branch now. "),
            What::Scored => write!(f, "The branch `{branch}` has a new score. "),
            What::Pruned(_) => f.write_str("The branch is pruned. "),
            What::Undone(thought) => write!(f, "Thought {thought} is removed. "),
        }
    }

    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branch = &self.branch;
        let name = Name(&branch.name);
        let stage = Name(&self.stage);
        let strategy = Name(&self.strategy);

        match &self.session {
            Some(session) => write!(f, "Session `{session}`, ")?,
            None => f.write_str("No session has begun; ")?,
        }
        write!(f, "branch `{name}` ({}", branch.status)?;
        if !branch.is_current {
            f.write_str(", not the current one")?;
        }
        if let Some(score) = branch.score {
            write!(f, ", score {score}")?;
        }
        write!(f, "), stage `{stage}` of `{strategy}`, ")?;

        match self.thought {
            None => f.write_str("no thoughts yet.")?,
            Some(_) if branch.thoughts == 0 => f.write_str("no thoughts of its own yet.")?,
            Some(_) => {
                let thoughts = branch.thoughts;
                let total = branch.total_thoughts;
                write!(f, "thought {thoughts} of about {total}.")?;
            }
        }

        if !self.other_branches.is_empty() {
            let others = NameList::and(self.other_branches.iter());
            write!(f, " Other open branches: {others}.")?;
        }
        Ok(())
    }

    fn write_next(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next[..] {
            [] => return f.write_str("\nNothing follows on this branch."),
            [_] => f.write_str("\nNext stage:")?,
            _ => f.write_str("\nNext, one of these stages:")?,
        }

        for next in &self.next {
            write!(f, "\n- {next}")?;
        }
        if self.may_stay {
            let stage = Name(&self.stage);
            write!(f, "\nA thought without a stage stays in `{stage}`.")?;
        }
        Ok(())
    }
}

impl fmt::Display for NextStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = Name(&self.stage);
        let prompt = OneLine::new(&self.prompt);
        write!(f, "`{stage}`: {prompt}")?;

        if self.is_final {
            f.write_str(" (final)")?;
        }
        for (name, parameter) in &self.parameters {
            let description = OneLine::new(parameter.description());
            let is_needed = if parameter.is_required() {
                "needs"
            } else {
                "may have"
            };
            let name = Name(name);
            let accepts = Accepts(parameter.kind());
            write!(f, "\n  {is_needed} `{name}`: {accepts}. {description}")?;
        }
        Ok(())
    }
}

/// What a parameter accepts, with everything inside it.
struct Accepts<'a>(&'a ParameterType);

impl fmt::Display for Accepts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ParameterType::List { items, .. } => {
                write!(f, "{}; each item is {}", self.0, Accepts(items))
            }
            ParameterType::Map { values } => {
                write!(
                    f,
                    "{} with any names; each value is {}",
                    self.0,
                    Accepts(values)
                )
            }
            ParameterType::Object { fields } => {
                f.write_str("an object with ")?;
                for (index, field) in fields.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", Field(field))?;
                }
                Ok(())
            }
            other => other.fmt(f),
        }
    }
}

struct Field<'a>((&'a String, &'a Parameter));

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, parameter) = self.0;
        let name = Name(name);
        let accepts = Accepts(parameter.kind());
        let optional = if parameter.is_required() {
            ""
        } else {
            "optional, "
        };
        write!(f, "`{name}` ({optional}{accepts})")
    }
}
