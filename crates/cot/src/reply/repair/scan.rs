//! Turns lines into entries: decides which lines begin a key or a step, and which ones continue the
//! text before them. Known keys, by spelling and column, are used instead of the punctuation that
//! YAML relies on.

use cogwork_typed::ask::RepairKind;

use super::lines::Line;
use super::part::Part;
use super::quoted::closing;
use super::repairs::{Report, excerpt};
use super::text::{Value, is_block};
use super::words;
use crate::reply::keys::{self, Key, Known, Pair, Spelling, pair};

/// A key or a step, and its value.
#[derive(Debug)]
pub(super) struct Entry<'t> {
    /// The column of the preceding dash or number, if the entry begins a step.
    pub(super) dash: Option<usize>,
    pub(super) name: Name,
    pub(super) value: Value<'t>,
    /// The opening quote of the value, until it is closed.
    open_quote: Option<char>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Name {
    Key(Key),
    /// An unknown key.
    Unknown(String),
    /// No key: a step that is a bare text, or the text of a list.
    Bare,
}

impl<'t> Entry<'t> {
    fn new(
        dash: Option<usize>,
        name: Name,
        line: usize,
        column: usize,
        head: impl Into<String>,
    ) -> Self {
        let head = head.into();
        let quote = head.chars().next().filter(|c| matches!(c, '"' | '\''));
        let open_quote =
            quote.filter(|quote| closing(head.get(1..).unwrap_or_default(), *quote).is_none());

        Self {
            dash,
            name,
            value: Value::new(line, column, head),
            open_quote,
        }
    }

    fn takes_list(&self) -> bool {
        matches!(self.name, Name::Key(Key::Planning | Key::SubSteps))
    }

    /// Whether it is inside the plan, below the key `planning`.
    pub(super) fn is_in_plan(&self) -> bool {
        !matches!(
            self.name,
            Name::Key(Key::Thinking | Key::Planning | Key::Needed)
        )
    }

    pub(super) fn is_in_open_quote(&self) -> bool {
        self.open_quote.is_some()
    }

    fn push(&mut self, line: Line<'t>) {
        self.open_quote = self
            .open_quote
            .filter(|quote| closing(line.text(), *quote).is_none());
        self.value.tail.push(line);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Region {
    Before,
    Thinking,
    Plan,
    After,
}

/// The accepted spelling and column of each top-level key in this block.
struct Accepted {
    margin: usize,
    /// The closest spelling of each key, and whether it is at the margin.
    keys: Vec<(Key, Spelling, bool)>,
}

impl Accepted {
    fn of(lines: &[Line<'_>]) -> Self {
        let tops = || {
            lines
                .iter()
                .filter_map(|line| Some((line.indent, top(line.text())?)))
        };

        let spelt = || tops().filter(|(_, known)| known.spelling < Spelling::Synonym);
        let margin = spelt().map(|(indent, _)| indent).min().unwrap_or(0);
        let keys = [Key::Thinking, Key::Planning, Key::Needed]
            .into_iter()
            .filter_map(|key| {
                let of_key = tops().filter(|(_, known)| known.key == key);

                // Prefer keys at the margin, then the closest spelling. Synonyms are only accepted
                // at the margin.
                let ranked = of_key.map(|(indent, known)| (indent > margin, known.spelling));
                let (deeper, spelling) = ranked
                    .filter(|(deeper, spelling)| !deeper || *spelling < Spelling::Synonym)
                    .min()?;
                Some((key, spelling, !deeper))
            });

        Self {
            margin,
            keys: keys.collect(),
        }
    }

    fn has(&self, key: Key) -> bool {
        self.keys.iter().any(|(known, ..)| *known == key)
    }

    /// Returns the top-level key that a line begins with. Inside the thinking, an indented key
    /// needs a plausible value as well.
    fn key<'l>(&self, line: &'l Line<'_>, region: Region) -> Option<Known<'l>> {
        let known = top(line.text())?;
        let (_, spelling, at_margin) = self.keys.iter().find(|(key, ..)| *key == known.key)?;
        let deeper = line.indent > self.margin;
        let looks = match known.key {
            _ if !deeper || region != Region::Thinking => true,
            Key::Planning => known.value().is_empty() || is_opener(known.value()),
            Key::Needed => words::truth(known.value()).is_some(),
            _ => false,
        };

        (known.spelling == *spelling && (!deeper || !at_margin) && looks).then_some(known)
    }
}

fn top(text: &str) -> Option<Known<'_>> {
    let text = text.strip_prefix("- ").unwrap_or(text);
    keys::top(text)
}

/// Returns whether a value is a superfluous opener of a list that follows on the next lines.
fn is_opener(head: &str) -> bool {
    is_block(head) || matches!(head, "[" | "{" | "[{" | "-")
}

/// Returns the entries of a block, in order. Returns `None` if the reply is followed by more steps,
/// because it is unclear where they belong.
pub(super) fn scan<'t>(lines: Vec<Line<'t>>, report: &mut Report) -> Option<Vec<Entry<'t>>> {
    let accepted = Accepted::of(&lines);
    let swallowed = if accepted.has(Key::Planning) {
        None
    } else {
        swallowed(&lines)
    };

    let mut scan = Scan {
        entries: Vec::new(),
        region: Region::Before,
        prose: false,
        report,
    };

    for (index, line) in lines.into_iter().enumerate() {
        if line.is_blank() {
            if line.has_odd_blanks() {
                scan.report.add(
                    RepairKind::Blanks,
                    line.number,
                    "took a line of blanks for an empty one",
                );
            }

            if let Some(open) = scan.entries.last_mut() {
                open.push(line);
            }

            continue;
        } else if let Some(known) = accepted.key(&line, scan.region) {
            scan.top(known, &line, accepted.margin);
            continue;
        }

        if swallowed == Some(index) && scan.region == Region::Thinking {
            let what = "took the steps behind the thinking for `planning`";
            scan.report.add(RepairKind::Form, line.number, what);
            scan.region = Region::Plan;
            scan.entries.push(Entry::new(
                None,
                Name::Key(Key::Planning),
                line.number,
                0,
                "",
            ));
        }

        match scan.region {
            Region::Thinking if scan.is_unknown(&line, accepted.margin) => scan.unknown(&line),
            Region::Thinking => {
                if let Some(open) = scan.entries.last_mut() {
                    open.push(line);
                }
            }
            Region::Plan => scan.plan(line),
            Region::After
                if Item::of(&line).is_some_and(|item| keys::step(item.rest).is_some()) =>
            {
                return None;
            }
            Region::Before | Region::After => scan.outside(&line),
        }
    }

    Some(scan.entries)
}

/// Returns the first line of steps inside the thinking, if they have no key before them.
fn swallowed(lines: &[Line<'_>]) -> Option<usize> {
    let is = |line: &Line<'_>, key| {
        keys::step(Item::of(line).map_or(line.text(), |item| item.rest))
            .is_some_and(|known| known.key == key)
    };
    let first = lines
        .iter()
        .position(|line| Item::of(line).is_some() && is(line, Key::Description))?;

    lines
        .iter()
        .skip(first)
        .any(|line| is(line, Key::Status))
        .then_some(first)
}

/// The start of a step: a dash, another bullet or a number at the beginning of a line.
struct Item<'l> {
    rest: &'l str,
    /// The number of columns from the dash to the text.
    width: usize,
}

impl<'l> Item<'l> {
    fn of(line: &'l Line<'_>) -> Option<Self> {
        let text = line.text();
        let item = |rest: &'l str| {
            let trimmed = rest.trim_start();
            let width = text.chars().count() - trimmed.chars().count();
            Some(Self {
                rest: trimmed,
                width,
            })
        };

        let bullet = text.strip_prefix(['-', '*', '•', '+', '–']);

        // A known key is recognized even without the whitespace.
        let begins = |rest: &str| {
            let exact = keys::step(rest).is_some_and(|known| known.spelling == Spelling::Exact);
            rest.is_empty() || rest.starts_with(char::is_whitespace) || exact
        };
        if let Some(rest) = bullet.filter(|rest| begins(rest)) {
            return item(rest);
        }

        // `1.`, `1)`, `1:`, `step_1:`
        let bare = text.trim_start_matches(['"', '\'']);
        let word = bare
            .get(..4)
            .filter(|word| word.eq_ignore_ascii_case("step"))
            .map_or(0, str::len);
        let number = bare.get(word..)?.trim_start_matches([' ', '_', '-', '#']);
        let digits = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let behind = digits.trim_start_matches(['"', '\'']);
        let rest = behind.strip_prefix(['.', ')', ':'])?;
        let numbered = digits.len() < number.len()
            && (rest.is_empty() || rest.starts_with(char::is_whitespace));

        if numbered { item(rest) } else { None }
    }
}

const BULLET: &str = "read the text before a step as a dash";

struct Scan<'t, 'r> {
    entries: Vec<Entry<'t>>,
    region: Region,
    /// Whether text outside the reply has been reported.
    prose: bool,
    report: &'r mut Report,
}

impl<'t> Scan<'t, '_> {
    fn top(&mut self, known: Known<'_>, line: &Line<'_>, margin: usize) {
        self.drop_marker();
        self.region = match known.key {
            Key::Thinking => Region::Thinking,
            Key::Planning => Region::Plan,
            _ => Region::After,
        };

        if line.indent > margin {
            let what = format!("moved `{}` to the top level", known.key.as_str());
            self.report.add(RepairKind::Indentation, line.number, what);
        } else if line.text().starts_with('-') {
            self.report.add_part(
                RepairKind::Form,
                line.number,
                Part::First("-".to_owned()),
                format!("took `{}` out of a list", known.key.as_str()),
            );
        }

        self.begin(None, known, line, line.indent);
    }

    /// Removes a document marker between two parts of a reply from the first part.
    fn drop_marker(&mut self) {
        let Some(open) = self.entries.last_mut() else {
            return;
        };

        let last = open.value.tail.iter().rposition(|line| !line.is_blank());
        let Some(marker) = last.and_then(|last| open.value.tail.get(last)) else {
            return;
        };

        if marker.indent == 0 && matches!(marker.text(), "---" | "...") {
            self.report.add_part(
                RepairKind::Prose,
                marker.number,
                Part::First(marker.text().to_owned()),
                "left out a marker between the parts",
            );
            open.value.tail.truncate(last.unwrap_or(0));
        }
    }

    /// Begins an entry with a known key.
    fn begin(&mut self, dash: Option<usize>, known: Known<'_>, line: &Line<'_>, column: usize) {
        let Known {
            key,
            spelling,
            spaced,
            ..
        } = known;

        let value = known.value();
        if spelling != Spelling::Exact {
            let text = Item::of(line).map_or(line.text(), |item| item.rest);
            let name = pair(text).map_or("", |pair| pair.name);
            if name.trim_matches(['"', '\'']) != key.as_str() {
                self.report.add_part(
                    RepairKind::Key,
                    line.number,
                    Part::First(name.to_owned()),
                    format!("read the key `{}` as `{}`", excerpt(name), key.as_str()),
                );
            }
        }

        if !spaced && !value.is_empty() {
            let what = format!("put a colon and a blank behind `{}`", key.as_str());
            let text = Item::of(line).map_or(line.text(), |item| item.rest);
            let name = pair(text).map_or("", |pair| pair.name);
            let part = Part::First(name.to_owned());
            self.report
                .add_part(RepairKind::Key, line.number, part, what);
        }

        if line.has_odd_blanks() {
            self.report.add(
                RepairKind::Blanks,
                line.number,
                format!("indented `{}` with spaces", key.as_str()),
            );
        }

        let opener = matches!(key, Key::Planning | Key::SubSteps) && is_opener(value);
        if opener {
            let what = format!(
                "left out the `{}` behind `{}`",
                excerpt(value),
                key.as_str()
            );
            let part = Part::Last(value.to_owned());
            self.report
                .add_part(RepairKind::Form, line.number, part, what);
        }

        let head = if opener { "" } else { value };

        // The value is the rest of the line.
        let value_column = line.indent + line.text().chars().count() - value.chars().count() + 1;
        let mut entry = Entry::new(dash, Name::Key(key), line.number, column, head);
        entry.value.value_column = value_column;
        self.entries.push(entry);
    }

    /// Reports the sign with which a line begins instead of a dash.
    fn bullet(&mut self, line: &Line<'_>) {
        let sign = line.text().split_whitespace().next().unwrap_or_default();

        let part = Part::First(sign.to_owned());
        self.report
            .add_part(RepairKind::Form, line.number, part, BULLET);
    }

    fn bare(&mut self, dash: Option<usize>, line: &Line<'_>, text: &str) {
        if line.has_odd_blanks() {
            self.report.add(
                RepairKind::Blanks,
                line.number,
                "indented a step with spaces",
            );
        }

        self.entries
            .push(Entry::new(dash, Name::Bare, line.number, line.indent, text));
    }

    /// Handles a line of the plan that doesn't begin with a top-level key.
    fn plan(&mut self, line: Line<'t>) {
        let item = Item::of(&line).map(|item| (item.rest.to_owned(), item.width));
        let (text, width) = item.unwrap_or_else(|| (line.text().to_owned(), 0));
        let is_item = width > 0;
        let bullet = is_item && !line.text().starts_with("- ") && line.text() != "-";
        let dash = is_item.then_some(line.indent);
        let column = line.indent + width;
        let known = keys::step(&text);

        let Some(open) = self.entries.last_mut() else {
            return;
        };

        let list = open.takes_list();
        let deeper = line.indent > open.value.column;
        let is_text = !list && !matches!(open.name, Name::Unknown(_));
        let keyed = is_text && !matches!(open.name, Name::Bare | Name::Key(Key::Status));

        // Lines of a block scalar or of an open quote are always text.
        let in_block = open.value.is_block() && (deeper || (known.is_none() && !is_item));
        if is_text && (in_block || (known.is_none() && open.open_quote.is_some())) {
            open.push(line);
        } else if let Some(known) = known {
            if bullet {
                self.bullet(&line);
            }
            self.begin(dash, known, &line, column);
        } else if is_item {
            // Below a text, this is another line of the text, as in YAML.
            if keyed && deeper {
                open.push(line);
            } else {
                if bullet {
                    self.bullet(&line);
                }
                self.bare(dash, &line, &text);
            }
        } else if is_sign(&text) {
            let what = format!("left out `{}`", excerpt(&text));
            let part = Part::Last(text);
            self.report
                .add_part(RepairKind::Prose, line.number, part, what);
        } else if text.starts_with('#') {
            // This is a comment, as in YAML.
        } else if list
            || (open.name == Name::Bare && open.dash.is_none() && line.indent == open.value.column)
        {
            self.bare(None, &line, &text);
        } else if unknown(&text).is_some() && !deeper && open.name != Name::Bare {
            self.unknown(&line);
        } else {
            open.push(line);
        }
    }

    /// Returns whether a line after a one-line thinking begins an unknown key. After a block
    /// scalar, or with a capital letter, the line is text that isn't indented.
    fn is_unknown(&self, line: &Line<'_>, margin: usize) -> bool {
        let one_line = self
            .entries
            .last()
            .is_some_and(|open| !open.value.is_block() && !open.value.head.is_empty());
        let small = line
            .text()
            .starts_with(|c: char| c.is_ascii_lowercase() || c == '"');
        let one_word = |(name, _): (&str, &str)| !name.contains(char::is_whitespace);

        one_line && line.indent <= margin && small && unknown(line.text()).is_some_and(one_word)
    }

    /// Keeps an unknown key, so that the error describes it.
    fn unknown(&mut self, line: &Line<'_>) {
        if let Some((name, value)) = unknown(line.text()) {
            let name = Name::Unknown(name.to_owned());
            self.entries
                .push(Entry::new(None, name, line.number, line.indent, value));
        }
    }

    /// Reports text before the first key or after the last one. Comments and markers are ignored.
    fn outside(&mut self, line: &Line<'_>) {
        let text = line.text();
        if text.starts_with('#') || matches!(text, "---" | "...") {
            return;
        } else if !self.prose {
            let what = format!("left out what is no part of the reply: `{}`", excerpt(text));
            let part = Part::First(text.to_owned());
            self.report
                .add_part(RepairKind::Prose, line.number, part, what);
        }

        // Text before the reply and text after it are each reported once.
        self.prose = true;
    }
}

/// Returns whether a line consists only of a bracket, a tag or a fence, left over from something
/// that the model meant to close.
fn is_sign(text: &str) -> bool {
    let tag = text.starts_with('<') && text.ends_with('>') && !text.contains(char::is_whitespace);
    let brackets = text
        .chars()
        .all(|c| matches!(c, ']' | '}' | '[' | '{' | ','));

    tag || brackets || text.starts_with("```") || matches!(text, "---" | "...")
}

/// Returns an unknown name before a colon, and its value.
fn unknown(text: &str) -> Option<(&str, &str)> {
    let pair = pair(text)?;
    let Pair { name, spaced, .. } = pair;
    let in_quotes = name.len() > 1 && name.starts_with('"') && name.ends_with('"');
    let is_name = in_quotes
        || name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));

    (spaced && is_name && name.split_whitespace().count() <= 3).then(|| (name, pair.value()))
}
