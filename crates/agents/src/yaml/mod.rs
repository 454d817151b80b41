//! Reads YAML within limits, as JSON, and marks the place of every value.
//!
//! A typed deserializer stops at the first problem. With the places kept beside the value, all
//! problems can be reported at once, each with its line and column.

mod hint;
mod scalar;

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Value as Json};

use crate::names::Name;
use crate::problems::{Mark, Place, Problems, below, item, one_line};
use crate::secrets::{Environment, MAX_TEXT, Secrets, fill};

/// Flow files are written by hand; these limits leave room for large ones.
pub(crate) const MAX_BYTES: usize = 256 * 1024;
const MAX_VALUES: usize = 20_000;
const MAX_DEPTH: usize = 32;

/// Reads a text with a single document. Adds its problems, and the places of its values. Returns
/// `None` if the text is not YAML.
pub(crate) fn read(
    text: &str,
    environment: &Environment,
    secrets: &Secrets,
    problems: &mut Problems,
) -> Option<Json> {
    if text.len() > MAX_BYTES {
        let bytes = text.len();
        let message = format!("the file has {bytes} bytes; expected at most {MAX_BYTES}");
        problems.push("", message);
        return None;
    }

    let reader = Reader {
        text,
        parser: Parser::new_from_str(text),
        environment,
        secrets,
        problems,
        anchors: BTreeMap::new(),
        budget: Size {
            values: MAX_VALUES,
            bytes: MAX_TEXT,
        },
        place: Place::START,
        path: String::new(),
        depth: 0,
    };
    reader.document().ok()
}

struct Reader<'r> {
    text: &'r str,
    parser: Parser<'r, StrInput<'r>>,
    environment: &'r Environment,
    secrets: &'r Secrets,
    problems: &'r mut Problems,
    anchors: BTreeMap<usize, Anchored>,
    /// What may still be read.
    budget: Size,
    /// Where the last event begins.
    place: Place,
    /// The path of the value that is being read.
    path: String,
    /// The number of collections around it.
    depth: usize,
}

#[derive(Clone, Copy)]
struct Size {
    values: usize,
    bytes: usize,
}

/// A value that aliases can repeat.
#[derive(Clone)]
struct Anchored {
    value: Json,
    path: String,
    size: Size,
}

/// A problem that makes it impossible to read the rest.
struct Fatal;

impl<'r> Reader<'r> {
    fn document(mut self) -> Result<Json, Fatal> {
        let mut document = None;

        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(document.unwrap_or_default()),
                Event::DocumentStart(_) if document.is_some() => {
                    return self.fatal("a second document begins here; expected one a file");
                }
                Event::Nothing
                | Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
                // The parser ends with an event after the document.
                event => document = Some(self.value(event, None)?),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'r>, Fatal> {
        match self.parser.next_event() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                self.place = place(&span.start);
                Ok(event)
            }
            Some(Err(error)) => {
                let place = place(error.marker());
                let line = self.text.lines().nth(place.line.saturating_sub(1));
                let hint = hint::about(line.unwrap_or_default(), error.info());
                let message = format!("no YAML from here on: {}{hint}", one_line(error.info()));

                self.problems.push_at(place, "", message);
                Err(Fatal)
            }
        }
    }

    /// Reads the value that begins with an event, and that may have a key.
    fn value(&mut self, event: Event<'r>, key: Option<Place>) -> Result<Json, Fatal> {
        // What the value takes is what an alias of it takes again.
        let before = self.budget;
        let place = self.place;
        let key = key.unwrap_or(place);

        let (value, variables, anchor) = match event {
            Event::Scalar(text, style, anchor, None) => {
                let (value, variables) = self.scalar(text, style)?;
                (value, variables, anchor)
            }
            Event::SequenceStart(anchor, None) => (self.list()?, Vec::new(), anchor),
            Event::MappingStart(anchor, None) => (self.map()?, Vec::new(), anchor),
            Event::Alias(anchor) => return self.alias(anchor, key),
            _ => return self.tag(),
        };

        let mark = Mark {
            place,
            key,
            variables,
        };
        self.problems.mark(&self.path, mark);

        if anchor > 0 {
            let size = Size {
                values: before.values.saturating_sub(self.budget.values),
                bytes: before.bytes.saturating_sub(self.budget.bytes),
            };
            // The value is kept twice, so it is counted twice.
            self.spend(size)?;
            let anchored = Anchored {
                value: value.clone(),
                path: self.path.clone(),
                size,
            };
            self.anchors.insert(anchor, anchored);
        }
        Ok(value)
    }

    /// Reads the value that begins with an event at a path below.
    fn below(&mut self, path: String, event: Event<'r>, key: Option<Place>) -> Result<Json, Fatal> {
        let outer = std::mem::replace(&mut self.path, path);
        let value = self.value(event, key)?;
        self.path = outer;
        Ok(value)
    }

    /// Returns the value of a scalar, and the variables in it.
    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
    ) -> Result<(Json, Vec<String>), Fatal> {
        self.spend(Size::of_text(&text))?;
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(&text),
            _ => Json::String(text.into_owned()),
        };

        // Only texts have variables: a number from the environment would be a text, too.
        let text = match value {
            Json::String(text) if text.contains('$') => text,
            value => return Ok((value, Vec::new())),
        };
        let filled = match fill(&text, self.environment, self.secrets) {
            Ok(filled) => filled,
            Err(too_many) => return self.fatal(too_many),
        };
        for problem in filled.problems {
            self.problems.push_at(self.place, &self.path, problem);
        }

        // A short variable may have a long value.
        self.spend(Size {
            values: 0,
            bytes: filled.text.len(),
        })?;
        Ok((Json::String(filled.text), filled.variables))
    }

    fn list(&mut self) -> Result<Json, Fatal> {
        self.begin()?;
        let mut items = Vec::new();

        loop {
            let event = self.next()?;
            if event == Event::SequenceEnd {
                self.depth -= 1;
                return Ok(Json::Array(items));
            }

            let path = item(&self.path, items.len());
            items.push(self.below(path, event, None)?);
        }
    }

    fn map(&mut self) -> Result<Json, Fatal> {
        self.begin()?;
        let mut entries = Map::new();
        let mut places: BTreeMap<String, Place> = BTreeMap::new();

        loop {
            let (key, style) = match self.next()? {
                Event::MappingEnd => {
                    self.depth -= 1;
                    return Ok(Json::Object(entries));
                }
                Event::Scalar(text, style, _, None) => (text.into_owned(), style),
                Event::Scalar(_, _, _, Some(_)) => return self.tag(),
                Event::Alias(_) => {
                    return self.fatal("an alias is used as a key; expected a text");
                }
                _ => return self.fatal("a collection is used as a key; expected a text"),
            };
            self.spend(Size::of_text(&key))?;

            let place = self.place;
            let path = below(&self.path, &key);
            let is_merge = style == ScalarStyle::Plain && key == "<<";
            let first = places.get(&key).copied();
            if let Some(first) = first {
                let (key, line) = (Name(&key), first.line);
                let message =
                    format!("the key `{key}` is repeated here; it is already in line {line}");
                self.problems.push_at(place, &path, message);
            } else if is_merge {
                let message = "merges are not read; expected the keys themselves, or an alias for the whole value";
                self.problems.push_at(place, &path, message);
            }

            let event = self.next()?;
            let value = self.below(path, event, Some(place))?;
            // The first of repeated keys is used, to find further problems.
            if first.is_none() && !is_merge {
                places.insert(key.clone(), place);
                entries.insert(key, value);
            }
        }
    }

    /// Begins a collection.
    fn begin(&mut self) -> Result<(), Fatal> {
        self.spend(Size::of_text(""))?;
        self.check_depth(1)?;
        self.depth += 1;
        Ok(())
    }

    fn alias(&mut self, anchor: usize, key: Place) -> Result<Json, Fatal> {
        let Some(Anchored { value, path, size }) = self.anchors.get(&anchor).cloned() else {
            return self.fatal(
                "the alias is inside the value that it repeats; expected it after that value",
            );
        };

        self.spend(size)?;
        // An alias can be deeper than the place where it is used allows.
        self.check_depth(levels(&value))?;
        self.problems.mark_alias(&self.path, key, &path);
        Ok(value)
    }

    fn check_depth(&mut self, levels: usize) -> Result<(), Fatal> {
        if self.depth + levels > MAX_DEPTH {
            let message = format!("this is nested deeper than {MAX_DEPTH} levels; expected fewer");
            return self.fatal(message);
        }
        Ok(())
    }

    fn spend(&mut self, size: Size) -> Result<(), Fatal> {
        let Size { values, bytes } = self.budget;
        let Some(values) = values.checked_sub(size.values) else {
            let message = format!("the file has more than {MAX_VALUES} values; expected fewer");
            return self.fatal(message);
        };
        let Some(bytes) = bytes.checked_sub(size.bytes) else {
            let message = format!(
                "the texts of the file, with aliases and variables, come to more than {MAX_TEXT} bytes; expected fewer"
            );
            return self.fatal(message);
        };

        self.budget = Size { values, bytes };
        Ok(())
    }

    fn fatal<T>(&mut self, message: impl Into<String>) -> Result<T, Fatal> {
        self.problems.push_at(self.place, &self.path, message);
        Err(Fatal)
    }

    fn tag<T>(&mut self) -> Result<T, Fatal> {
        self.fatal(
            "there is a tag here; expected a value without one, or a text that begins with `!` in quotes",
        )
    }
}

impl Size {
    fn of_text(text: &str) -> Self {
        Self {
            values: 1,
            bytes: text.len(),
        }
    }
}

/// Returns the number of levels of a value, including itself.
fn levels(value: &Json) -> usize {
    let below = match value {
        Json::Array(items) => items.iter().map(levels).max(),
        Json::Object(entries) => entries.values().map(levels).max(),
        _ => None,
    };
    below.unwrap_or_default() + 1
}

fn place(marker: &Marker) -> Place {
    Place {
        line: marker.line().max(1),
        // The parser counts columns from 0, and editors from 1.
        column: marker.col() + 1,
    }
}
