//! JSON, and what models take for it: comments, single quotes, commas too many or too few, brackets
//! left open. It is rewritten in lines of block style, so that all other repairs see one form only.
//! What JSON and YAML have is rewritten without a word; the rest is reported.

use cogwork_read::charge;

use super::flow_text::{Place, Scalar};
use super::flow_writer::{Output, Writer};
use super::keys::{self, Key};
use super::lines::Line;
use super::repairs::{RepairKind, Report};

/// The lines with every collection of flow style in block style. `open`: the text may end in the middle
/// of a word. None if they nest deeper than so many brackets, or would take far more room in block style.
pub(super) fn expand<'t>(
    lines: Vec<Line<'t>>,
    open: bool,
    nesting: usize,
    report: &mut Report,
) -> Option<Vec<Line<'t>>> {
    if !lines.iter().any(has_bracket) {
        return Some(lines);
    }

    let mut starts = Vec::with_capacity(lines.len());
    let mut source = String::new();
    for line in &lines {
        starts.push(source.len());
        source.push_str(&line.dedented(0));
        source.push('\n');
    }

    charge(source.len());

    let numbers: Vec<usize> = lines.iter().map(|line| line.number).collect();
    let mut reader = Reader {
        source: &source,
        starts: &starts,
        numbers: &numbers,
        at: 0,
        open,
        nesting,
        report,
        cut: None,
        unclosed: 0,
    };

    let mut out = Output::for_source(&source, lines.len());

    for (index, line) in lines.into_iter().enumerate() {
        let start = starts.get(index).copied().unwrap_or(0);
        let end = starts.get(index + 1).copied().unwrap_or(source.len());

        if reader.at >= end {
            continue;
        }

        if reader.at > start {
            let rest = source.get(reader.at..end).unwrap_or_default();
            out.push_rest(&line, rest);
            continue;
        }

        let next = source.get(end..).unwrap_or_default();
        let Some((before, column)) = opens(&line, out.is_blank(), next) else {
            out.push(line);
            continue;
        };

        reader.at = start + before;
        let is_whole_block = line.text().starts_with('{');
        let node = reader.value(0, Place::Value)?;

        let mut writer = Writer::new(&mut out, &source);
        if is_whole_block {
            writer.top(&node)?;
        } else {
            let text = source.get(start..start + before).unwrap_or_default().trim();
            writer.after(line.number, column, text, &node)?;
        }

        reader.leave_brackets();
    }

    Some(out.into_lines())
}

fn has_bracket(line: &Line<'_>) -> bool {
    charge(line.text().len());
    line.text().contains(['{', '['])
}

/// Where in a line a collection begins that stands for a list or a step, and the column of what it
/// is the value of. `[` before lines with dashes opens nothing. Only the first line may begin with a
/// bracket: others like it are text.
fn opens(line: &Line<'_>, first: bool, next: &str) -> Option<(usize, usize)> {
    let text = line.text();
    let (item, column) = match text.strip_prefix('-').map(str::trim_start) {
        Some(item) if !text.starts_with("--") => (item, line.indent + 2),
        _ => (text, line.indent),
    };
    charge(text.len() - item.len());

    let known = keys::top(item).or_else(|| keys::step(item));
    let value = match known {
        Some(found) if matches!(found.key, Key::Planning | Key::SubSteps) => found.value(),
        Some(_) => return None,
        None => item,
    };

    let opens = match value.chars().next()? {
        '{' if known.is_none() && !text.starts_with('-') => first,
        '{' if known.is_none() => {
            let inside = skipped_blanks(value.get(1..)?);
            keys::step(inside).is_some()
        }
        '{' => true,
        '[' => known.is_some() && (value.len() > 1 || !skipped_blanks(next).starts_with('-')),
        _ => false,
    };

    // The value is the rest of its line without blanks at its end.
    opens.then(|| (line.text_offset() + text.len() - value.len(), column))
}

fn skipped_blanks(text: &str) -> &str {
    let rest = text.trim_start();
    charge(text.len() - rest.len());
    rest
}

/// A piece of flow style, with its line and its place in the source.
pub(super) enum Node {
    Scalar(Scalar),
    Seq {
        span: (usize, usize),
        items: Vec<Node>,
    },
    Map {
        span: (usize, usize),
        line: usize,
        pairs: Vec<(Scalar, Node)>,
    },
}

pub(super) struct Reader<'s, 'r> {
    pub(super) source: &'s str,
    starts: &'s [usize],
    numbers: &'s [usize],
    pub(super) at: usize,
    pub(super) open: bool,
    nesting: usize,
    pub(super) report: &'r mut Report,
    /// How deep the collection is in the middle of which the text ended, if it did.
    cut: Option<usize>,
    /// Quotes that were closed where the text gave no sign; bounded, since each may cost a look at
    /// all the rest.
    pub(super) unclosed: usize,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// The line in the raw reply.
    pub(super) fn line(&self) -> usize {
        let index = self.starts.partition_point(|start| *start <= self.at);
        self.numbers
            .get(index.saturating_sub(1))
            .copied()
            .unwrap_or(1)
    }

    fn value(&mut self, depth: usize, place: Place) -> Option<Node> {
        if depth > self.nesting {
            return None;
        }
        match self.rest().chars().next() {
            Some('{') => self.map(depth),
            Some('[') => self.seq(depth),
            _ => {
                let (scalar, whole) = self.scalar(place);
                if !whole {
                    self.cut.get_or_insert(depth);
                }

                Some(Node::Scalar(scalar))
            }
        }
    }

    fn map(&mut self, depth: usize) -> Option<Node> {
        let from = self.at;
        let line = self.line();
        self.at += 1;
        let mut pairs = Vec::new();

        loop {
            self.skip_blanks();
            match self.rest().chars().next() {
                None => {
                    self.cut.get_or_insert(depth);
                    break;
                }
                Some('}') => {
                    self.at += 1;
                    break;
                }
                // The bracket around this collection: this one was left open.
                Some(']') if depth > 0 => {
                    self.report
                        .add(RepairKind::Json, self.line(), "closed a bracket");
                    break;
                }
                Some(',' | ']') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }

            let (key, _) = self.scalar(Place::Key);
            self.skip_blanks();
            if self.rest().is_empty() {
                continue;
            }

            if !self.rest().starts_with(':') {
                let empty = Scalar {
                    line: key.line,
                    text: String::new(),
                    quoted: false,
                };

                pairs.push((key, Node::Scalar(empty)));
                continue;
            }

            self.at += 1;
            self.skip_blanks();
            let whole = self.cut.is_none();
            let value = self.value(depth + 1, Place::Value)?;

            // A scalar that the text ends in is not known to be whole.
            if whole && self.cut.is_some() && matches!(value, Node::Scalar(_)) {
                self.cut = Some(depth);
                break;
            }

            pairs.push((key, value));
            self.comma('"');
        }

        Some(Node::Map {
            span: (from, self.at),
            line,
            pairs,
        })
    }

    fn seq(&mut self, depth: usize) -> Option<Node> {
        let from = self.at;
        self.at += 1;
        let mut items = Vec::new();

        loop {
            self.skip_blanks();
            match self.rest().chars().next() {
                None => {
                    self.cut.get_or_insert(depth);
                    break;
                }
                Some(']') => {
                    self.at += 1;
                    break;
                }
                Some('}') if depth > 0 => {
                    self.report
                        .add(RepairKind::Json, self.line(), "closed a bracket");
                    break;
                }
                Some(',' | '}') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }

            let line = self.line();
            let whole = self.cut.is_none();
            let item = self.value(depth + 1, Place::Item)?;

            // What holds the step that was cut off is whole so far.
            if whole && self.cut == Some(depth + 1) && !matches!(item, Node::Seq { .. }) {
                self.report.add(RepairKind::CutOff, line, CUT);
                break;
            }

            items.push(item);
            self.comma('{');
        }

        Some(Node::Seq {
            span: (from, self.at),
            items,
        })
    }

    /// Reports a comma that is missing before another of the same kind.
    fn comma(&mut self, next: char) {
        let line = self.line();
        self.skip_blanks();
        if self.rest().starts_with(next) {
            self.report.add(RepairKind::Json, line, "added a comma");
        }
    }

    /// Brackets and commas behind the outermost collection close nothing.
    fn leave_brackets(&mut self) {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        let behind = rest.trim_start_matches([']', '}', ',']);
        charge(self.rest().len() - behind.len() + 1);

        if behind.len() < rest.len() {
            if rest.starts_with([']', '}']) {
                self.report.add(
                    RepairKind::Json,
                    self.line(),
                    "left out a bracket that closes nothing",
                );
            }

            self.at = self.source.len() - behind.len();
        }

        // Asked once: a collection that was cut off reaches to the end.
        if self.cut.is_some() && !self.report.has(RepairKind::CutOff) {
            self.report
                .add(RepairKind::Json, self.line(), "closed the brackets");
        }
    }

    /// Skips blanks and comments. `//` and `/* */` are neither JSON nor YAML.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(keys::is_blank);
            let blanks = rest.len() - trimmed.len();
            let line_end = || trimmed.find('\n').unwrap_or(trimmed.len());
            let skipped = if trimmed.starts_with("//") {
                line_end()
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else if trimmed.starts_with('#') {
                line_end()
            } else {
                0
            };

            charge(blanks + skipped + 1);
            let comment = trimmed.starts_with('/') && skipped > 0;
            self.at += blanks;

            if comment {
                self.report
                    .add(RepairKind::Json, self.line(), "left out a comment");
            }

            self.at += skipped;
            if skipped == 0 {
                return;
            }
        }
    }
}

pub(super) const CUT: &str = "left out a step that was not written to its end";
