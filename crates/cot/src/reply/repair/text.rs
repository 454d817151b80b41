//! Reads the intended text of a value, regardless of its quotes, indentation and punctuation.

use cogwork_typed::ask::RepairKind;

use super::lines::Line;
use super::part::Part;
use super::quoted::{self, Quoted};
use super::repairs::Report;
use crate::reply::keys::is_blank;

/// A raw value: the rest of the line after the key, and the following lines that belong to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Value<'t> {
    pub(super) line: usize,
    /// The column of the key. YAML requires the text to be indented further than this.
    pub(super) column: usize,
    /// The column of the head, from 1.
    pub(super) value_column: usize,
    pub(super) head: String,
    pub(super) tail: Vec<Line<'t>>,
    /// Whether the head is the header of a block scalar. Cached, because it is needed for every
    /// line that follows.
    is_block: bool,
}

impl Value<'_> {
    pub(super) fn new(line: usize, column: usize, head: String) -> Self {
        let is_block = is_block(&head);
        Self {
            line,
            column,
            value_column: column + 1,
            head,
            tail: Vec::new(),
            is_block,
        }
    }

    pub(super) fn is_block(&self) -> bool {
        self.is_block
    }

    /// Returns the part of the first line with the value.
    pub(super) fn part(&self) -> Part {
        Part::Last(self.head.clone())
    }

    /// Returns the whole value as one line.
    pub(super) fn one_line(&self) -> String {
        let lines = std::iter::once(self.head.as_str()).chain(self.tail.iter().map(Line::text));

        lines
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the text and reports the repairs, or returns `None` for `null` and an empty value.
    /// `name` is the key or item that the text belongs to.
    pub(super) fn text(&self, name: &str, report: &mut Report) -> Option<String> {
        if self.is_block() {
            return Some(self.block(name, report));
        }

        let first = self.head.chars().next();
        match first {
            Some(quote @ ('"' | '\'')) => Some(self.in_quotes(quote, name, report)),
            _ => self.plain(name, report),
        }
    }

    /// Returns the lines of a block scalar without their common indentation.
    fn block(&self, name: &str, report: &mut Report) -> String {
        let lines = || self.tail.iter().filter(|line| !line.is_blank());
        let first = lines().next().map_or(0, |line| line.indent);
        let least = lines().map(|line| line.indent).min().unwrap_or(0);

        if let Some(line) = lines().find(|line| line.indent <= self.column || line.indent < first) {
            report.add(
                RepairKind::Indentation,
                line.number,
                format!("indented the text of `{name}`"),
            );
        }

        if let Some(line) = lines().find(|line| line.has_odd_blanks() && line.indent <= first) {
            report.add(
                RepairKind::Blanks,
                line.number,
                format!("indented the text of `{name}` with spaces"),
            );
        }

        let lines: Vec<_> = self.tail.iter().map(|line| line.dedented(least)).collect();
        let text = if self.head.starts_with('>') {
            folded(lines.iter().map(AsRef::as_ref))
        } else {
            lines.join("\n")
        };

        let end = if self.head.contains('-') || text.trim().is_empty() {
            ""
        } else {
            "\n"
        };

        text.trim_end_matches('\n').to_owned() + end
    }

    fn in_quotes(&self, quote: char, name: &str, report: &mut Report) -> String {
        let lines = std::iter::once(self.head.as_str()).chain(self.tail.iter().map(Line::text));
        let joined = folded(lines);
        let Quoted { text, fault } = quoted::read(&joined, quote);

        if let Some(fault) = fault {
            let what = format!("{fault} `{name}`");
            report.add_part(RepairKind::Quotes, self.line, self.part(), what);
        } else if let Some(line) = self
            .tail
            .iter()
            .find(|line| !line.is_blank() && line.indent <= self.column)
        {
            report.add(
                RepairKind::Indentation,
                line.number,
                format!("indented the text of `{name}`"),
            );
        }

        text
    }

    fn plain(&self, name: &str, report: &mut Report) -> Option<String> {
        let lines = || std::iter::once(self.head.as_str()).chain(self.tail.iter().map(Line::text));
        let lines = || lines().skip_while(|line| line.is_empty());
        let folded = folded(lines());
        let text = folded.trim_matches(is_blank);

        if text.is_empty() || matches!(text, "~" | "null" | "Null" | "NULL") {
            return None;
        }

        let outside = self
            .tail
            .iter()
            .find(|line| !line.is_blank() && line.indent <= self.column);
        if needs_quotes(text) {
            let (inner, what) = match quoted::in_curly_quotes(text) {
                Some(inner) => (
                    Some(inner),
                    format!("took the curly quotes around `{name}` for quotes"),
                ),
                None => (None, format!("put the text of `{name}` in quotes")),
            };

            report.add_part(RepairKind::Quotes, self.line, self.part(), what);

            // Text on several lines that needs quotes was meant as separate lines, often as a list.
            let whole = || lines().collect::<Vec<_>>().join("\n").trim_end().to_owned();
            Some(inner.map_or_else(whole, str::to_owned))
        } else {
            if let Some(line) = outside {
                report.add(
                    RepairKind::Indentation,
                    line.number,
                    format!("indented the text of `{name}`"),
                );
            }

            Some(text.to_owned())
        }
    }
}

/// Returns whether the text after a key is the header of a block scalar.
pub(super) fn is_block(head: &str) -> bool {
    let (header, comment) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
    let mut signs = header.chars();

    matches!(signs.next(), Some('|' | '>'))
        && signs.all(|c| matches!(c, '+' | '-' | '1'..='9'))
        && (comment.trim().is_empty() || comment.trim_start().starts_with('#'))
}

/// Folds lines like YAML: a line break becomes a space, and a blank line becomes a line break.
fn folded<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut text = String::new();
    let mut breaks = 0;
    for line in lines {
        let line = line.trim_matches(is_blank);
        if line.is_empty() {
            breaks += 1;
            continue;
        } else if breaks > 0 {
            text.extend(std::iter::repeat_n('\n', breaks));
        } else if !text.is_empty() {
            text.push(' ');
        }

        breaks = 0;
        text.push_str(line);
    }

    text
}

/// Returns whether YAML would reject an unquoted text or change its meaning.
pub(super) fn needs_quotes(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    let second = chars.next();
    let spaced = second.is_none_or(char::is_whitespace);

    match first {
        None => true,
        Some(
            '@' | '`' | '%' | '*' | '&' | '!' | '|' | '>' | '[' | ']' | '{' | '}' | ',' | '#' | '"'
            | '\'',
        ) => true,
        Some('-' | '?' | ':') if spaced => true,
        _ => {
            let inside = [": ", ":\t", " #", "\t#", ":\n", "\n#"];
            text.ends_with(':')
                || inside.iter().any(|sign| text.contains(sign))
                || text.chars().any(|c| c.is_control() && c != '\n')
        }
    }
}

/// Writes a text in double quotes, on one line, so that YAML reads back exactly the same text.
pub(super) fn in_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');

    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }

    out.push('"');
    out
}
