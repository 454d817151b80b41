use std::fmt;

use cogwork_llm::FinishReason;
use cogwork_typed::ask::{Repair, RepairKind};
use serde::Serialize;

use super::bounds::Bounds;
use super::candidates::{Block, candidates};
use super::problem::{ReplyProblem, ReplyProblemKind};
use super::repair::{Mended, Start, mend, repeats};
use super::strict::{self, Fault};
use super::{parts::Reply, whole_json};
use crate::form::Form;
use crate::text_error::TextError;

/// How malformed replies are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reading {
    /// They are repaired if their meaning is unambiguous, and each repair is reported.
    #[default]
    Repairing,
    /// They are not repaired.
    Strict,
}

/// Reads the raw text of a model within limits, and repairs malformed replies.
///
/// A reply is first read strictly, so a well-formed reply is never changed. A malformed reply is
/// repaired if its keys make its meaning unambiguous, and the result is read strictly again. Every
/// repair is reported. A missing part, or an unrecognizable status or truth value, remains an
/// error.
///
/// If the text contains several blocks, the last one is used. If that block is closed but cannot be
/// read even after repairs, the eight blocks before it are tried, last one first. Using one of them
/// is reported as [`RepairKind::EarlierBlock`].
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

/// The maximum number of earlier blocks that are tried. Each one costs a pass over the text.
const EARLIER: usize = 8;

/// A usable reply, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Read {
    /// The reply.
    #[serde(flatten)]
    pub reply: Reply,
    /// The repairs, in the order of the lines; empty for a well-formed reply.
    pub repairs: Vec<Repair>,
    /// Whether the text ended in the middle of a step, which was removed.
    pub truncated: bool,
}

impl Reply {
    /// Reads the raw text of a model, of at most `max_bytes`, without repairs. [`ReplyReader`] can
    /// repair replies and has more settings.
    ///
    /// The reply is either in a fence that is labelled `yaml` or `json` or has no label, or a JSON
    /// object in prose, or the text from the first line that begins with a key. If there are
    /// several blocks, only the last one that contains a key of a reply is read, because a model
    /// that writes a second block has abandoned the first. Thinking in `<think>` tags is skipped.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplyProblem`] with the line and column in `text`, and what is expected instead.
    /// Anchors, aliases, tags, directives, keys after a `?` and deep nesting are rejected before
    /// the YAML library reads the text: some of them take quadratic time or more, and replies don't
    /// need them. A comment after an unquoted text is also rejected, because the ` #` was probably
    /// meant to be part of the text.
    pub fn read(text: &str, max_bytes: usize) -> Result<Self, ReplyProblem> {
        let reader = ReplyReader::default()
            .with_reading(Reading::Strict)
            .with_max_bytes(max_bytes);
        reader.read(text).map(|read| read.reply)
    }
}

impl ReplyReader {
    /// Sets whether replies are repaired. The default is [`Reading::Repairing`].
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// Sets the maximum length of a text, in bytes. The default is 256 KiB.
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the maximum number of steps of a plan, on all levels. The default is 10,000.
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.bounds.steps = steps;
        self
    }

    /// Sets the form that error messages ask for. It does not affect which replies are accepted.
    pub(crate) fn asked_for(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplyProblem`] with the line and column in `text`, and what is expected instead.
    /// See [`Reply::read`] for what is rejected. After repairs, it describes the first remaining
    /// problem and contains [what could be read](ReplyProblem::partial).
    pub fn read(&self, text: &str) -> Result<Read, ReplyProblem> {
        self.check_length(text)?;
        let wanted = self.form;

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
        read.repairs
            .push(Repair::new(RepairKind::EarlierBlock, line, what));

        Ok(read)
    }

    /// Reads a reply, given the reason why the model stopped. If the model didn't finish, the reply
    /// only counts as complete if a fence closes it, because YAML that was cut off can still be
    /// valid.
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

    /// Reads a text that consists only of a reply in JSON, unless its plan repeats in a loop.
    fn read_json(&self, text: &str) -> Option<Reply> {
        whole_json::read(text, self.bounds)
            .filter(|reply| self.reading == Reading::Strict || !repeats(&reply.planning))
    }

    /// Reads a block strictly, and then with repairs. A well-formed block is not changed, unless
    /// its plan repeats in a loop.
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
            // Some faults are read without changing anything. They are reported as well.
            if unchanged {
                let line = line_at(text, block.offset + fault.offset);
                let what = format!("read past what YAML refuses: {}", fault.message);
                read.repairs
                    .push(Repair::new(RepairKind::Syntax, line, what));
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
        let before = text.get(..block.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);

        let start = Start {
            line: line_at(text, block.offset),
            column: before.len() - line_start,
        };
        mend(block.text, start, block.open, self.bounds)
    }

    /// Reads a repaired block strictly. On failure, returns the remaining problem and its place.
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

/// Returns the line of an offset, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// Returns the offset of a line and column, both from 1, or the end of that line.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
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
