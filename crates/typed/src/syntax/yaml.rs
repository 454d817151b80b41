//! Reads YAML as models write it, line by line.
//!
//! The keys of the expected type tell what is a key where the columns don't. What `yaml_serde` reads
//! in the same way is YAML, and nothing is reported. What it reads in another way is a doubt, and for
//! what it refuses, our corrections are reported.

use crate::ask::RepairKind;

use super::json::{self, is_elision};
pub(crate) use super::line::key_of;
use super::line::{
    Line, has_colon, is_complete_literal, is_followed, is_header, is_quoted_in_part, item_of,
    lines, without_comment,
};
use super::quoted::{end_of_quote, in_quotes, push_breaks, with_commands};
use super::witness::{Verdict, compare};
use super::{MAX_LEVELS, Notes, Parsed};
use crate::shape::Words;
use crate::tree::{Node, Tree};

/// Reads the object or list that begins on the first line of a text. `line` is that line in the
/// reply, from 1. `is_open` tells that the text may be cut off at its end.
pub(crate) fn read(text: &str, line: usize, words: &Words, is_open: bool) -> Parsed {
    let lines: Vec<Line<'_>> = lines(text, line).collect();
    let mut reader = Reader {
        text,
        line,
        lines,
        at: 0,
        words,
        levels: 0,
        region: (0, 0),
        is_yaml: true,
        ends_in_text: false,
        notes: Notes::default(),
    };

    if reader.next_line().is_some_and(|first| first.text == "---") {
        reader.at += 1;
    }
    let tree = match reader.next_line() {
        Some(first) => reader.block(first, None),
        None => Tree::new(line, Node::Null),
    };

    // The blank lines and comments after the value belong to it.
    reader.next_line();
    let end = reader
        .lines
        .get(reader.at)
        .map_or(text.len(), |next| next.start);
    reader.notes.is_cut |= is_open && end == text.len() && reader.ends_in_text;
    reader.judged(tree, end)
}

struct Reader<'t> {
    text: &'t str,
    line: usize,
    lines: Vec<Line<'t>>,
    at: usize,
    words: &'t Words,
    levels: usize,
    /// The column of the last region of deeper lines, and the line on which it ends.
    region: (usize, usize),
    /// Whether the text may be what YAML reads.
    is_yaml: bool,
    ends_in_text: bool,
    notes: Notes,
}

impl<'t> Reader<'t> {
    fn judged(mut self, tree: Tree, end: usize) -> Parsed {
        let read = self.text.get(..end).unwrap_or_default();
        // What is corrected in ways that YAML doesn't know needs no comparison.
        if self.is_yaml {
            match compare(read, &tree) {
                // A parser of YAML needs no corrections.
                Verdict::Same => self.notes.repairs.clear(),
                Verdict::Different => {
                    let line = self
                        .notes
                        .repairs
                        .first()
                        .map_or(self.line, |first| first.line);
                    self.notes.doubt(line, "YAML has another meaning");
                }
                Verdict::Invalid { line, message } if self.notes.repairs.is_empty() => {
                    let line = self.line + line.saturating_sub(1);
                    let what = format!("read malformed YAML: {message}");
                    self.notes.repair(RepairKind::Syntax, line, what);
                }
                Verdict::Invalid { .. } => {}
            }
        }

        Parsed {
            is_yaml: true,
            ..Parsed::new(tree, self.notes, end)
        }
    }

    fn repair(&mut self, kind: RepairKind, line: usize, what: &str) {
        self.notes.repair(kind, line, what);
    }

    /// Returns the next line that isn't blank or a comment.
    fn next_line(&mut self) -> Option<Line<'t>> {
        loop {
            let line = *self.lines.get(self.at)?;
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Some(line);
            }
            self.at += 1;
        }
    }

    /// Reads the value that begins on a line. What is inside it is right of the column `outer`.
    fn block(&mut self, first: Line<'t>, outer: Option<usize>) -> Tree {
        self.nested(first, |reader| {
            if item_of(first.text).is_some() {
                return reader.list(first.column, outer.map(|outer| outer + 1));
            }
            if key_of(first.text).is_some() {
                return reader.object(first.column, outer);
            }

            reader.at += 1;
            reader.scalar(first, first.text, outer.unwrap_or_default())
        })
    }

    fn nested(&mut self, first: Line<'t>, read: impl FnOnce(&mut Self) -> Node) -> Tree {
        if self.levels >= MAX_LEVELS {
            let what = "the value is nested too deeply";
            self.notes.doubt(first.number, what);
            self.at = self.lines.len();
            return Tree::new(first.number, Node::Null);
        }

        self.levels += 1;
        let node = read(self);
        self.levels -= 1;
        Tree::new(first.number, node)
    }

    fn object(&mut self, column: usize, outer: Option<usize>) -> Node {
        let mut entries = Vec::new();

        while let Some(line) = self.next_line() {
            let key = key_of(line.text).filter(|(key, _)| self.belongs(key, line, column, outer));
            let Some((key, rest)) = key else {
                break;
            };

            if line.column != column {
                // YAML may read a key in the column of the dash as one of another object.
                self.is_yaml &= Some(line.column) != outer;
                let what = "read a key in a wrong column";
                self.repair(RepairKind::Indentation, line.number, what);
            }
            self.at += 1;
            let value = self.value(line, rest, column, outer);
            entries.push((key.into_owned(), value));
        }

        Node::Object(entries)
    }

    /// Returns whether a key is one of the object in this column.
    fn belongs(&self, key: &str, line: Line<'_>, column: usize, outer: Option<usize>) -> bool {
        if line.column == column {
            return item_of(line.text).is_none();
        }
        if item_of(line.text).is_some() {
            return false;
        }
        match outer {
            None => self.words.is_root(key) && !self.words.is_open,
            Some(outer) if line.column == outer => {
                // A key in the column of the dash may be one of the item.
                self.words.is_known(key) && !self.words.is_root(key)
            }
            Some(outer) => line.column > outer,
        }
    }

    /// Reads the items in a column, and those in wrong ones from the column `least`.
    fn list(&mut self, column: usize, least: Option<usize>) -> Node {
        let mut items = Vec::new();

        while let Some(line) = self.next_line() {
            let Some(item) = item_of(line.text) else {
                break;
            };
            if line.column != column && least.is_none_or(|least| line.column < least) {
                break;
            }

            if line.column != column {
                let what = "read an item in a wrong column";
                self.repair(RepairKind::Indentation, line.number, what);
            }
            // YAML takes such lines for a text.
            if !item.is_dash {
                self.is_yaml = false;
                self.repair(
                    RepairKind::Form,
                    line.number,
                    "read a line as an item of a list",
                );
            }
            items.push(self.item(line, item.rest));
        }

        Node::List(items)
    }

    fn item(&mut self, line: Line<'t>, rest: &'t str) -> Tree {
        if is_elision(rest) {
            self.notes.doubt(line.number, "items are left out");
        }

        // A number after a dash is a text, as in `- 1. Add the fee`.
        let is_nested = item_of(rest).is_some_and(|item| item.is_dash) || key_of(rest).is_some();
        if is_nested {
            // The rest of the line is read as if it were a line of its own.
            let offset = line.text.len() - rest.len();
            let inner = Line {
                column: line.column + offset,
                text: rest,
                ..line
            };
            if let Some(current) = self.lines.get_mut(self.at) {
                *current = inner;
            }
            return self.block(inner, Some(line.column));
        }

        self.at += 1;
        let value = self.value(line, rest, line.column, None);
        Tree {
            line: line.number,
            ..value
        }
    }

    /// Reads the value after a key or a dash in this column.
    fn value(
        &mut self,
        line: Line<'t>,
        rest: &'t str,
        column: usize,
        outer: Option<usize>,
    ) -> Tree {
        if !rest.is_empty() && !rest.starts_with('#') {
            let node = self.scalar(line, rest, column);
            return Tree::new(line.number, node);
        }

        let is_key = !line.text.starts_with("- ") && line.text != "-";
        let is_inside = |next: &Line<'_>| match outer {
            Some(outer) => next.column > outer,
            None => next.column >= column,
        };
        match self.next_line() {
            // The items of a list may be in the column of its key.
            Some(next) if is_key && item_of(next.text).is_some() && is_inside(&next) => {
                let least = next.column.min(column);
                self.nested(next, |reader| reader.list(next.column, Some(least)))
            }
            Some(next) if next.column > column => self.block(next, Some(column)),
            _ => {
                self.ends_in_text = true;
                Tree::new(line.number, Node::Plain(String::new()))
            }
        }
    }

    /// Reads what isn't a block: a text, a number, or what is in brackets.
    fn scalar(&mut self, line: Line<'t>, rest: &'t str, column: usize) -> Node {
        self.ends_in_text = true;
        match rest.chars().next() {
            Some(style @ ('|' | '>')) if is_header(rest) => self.block_text(style, rest, column),
            Some(quote @ ('"' | '\'')) => self.quoted(line, rest, quote, column),
            Some('[' | '{') => self.brackets(line, rest, column),
            _ => self.plain(line, rest, column),
        }
    }

    /// Returns the line after those that are right of a column.
    fn end_of_region(&mut self, column: usize) -> usize {
        // Many quotes in one block would be looked up to its end each, in quadratic time.
        let (of, end) = self.region;
        if of == column && end > self.at {
            return end;
        }

        let rest = self.lines.get(self.at..).unwrap_or_default();
        let inside = rest.iter().take_while(|line| {
            line.text.is_empty() || line.column > column || line.text.starts_with([']', '}'])
        });
        let end = self.at + inside.count();
        self.region = (column, end);
        end
    }

    /// Returns the text from the rest of a line to the beginning of another one.
    fn slice(&self, line: Line<'t>, rest: &str, end: usize) -> (usize, &'t str) {
        let content = line.start + line.raw.trim_end().len();
        let start = content.saturating_sub(rest.len());
        let end = self
            .lines
            .get(end)
            .map_or(self.text.len(), |next| next.start);
        (start, self.text.get(start..end).unwrap_or_default())
    }

    fn brackets(&mut self, line: Line<'t>, rest: &'t str, column: usize) -> Node {
        let end = self.end_of_region(column);
        let (start, text) = self.slice(line, rest, end);
        let mut parsed = json::read(text, line.number);

        // The bracket or quote is only the beginning of a text, as in `[1] says so`.
        if is_followed(text, parsed.end) {
            return self.plain(line, rest, column);
        }

        // YAML reads their beginnings as escapes.
        self.is_yaml &= with_commands(text.get(..parsed.end).unwrap_or(text)).is_none();
        let is_open = parsed.notes.is_cut;
        let is_cut = is_open && end >= self.lines.len();
        // More lines follow, so that the bracket was forgotten, and where it belongs is a guess.
        if is_open && !is_cut {
            parsed.notes.is_cut = false;
            self.notes.doubt(line.number, "a bracket isn't closed");
        }
        self.notes.absorb(parsed.notes);
        self.pass(start + parsed.end);
        self.ends_in_text = is_cut;
        as_written(parsed.tree).node
    }

    /// Passes the lines that begin before an offset.
    fn pass(&mut self, offset: usize) {
        while self
            .lines
            .get(self.at)
            .is_some_and(|next| next.start < offset)
        {
            self.at += 1;
        }
    }

    fn quoted(&mut self, line: Line<'t>, rest: &'t str, quote: char, column: usize) -> Node {
        let end = self.end_of_region(column);
        let (start, text) = self.slice(line, rest, end);
        let inner = text.get(1..).unwrap_or_default();
        let Some(length) = end_of_quote(inner, quote) else {
            self.notes.is_cut |= end >= self.lines.len();
            self.notes.doubt(line.number, "a quote isn't closed");
            self.pass(start + text.len());
            return Node::Text(in_quotes(inner.trim_end(), quote));
        };

        if is_followed(inner, length + 1) {
            // JSON without its brackets looks like YAML.
            if rest.ends_with("\",") {
                self.notes.doubt(line.number, "a comma follows a text");
            }
            return self.plain(line, rest, column);
        }

        self.pass(start + length + 2);
        self.ends_in_text = false;
        let body = inner.get(..length).unwrap_or_default();
        let doubled = with_commands(body).filter(|_| quote == '"');
        if let Some(doubled) = doubled {
            self.is_yaml = false;
            let what = "kept the commands of LaTeX in a text";
            self.repair(RepairKind::Quotes, line.number, what);
            return Node::Text(in_quotes(&doubled, quote));
        }
        Node::Text(in_quotes(body, quote))
    }

    fn plain(&mut self, line: Line<'t>, rest: &'t str, column: usize) -> Node {
        let first = without_comment(rest);
        let mut text = first.to_owned();
        self.put_in_quotes(line, first, is_quoted_in_part(first));

        let mut blank_lines = 0;
        while let Some(next) = self.lines.get(self.at).copied() {
            if next.text.is_empty() {
                blank_lines += 1;
                self.at += 1;
                continue;
            }
            let is_key = key_of(next.text).is_some_and(|(key, _)| self.words.is_known(&key));
            if next.column <= column || is_key || next.text.starts_with('#') {
                break;
            }

            // YAML would refuse the line, so that its lines are those of the text.
            let part = next.text;
            if self.put_in_quotes(next, part, false) {
                text.push('\n');
            } else {
                push_breaks(&mut text, blank_lines);
            }
            text.push_str(part);
            blank_lines = 0;
            self.at += 1;
        }

        // A number or a text may go on, but `true` can't.
        if is_complete_literal(&text) {
            self.ends_in_text = false;
        }
        Node::Plain(text)
    }

    /// Reports a part of a text that needs quotes in YAML. Returns whether it does.
    fn put_in_quotes(&mut self, line: Line<'t>, part: &str, is_sign: bool) -> bool {
        let has_comment = part.contains(" #");
        let is_reported = has_comment || has_colon(part) || is_sign;
        // YAML would cut the text off there, while models mean the sign.
        self.is_yaml &= !has_comment;
        if is_reported {
            self.repair(RepairKind::Quotes, line.number, "put a text in quotes");
        }
        is_reported
    }

    /// Reads a text of lines, after `|` or `>`.
    fn block_text(&mut self, style: char, header: &str, column: usize) -> Node {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let is_inside = |line: &&Line<'_>| line.text.is_empty() || line.column > column;
        let lines: Vec<Line<'t>> = rest.iter().take_while(is_inside).copied().collect();
        self.at += lines.len();

        let first = lines.iter().find(|line| !line.text.is_empty());
        let next = rest.get(lines.len()).filter(|_| first.is_none());
        let is_structure = |text: &str| key_of(text).is_some() || item_of(text).is_some();
        if let Some(next) = next.filter(|next| !is_structure(next.text)) {
            self.notes.doubt(next.number, "a text is in a wrong column");
        }

        let explicit = header.chars().find_map(|digit| digit.to_digit(10));
        let indent = match explicit {
            Some(digit) => column + digit as usize,
            None => first.map_or(0, |line| line.column),
        };
        let content: Vec<&str> = lines
            .iter()
            // A line that is indented less is a fault of YAML, and keeps its first words.
            .map(|line| line.raw.get(indent.min(line.column)..).unwrap_or_default())
            .collect();
        Node::Text(joined(&content, style, header))
    }
}

/// Returns a value with its numbers as they are elsewhere in YAML, where they may be texts.
fn as_written(tree: Tree) -> Tree {
    let node = match tree.node {
        Node::Number(number) => Node::Plain(number),
        Node::List(items) => Node::List(items.into_iter().map(as_written).collect()),
        Node::Object(entries) => {
            let entries = entries.into_iter();
            Node::Object(
                entries
                    .map(|(key, value)| (key, as_written(value)))
                    .collect(),
            )
        }
        node => node,
    };
    Tree { node, ..tree }
}

/// Joins the lines of a block as its header asks for.
fn joined(lines: &[&str], style: char, header: &str) -> String {
    let sign: String = header.matches(['+', '-']).collect();
    // The first line may begin with blanks, so that its column is told.
    let block = format!("{style}1{sign}\n {}\n", lines.join("\n "));
    serde_yaml::from_str(&block).unwrap_or_else(|_| lines.join("\n"))
}
