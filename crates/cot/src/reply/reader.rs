use std::fmt;

use cogwork_llm::FinishReason;
use cogwork_read::charge;
use serde::Serialize;

use super::bounds::Bounds;
use super::candidates::{Block, candidates};
use super::problem::{ReplyProblem, ReplyProblemKind};
use super::repair::{Mended, Repair, RepairKind, mend, repeats};
use super::strict::{self, Fault};
use super::{parts::Reply, whole_json};
use crate::form::Form;
use crate::text_error::TextError;

/// What is done with a reply that is not as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reading {
    /// It is repaired as far as what it means is beyond doubt, and each repair is reported.
    #[default]
    Repairing,
    /// Nothing is repaired.
    Strict,
}

/// Reads a model's raw text within limits, and repairs what it has to.
///
/// A reply is read strictly first, so that one without a fault is never changed. One with a fault is
/// repaired where the keys of a reply leave no doubt about what was meant, and what comes out is read
/// strictly again. Every repair is reported; a part that is missing, a status or a truth value that
/// names none stays an error.
///
/// Of several blocks the last one counts. If it is closed and cannot be read even after repairs, the
/// nearest of the eight before it that can be read is used, and that is reported as [`RepairKind::EarlierBlock`].
///
/// ```
/// use cogwork_cot::{Reading, ReplyReader};
///
/// let text = "current_thinking: x\nplanning:\n- description: Add\n  status: done\nnext_thought_needed: no\n";
/// let read = ReplyReader::default().read(text)?;
/// assert!(!read.reply.next_thought_needed);
/// assert_eq!(read.repairs.len(), 2);
///
/// let problem = ReplyReader::default().with_reading(Reading::Strict).read(text).err().ok_or("not as asked for")?;
/// assert_eq!((problem.line(), problem.column()), (Some(4), Some(11)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct ReplyReader {
    reading: Reading,
    max_bytes: usize,
    bounds: Bounds,
    form: Form,
}

impl Default for ReplyReader {
    fn default() -> Self {
        let reading = Reading::default();
        let bounds = Bounds::default();
        Self {
            reading,
            max_bytes: 256 * 1024,
            bounds,
            form: Form::Yaml,
        }
    }
}

/// Blocks before the last one that are tried: each costs a look at the text.
const EARLIER: usize = 8;

/// A reply that can be used, and what had to be done to read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Read {
    /// The reply.
    #[serde(flatten)]
    pub reply: Reply,
    /// What was repaired, in the order of the lines; empty for a reply that is as it was asked for.
    pub repairs: Vec<Repair>,
    /// Whether the text ends in the middle of a step, which was left out.
    pub truncated: bool,
}

impl Reply {
    /// Reads a model's raw text of at most `max_bytes`, without any repair: there is no place here to
    /// report one. [`ReplyReader`] repairs, reports, and has more settings.
    ///
    /// The reply stands in a fence labelled `yaml`, `json` or not at all, is a JSON object in prose, or
    /// is the text from the first line that begins with a key. Of several blocks the last one that
    /// names a key of a reply counts, and no other: a model that gives a second block has taken the
    /// first back.
    ///
    /// # Errors
    ///
    /// A [`ReplyProblem`] with the line and column in `text`, and what would have been accepted.
    /// Anchors, aliases, tags, directives, keys after a `?` and deep nesting are refused before the
    /// YAML library sees the text: it is quadratic on some and can blow up on others, and no reply
    /// needs them. So is a comment behind a text without quotes: ` #` was meant as text.
    pub fn read(text: &str, max_bytes: usize) -> Result<Self, ReplyProblem> {
        let reader = ReplyReader::default()
            .with_reading(Reading::Strict)
            .with_max_bytes(max_bytes);
        reader.read(text).map(|read| read.reply)
    }
}

impl ReplyReader {
    /// Whether replies are repaired. Default: [`Reading::Repairing`].
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The longest text that is looked at, in bytes. Default: 256 KiB.
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The most steps of a plan, counted over all levels. Default: 10,000.
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.bounds.steps = steps;
        self
    }

    /// The most brackets and indented lists within one another; a level of steps takes two. Default: 72,
    /// which is what the deepest plan takes.
    pub fn with_max_nesting(mut self, levels: usize) -> Self {
        self.bounds.nesting = levels;
        self
    }

    /// Sets the form that complaints ask for. What is read is the same.
    pub(crate) fn asked_for(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// A [`ReplyProblem`] with the line and column in `text`, and what would have been accepted; see
    /// [`Reply::read`] for what is refused. After repairs it is about what they left, and has
    /// [what could be read](ReplyProblem::partial).
    pub fn read(&self, text: &str) -> Result<Read, ReplyProblem> {
        self.check_length(text)?;
        let wanted = self.form;
        charge(text.len());

        if text.trim().is_empty() {
            let message = format!("the reply is empty; expected a {wanted}");
            return Err(ReplyProblem::new(ReplyProblemKind::Empty, message));
        }

        if let Some(reply) = self.read_json(text) {
            return Ok(Read {
                reply,
                repairs: Vec::new(),
                truncated: false,
            });
        }

        let blocks = candidates(text);
        let Some((last, earlier)) = blocks.split_first() else {
            let message = format!(
                "the reply has no {wanted}; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`"
            );
            let beginning = text.len() - text.trim_start().len();
            let error = TextError::new(message).at(text, beginning);
            return Err(ReplyProblem::from(ReplyProblemKind::NoBlock, error));
        };

        let problem = match self.read_block(text, last) {
            Ok(read) => return Ok(read),
            Err(problem) => problem,
        };
        if self.reading == Reading::Strict || last.open {
            return Err(problem);
        }

        let Some((block, mut read)) = earlier
            .iter()
            .take(EARLIER)
            .find_map(|block| Some((block, self.read_block(text, block).ok()?)))
        else {
            return Err(problem);
        };

        let line = line_at(text, block.offset);
        let later = line_at(text, last.offset);
        let what = format!(
            "used this block, since the later one of line {later} cannot be read: {}",
            problem.message()
        );
        read.repairs.push(Repair {
            kind: RepairKind::EarlierBlock,
            line,
            what,
        });

        Ok(read)
    }

    /// The same for a text of which is known why the model stopped: unless it was done, the reply is
    /// whole only if a fence closes it. YAML that is cut off can still be YAML.
    pub(crate) fn read_finished(
        &self,
        text: &str,
        reason: &FinishReason,
    ) -> Result<Read, ReplyProblem> {
        let block = match reason {
            FinishReason::Stop => None,
            _ if text.len() > self.max_bytes || self.read_json(text).is_some() => None,
            _ => Some(candidates(text).first().copied()),
        };

        let block = match block {
            None => return self.read(text),
            Some(Some(block)) if block.closed => return self.read(text),
            Some(block) => block,
        };

        let message = match reason {
            FinishReason::Length => {
                "the reply was cut off at the limit of tokens; expected a shorter one".to_owned()
            }
            _ if self.form == Form::Json => {
                format!(
                    "the model was stopped ({reason:?}) before its reply was whole; expected a whole JSON object"
                )
            }
            _ => format!(
                "the model was stopped ({reason:?}) before the block of its reply was closed; expected a block with a fence at its end"
            ),
        };

        let problem = ReplyProblem::from(ReplyProblemKind::CutOff, TextError::quoting(&message));
        let cut = block
            .filter(|_| self.reading == Reading::Repairing)
            .map(|block| Block {
                open: true,
                ..block
            });

        Err(problem.with_partial(
            cut.and_then(|block| self.mend(text, &block))
                .map(|mended| mended.partial),
        ))
    }

    fn check_length(&self, text: &str) -> Result<(), ReplyProblem> {
        let max = self.max_bytes;
        if text.len() <= max {
            return Ok(());
        }

        let message = format!(
            "the reply is {} bytes long; at most {max} are read",
            text.len()
        );
        Err(ReplyProblem::new(ReplyProblemKind::TooLong, message))
    }

    /// A text that is a reply in JSON and nothing else, but for a loop.
    fn read_json(&self, text: &str) -> Option<Reply> {
        whole_json::read(text, self.bounds)
            .filter(|reply| self.reading == Reading::Strict || !repeats(&reply.planning))
    }

    /// Strictly first: what is as it was asked for costs no more than that, and is never changed, but
    /// for a loop.
    fn read_block(&self, text: &str, block: &Block<'_>) -> Result<Read, ReplyProblem> {
        let fault = match strict::read(block.text, self.bounds) {
            Ok(reply) if self.reading == Reading::Strict || !repeats(&reply.planning) => {
                return Ok(Read {
                    reply,
                    repairs: Vec::new(),
                    truncated: false,
                });
            }
            Ok(reply) => {
                let mended = self
                    .mend(text, block)
                    .and_then(|mended| self.finish(mended).ok());
                return Ok(mended.unwrap_or(Read {
                    reply,
                    repairs: Vec::new(),
                    truncated: false,
                }));
            }
            Err(fault) => fault,
        };

        let located = |Fault {
                           kind,
                           message,
                           offset,
                       }| {
            ReplyProblem::from(
                kind,
                TextError::quoting(&message).at(text, block.offset + offset),
            )
        };

        if self.reading == Reading::Strict {
            return Err(located(fault));
        }

        let Some(mended) = self.mend(text, block) else {
            return Err(located(fault));
        };

        let unchanged = mended.repairs.is_empty();
        let partial = mended.partial.clone();
        let finished = self.finish(mended).map(|mut read| {
            // What the repairs take in their stride is said all the same: nothing is mended in silence.
            if unchanged {
                let line = line_at(text, block.offset + fault.offset);
                let what = format!("read past what YAML refuses: {}", fault.message);
                read.repairs.push(Repair {
                    kind: RepairKind::Syntax,
                    line,
                    what,
                });
            }

            read
        });

        finished.map_err(|(left, (line, column))| {
            let problem = match unchanged {
                true => located(fault),
                false => {
                    let error =
                        TextError::quoting(&left.message).at(text, offset_of(text, line, column));
                    ReplyProblem::from(left.kind, error)
                }
            };
            problem.with_partial(Some(partial))
        })
    }

    fn mend(&self, text: &str, block: &Block<'_>) -> Option<Mended> {
        mend(
            block.text,
            line_at(text, block.offset),
            block.open,
            self.bounds,
        )
    }

    /// Reads what was repaired, as strictly as anything; else says what is left and where.
    fn finish(&self, mended: Mended) -> Result<Read, (Fault, (usize, usize))> {
        match strict::read(mended.text(), self.bounds) {
            Ok(reply) => Ok(Read {
                reply,
                repairs: mended.repairs,
                truncated: mended.truncated,
            }),
            Err(fault) => {
                let place = mended.place(fault.offset);
                Err((fault, place))
            }
        }
    }
}

/// The line of an offset, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    charge(before.len());
    before.matches('\n').count() + 1
}

/// The offset of a line and a column, both from 1, or the end of that line.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    charge(text.len());
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();

    let line = text
        .get(start..)
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default();

    start
        + line
            .char_indices()
            .nth(column.saturating_sub(1))
            .map_or(line.len(), |(at, _)| at)
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repairing => "repairing",
            Self::Strict => "strict",
        })
    }
}
