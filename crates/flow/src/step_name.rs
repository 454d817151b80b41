//! The names of steps, which are the same in every replay of a run.

use std::fmt::{self, Write};

use cogwork_text::is_unsafe;
use serde::{Serialize, Serializer};

/// The name of a step of a run. `crawl/page#1[4]/fetch#2` is the second step of the flow over the
/// fifth item of the first step of `crawl`, at the node `fetch`. `crawl/report#2.1/search.3` is a
/// [call](CallName) inside a step.
///
/// Names consist of the path and the number of the step, so a resumed run gives its steps the same
/// names. `Display` writes `/`, `#`, `[`, `]`, `%` and [unsafe characters](cogwork_text::is_unsafe)
/// inside names as `%2F` and so on: no two steps of a run are written the same way, and the text is
/// safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StepName {
    /// The flows, items and branches around the node, outermost first.
    pub within: Vec<Level>,
    /// The name of the node.
    pub node: String,
    /// The number of the step in the run of its flow, starting at 1.
    pub number: u64,
    /// The index of the item of a [`Batch`](crate::Batch), starting at 0.
    pub item: Option<usize>,
    /// The call inside `exec`, if this names a call of a [composite](crate::Node::is_composite)
    /// node.
    pub call: Option<Box<CallName>>,
}

/// The name of a call inside the `exec` of a [composite](crate::Node::is_composite) node.
/// `research/agent#3.1/search.2` is the second call with the label `search` in the first attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct CallName {
    /// The number of the attempt at `exec`, starting at 1.
    pub attempt: u32,
    /// The label of the call.
    pub label: String,
    /// The number of the call among those with this label, starting at 1. The entry with which a
    /// failed attempt is recorded has the label `failed` and the number 0.
    pub number: u64,
    /// The number of the try, starting at 1. A call is made again if the attempt failed because of
    /// it.
    pub tries: u32,
}

/// A level of the path to a node: a flow, or one of the flows inside a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Level {
    /// The name of the outermost flow, or of the place of the flow.
    pub name: String,
    /// The number of the step and the part of it, for a flow inside a step.
    pub part: Option<(u64, Part)>,
}

/// A part of a step: one of the flows inside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// The flow over the item of an [`Each`](crate::Each) with this index, starting at 0.
    Item(usize),
    /// The branch of [`Branches`](crate::Branches) with this name.
    Branch(String),
}

impl Part {
    /// Identifies the part in an error.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Item(index) => format!("[{index}]"),
            Self::Branch(branch) => format!("/{branch}"),
        }
    }
}

impl StepName {
    /// Returns the idempotency key of the step in the run with this id.
    pub(crate) fn key_in(&self, run: &str) -> String {
        // The id of the run, which may be any text, ends with a colon.
        // The percent sign is replaced first, since the other replacement adds one.
        let run = run.replace('%', "%25").replace(':', "%3A");
        // A call that is made again has the same key, since it may have been done although it failed.
        match &self.call {
            Some(call) if call.tries > 1 => {
                let first = CallName {
                    tries: 1,
                    ..CallName::clone(call)
                };
                format!("{run}:{}", self.of_call(first))
            }
            _ => format!("{run}:{self}"),
        }
    }

    /// Returns the name of the same step for one item of a batch.
    pub(crate) fn of_item(&self, index: usize) -> Self {
        Self {
            item: Some(index),
            ..self.clone()
        }
    }

    pub(crate) fn of_call(&self, call: CallName) -> Self {
        Self {
            call: Some(Box::new(call)),
            ..self.clone()
        }
    }

    /// Returns the path of the node without numbers, starting below the outermost flow: `page/fetch`.
    pub fn place(&self) -> String {
        let mut place = String::new();
        for level in self.within.iter().skip(1) {
            let _ = write!(place, "{}/", Escaped(&level.name));
            if let Some((_, Part::Branch(branch))) = &level.part {
                let _ = write!(place, "{}/", Escaped(branch));
            }
        }

        let _ = write!(place, "{}", Escaped(&self.node));
        place
    }
}

impl Serialize for StepName {
    /// Serialises the name as the text that `Display` writes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in &self.within {
            write!(f, "{level}/")?;
        }

        write!(f, "{}#{}", Escaped(&self.node), self.number)?;
        if let Some(item) = self.item {
            write!(f, "[{item}]")?;
        }

        match &self.call {
            Some(call) => write!(f, ".{call}"),
            None => Ok(()),
        }
    }
}

impl CallName {
    /// The end of the name of the entry with which a failed attempt is recorded.
    pub(crate) const FAILURE: &str = "/failed.0";

    /// Names the entry with which a failed attempt is recorded, or the try with this number, counted
    /// from 2, if the next one continues it.
    pub(crate) fn failure(attempt: u32, tries: u32) -> Self {
        Self {
            attempt,
            label: "failed".to_owned(),
            number: 0,
            tries,
        }
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            attempt,
            label,
            number,
            tries,
        } = self;

        write!(f, "{attempt}/{}.{number}", Escaped(label))?;
        match tries {
            1 => Ok(()),
            tries => write!(f, ".{tries}"),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.name).fmt(f)?;
        match &self.part {
            None => Ok(()),
            Some((number, Part::Item(index))) => write!(f, "#{number}[{index}]"),
            Some((number, Part::Branch(branch))) => write!(f, "#{number}[{}]", Escaped(branch)),
        }
    }
}

/// A moment of a run, read from the recorded name of a step: a run visits only one node at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment<'a> {
    /// The path up to the last item or branch, in each of which steps are counted anew. Only subflows
    /// follow, whose steps count like any other.
    pub way: &'a str,
    /// The number of the step.
    pub number: u64,
    /// The name of the step, without its item or call.
    pub visited: &'a str,
}

impl<'a> Moment<'a> {
    /// Returns the moments of a step: those of the steps around it, outermost first, and its own.
    pub fn all_of(step: &'a str) -> impl Iterator<Item = Self> {
        // Names contain no special characters, so each `#` is that of a step.
        step.match_indices('#').filter_map(|(mark, _)| {
            let (before, after) = (step.get(..mark)?, step.get(mark + 1..)?);
            let digits = after.find(|character: char| !character.is_ascii_digit());
            let digits = digits.unwrap_or(after.len());
            let way = before.rfind(']').and_then(|end| before.get(..=end));

            Some(Self {
                way: way.unwrap_or_default(),
                // A record that was edited may have no number, or one that is too large.
                number: after.get(..digits)?.parse().ok()?,
                visited: step.get(..=mark + digits)?,
            })
        })
    }

    /// Returns the number of a step, or of the outermost step around it; 0 if it has none.
    pub fn outermost_number(step: &'a str) -> u64 {
        let outermost = Self::all_of(step).next();
        outermost.map_or(0, |moment| moment.number)
    }

    pub(crate) fn key(self) -> String {
        format!("{}#{}", self.way, self.number)
    }
}

/// A name with the characters escaped that would end it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if matches!(character, '/' | '#' | '[' | ']' | '%') || is_unsafe(character) {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    write!(f, "%{byte:02X}")?;
                }
            } else {
                f.write_char(character)?;
            }
        }

        Ok(())
    }
}
