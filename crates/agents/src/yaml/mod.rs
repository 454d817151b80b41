//! Reads YAML within limits, as JSON, and marks the place of every value.
//!
//! A typed deserializer stops at the first problem. With the places kept beside the value, all
//! problems can be reported at once, each with its line and column.

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
        values: 0,
        bytes: 0,
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
    /// The number of values so far.
    values: usize,
    /// The number of bytes of texts with variables so far.
    bytes: usize,
    /// Where the last event begins.
    place: Place,
    /// The path of the value that is being read.
    path: String,
    /// The number of collections around it.
    depth: usize,
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
                let hint = hint(line.unwrap_or_default(), error.info());
                let message = format!("no YAML from here on: {}{hint}", one_line(error.info()));

                self.problems.push_at(place, "", message);
                Err(Fatal)
            }
        }
    }

    /// Reads the value that begins with an event, and that may have a key.
    fn value(&mut self, event: Event<'r>, key: Option<Place>) -> Result<Json, Fatal> {
        let place = self.place;
        let key = key.unwrap_or(place);

        self.values += 1;
        if self.values > MAX_VALUES {
            let message = format!("the file has more than {MAX_VALUES} values; expected fewer");
            return self.fatal(message);
        }

        // The numbers are those of anchors: 0 is none.
        let (value, variables) = match event {
            Event::Scalar(text, style, 0, None) => self.scalar(text, style)?,
            Event::SequenceStart(0, None) => (self.list()?, Vec::new()),
            Event::MappingStart(0, None) => (self.map()?, Vec::new()),
            _ => return self.not_plain(),
        };

        let mark = Mark {
            place,
            key,
            variables,
        };
        self.problems.mark(&self.path, mark);
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
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(&text),
            _ => Json::String(text.into_owned()),
        };

        // Only texts have variables: a number from the environment would be a text, too.
        let text = match value {
            Json::String(text) if text.contains('$') => text,
            value => return Ok((value, Vec::new())),
        };
        let filled = fill(&text, self.environment, self.secrets);
        for problem in filled.problems {
            self.problems.push_at(self.place, &self.path, problem);
        }

        // A short variable may have a long value.
        self.bytes += filled.text.len();
        if self.bytes > MAX_TEXT {
            let message = format!(
                "the texts of the file, with variables, come to more than {MAX_TEXT} bytes; expected fewer"
            );
            return self.fatal(message);
        }
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
            let key = match self.next()? {
                Event::MappingEnd => {
                    self.depth -= 1;
                    return Ok(Json::Object(entries));
                }
                Event::Scalar(text, _, 0, None) => text.into_owned(),
                Event::Scalar(..) | Event::Alias(_) => return self.not_plain(),
                _ => return self.fatal("a collection is used as a key; expected a text"),
            };
            let place = self.place;
            let path = below(&self.path, &key);
            let first = places.get(&key).copied();
            if let Some(first) = first {
                let (key, line) = (Name(&key), first.line);
                let message =
                    format!("the key `{key}` is repeated here; it is already in line {line}");
                self.problems.push_at(place, &path, message);
            }

            let event = self.next()?;
            let value = self.below(path, event, Some(place))?;
            // The first of repeated keys is used, to find further problems.
            if first.is_none() {
                places.insert(key.clone(), place);
                entries.insert(key, value);
            }
        }
    }

    /// Begins a collection.
    fn begin(&mut self) -> Result<(), Fatal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("this is nested deeper than {MAX_DEPTH} levels; expected fewer");
            return self.fatal(message);
        }
        Ok(())
    }

    fn fatal<T>(&mut self, message: impl Into<String>) -> Result<T, Fatal> {
        self.problems.push_at(self.place, &self.path, message);
        Err(Fatal)
    }

    /// Refuses a value that is written by a tag, an anchor or an alias.
    fn not_plain<T>(&mut self) -> Result<T, Fatal> {
        self.fatal(
            "there is a tag, an anchor or an alias here; expected the value itself, or a text that begins with `!`, `&` or `*` in quotes",
        )
    }
}

/// Returns the end of a message about a line that is not YAML: what to change, if that is likely.
fn hint(line: &str, info: &str) -> &'static str {
    if line.contains('\t') {
        "; expected spaces in place of tabs"
    } else if line.contains("${") && info.contains("flow mapping") {
        "; inside { } and [ ] expected `\"${NAME}\"`, in quotes"
    } else {
        "; if this is a text with special characters, put it in quotes, and double each `'` in it: `'a: b'`"
    }
}

fn place(marker: &Marker) -> Place {
    Place {
        line: marker.line().max(1),
        // The parser counts columns from 0, and editors from 1.
        column: marker.col() + 1,
    }
}
