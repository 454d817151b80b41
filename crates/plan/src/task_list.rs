use std::fmt::{self, Write};

use cogwork_text::OneLine;

use crate::text::{indent, said};
use crate::{Plan, Status};

/// A plan as a Markdown task list, without a line break at the end. Markdown in texts is escaped.
/// Boxes of steps that are done are checked; steps that need verification are unchecked and marked.
/// Created by [`Plan::task_list`].
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::done("2 * 3", "6"), Step::verification_needed("Check", "too small")]);
/// assert_eq!(plan.task_list().to_string(), r"- [x] 2 \* 3: 6
/// - [ ] Check (Verification Needed: too small)");
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct TaskList<'a> {
    plan: &'a Plan,
}

impl Plan {
    /// Returns the plan as a Markdown task list.
    pub fn task_list(&self) -> TaskList<'_> {
        TaskList::new(self)
    }
}

impl<'a> TaskList<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self { plan }
    }
}

impl fmt::Display for TaskList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, entry) in self.plan.walk().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }

            let step = entry.step;
            indent(f, entry.depth - 1)?;
            f.write_str(if step.status == Status::Done {
                "- [x] "
            } else {
                "- [ ] "
            })?;

            write!(f, "{}", Markdown(OneLine::new(&step.description)))?;
            if let Some(result) = said(&step.result) {
                write!(f, ": {}", Markdown(result))?;
            }

            let doubted = step.status == Status::VerificationNeeded;
            match (said(&step.mark), doubted) {
                (None, false) => {}
                (None, true) => write!(f, " ({})", step.status)?,
                (Some(mark), _) => {
                    f.write_str(" (")?;
                    if doubted {
                        write!(f, "{}: ", step.status)?;
                    }

                    write!(f, "{})", Markdown(mark))?;
                }
            }
        }

        Ok(())
    }
}

/// Text inside a line of Markdown, where characters that start a block have no meaning.
struct Markdown<T>(T);

impl<T: fmt::Display> fmt::Display for Markdown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| {
            if matches!(
                character,
                '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~'
            ) {
                self.0.write_char('\\')?;
            }

            self.0.write_char(character)
        })
    }
}
