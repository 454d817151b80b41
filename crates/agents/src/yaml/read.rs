use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::variables::{MAX_TEXT, fill};
use super::{Entry, Environment, Path, Secrets, Text, Tree, Value, hint, scalar};
use crate::Place;
use crate::problem::{Found, Problems};
use crate::quote::{Name, one_line};

/// Flow files are written by hand; these limits leave room for large ones.
pub(crate) const MAX_BYTES: usize = 256 * 1024;
const MAX_VALUES: usize = 20_000;
const MAX_DEPTH: usize = 32;

/// Reads a text with a single document and adds its problems. Returns `None` if the text is not
/// YAML.
pub(crate) fn read(
    text: &str,
    environment: &Environment,
    secrets: &Secrets,
    problems: &mut Problems,
) -> Option<Tree> {
    if text.len() > MAX_BYTES {
        let message = format!(
            "the file has {} bytes; expected at most {MAX_BYTES}",
            text.len()
        );
        problems.push(Found::new(Place::START, &Path::default(), message));
        return None;
    }

    let reader = Reader {
        text,
        parser: Parser::new_from_str(text),
        environment,
        secrets,
        problems,
        anchors: BTreeMap::new(),
        values: MAX_VALUES,
        bytes: MAX_TEXT,
    };
    reader.document().ok()
}

struct Reader<'r> {
    text: &'r str,
    parser: Parser<'r, StrInput<'r>>,
    environment: &'r Environment,
    secrets: &'r Secrets,
    problems: &'r mut Problems,
    anchors: BTreeMap<usize, Tree>,
    /// The remainder of each budget.
    values: usize,
    bytes: usize,
}

/// Where a value is.
#[derive(Clone, Copy)]
struct Here<'p> {
    place: Place,
    path: &'p Path,
    /// The number of collections around it.
    depth: usize,
}

/// A problem that makes it impossible to read the rest.
struct Fatal;

impl<'r> Reader<'r> {
    fn document(mut self) -> Result<Tree, Fatal> {
        let root = Path::default();
        let mut document = None;

        loop {
            let (event, place) = self.next()?;
            let here = Here {
                place,
                path: &root,
                depth: 0,
            };

            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) if document.is_some() => {
                    return self.fatal(here, "a second document begins here; expected one a file");
                }
                Event::Nothing
                | Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
                event => document = Some(self.value(event, here)?),
            }
        }

        Ok(document.unwrap_or(Tree {
            place: Place::START,
            value: Value::Null,
        }))
    }

    fn next(&mut self) -> Result<(Event<'r>, Place), Fatal> {
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, Place::START)),
            Some(Ok((event, span))) => Ok((event, place(&span.start))),
            Some(Err(error)) => {
                let place = place(error.marker());
                let line = self.text.lines().nth(place.line.saturating_sub(1));
                let hint = hint::about(line.unwrap_or_default(), error.info());
                let message = format!("no YAML from here on: {}{hint}", one_line(error.info()));

                self.problems
                    .push(Found::new(place, &Path::default(), message));
                Err(Fatal)
            }
        }
    }

    /// Reads the value that begins with an event.
    fn value(&mut self, event: Event<'r>, here: Here<'_>) -> Result<Tree, Fatal> {
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, None) => {
                self.spend(here, 1, text.len())?;
                (self.scalar(text, style, here)?, anchor)
            }
            Event::SequenceStart(anchor, None) => (self.list(here)?, anchor),
            Event::MappingStart(anchor, None) => (self.map(here)?, anchor),
            Event::Alias(anchor) => return self.alias(anchor, here),
            _ => return self.tag(here),
        };

        let place = here.place;
        let tree = Tree { place, value };
        if anchor > 0 {
            // The value is kept twice, so it is counted twice.
            let (values, bytes, _) = tree.size();
            self.spend(here, values, bytes)?;
            self.anchors.insert(anchor, tree.clone());
        }
        Ok(tree)
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        here: Here<'_>,
    ) -> Result<Value, Fatal> {
        let mut value = match style {
            ScalarStyle::Plain => scalar::resolve(&text),
            _ => Value::Text(Text {
                value: text.into_owned(),
                variables: Vec::new(),
            }),
        };

        if let Value::Text(Text { value, variables }) = &mut value
            && value.contains('$')
        {
            let filled = match fill(value, self.environment, self.secrets) {
                Ok(filled) => filled,
                Err(too_many) => return self.fatal(here, too_many.to_string()),
            };
            for problem in filled.problems {
                self.found(here, problem);
            }

            self.spend(here, 0, filled.text.len())?;
            (*value, *variables) = (filled.text, filled.variables);
        }
        Ok(value)
    }

    fn list(&mut self, here: Here<'_>) -> Result<Value, Fatal> {
        self.begin(here)?;
        let mut items = Vec::new();

        loop {
            let (event, place) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Value::List(items));
            }

            let below = Here {
                place,
                path: &here.path.index(items.len()),
                depth: here.depth + 1,
            };
            items.push(self.value(event, below)?);
        }
    }

    fn map(&mut self, here: Here<'_>) -> Result<Value, Fatal> {
        self.begin(here)?;
        let mut entries = Vec::new();
        let mut known: BTreeMap<String, Place> = BTreeMap::new();

        loop {
            let (event, place) = self.next()?;
            let at_key = Here { place, ..here };
            let (key, style) = match event {
                Event::MappingEnd => return Ok(Value::Map(entries)),
                Event::Scalar(text, style, _, None) => (text.into_owned(), style),
                Event::Scalar(_, _, _, Some(_)) => return self.tag(at_key),
                Event::Alias(_) => {
                    return self.fatal(at_key, "an alias is used as a key; expected a text");
                }
                _ => return self.fatal(at_key, "a collection is used as a key; expected a text"),
            };
            self.spend(at_key, 1, key.len())?;

            let path = here.path.key(key.as_str());
            let at_key = Here {
                path: &path,
                depth: here.depth + 1,
                place,
            };
            let before = known.get(&key).copied();
            let merges = style == ScalarStyle::Plain && key == "<<";
            if let Some(before) = before {
                let message = format!(
                    "the key `{}` is repeated here; it is already in line {}",
                    Name(&key),
                    before.line
                );
                self.found(at_key, message);
            } else if merges {
                self.found(
                    at_key,
                    "merges are not read; expected the keys themselves, or an alias for the whole value",
                );
            }

            let (event, place_of_value) = self.next()?;
            let below = Here {
                place: place_of_value,
                ..at_key
            };
            let value = self.value(event, below)?;
            if before.is_none() && !merges {
                known.insert(key.clone(), place);
                entries.push(Entry { key, place, value });
            }
        }
    }

    fn begin(&mut self, here: Here<'_>) -> Result<(), Fatal> {
        self.spend(here, 1, 0)?;
        self.check_depth(here, 1)
    }

    fn alias(&mut self, anchor: usize, here: Here<'_>) -> Result<Tree, Fatal> {
        let Some(tree) = self.anchors.get(&anchor).cloned() else {
            return self.fatal(
                here,
                "the alias is inside the value that it repeats; expected it after that value",
            );
        };

        let (values, bytes, depth) = tree.size();
        self.spend(here, values, bytes)?;
        self.check_depth(here, depth)?;
        Ok(tree)
    }

    fn check_depth(&mut self, here: Here<'_>, depth: usize) -> Result<(), Fatal> {
        if here.depth + depth <= MAX_DEPTH {
            return Ok(());
        }

        let message = format!("this is nested deeper than {MAX_DEPTH} levels; expected fewer");
        self.fatal(here, message)
    }

    fn spend(&mut self, here: Here<'_>, values: usize, bytes: usize) -> Result<(), Fatal> {
        match (self.values.checked_sub(values), self.bytes.checked_sub(bytes)) {
            (Some(values), Some(bytes)) => {
                (self.values, self.bytes) = (values, bytes);
                Ok(())
            }
            (None, _) => {
                let message = format!("the file has more than {MAX_VALUES} values; expected fewer");
                self.fatal(here, message)
            }
            (_, None) => self.fatal(
                here,
                format!(
                    "the texts of the file, with aliases and variables, come to more than {MAX_TEXT} bytes; expected fewer"
                ),
            ),
        }
    }

    fn found(&mut self, here: Here<'_>, message: impl Into<String>) {
        self.problems
            .push(Found::new(here.place, here.path, message));
    }

    fn fatal<T>(&mut self, here: Here<'_>, message: impl Into<String>) -> Result<T, Fatal> {
        self.found(here, message);
        Err(Fatal)
    }

    fn tag<T>(&mut self, here: Here<'_>) -> Result<T, Fatal> {
        self.fatal(
            here,
            "there is a tag here; expected a value without one, or a text that begins with `!` in quotes",
        )
    }
}

fn place(marker: &Marker) -> Place {
    Place {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}
