use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

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
        environment,
        secrets,
        problems,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        document: None,
        values: MAX_VALUES,
        text: MAX_TEXT,
    };

    reader.read(text)
}

struct Reader<'r> {
    environment: &'r Environment,
    secrets: &'r Secrets,
    problems: &'r mut Problems,
    /// The collections that contain the current place.
    open: Vec<Open>,
    anchors: BTreeMap<usize, Tree>,
    document: Option<Tree>,
    /// The remainder of each budget.
    values: usize,
    text: usize,
}

struct Open {
    place: Place,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Tree>),
    Map {
        entries: Vec<Entry>,
        key: Option<(String, Place)>,
        /// The keys read so far, with their places.
        known: BTreeMap<String, Place>,
        /// Whether the value is dropped, because its key is a duplicate or a merge key.
        skipped: bool,
    },
}

/// A problem that makes it impossible to read the rest.
struct Fatal;

impl Reader<'_> {
    fn read(mut self, text: &str) -> Option<Tree> {
        let mut parser = Parser::new_from_str(text);
        let mut documents = 0;

        while let Some(event) = parser.next_event() {
            let (event, place) = match event {
                Ok((event, span)) => (event, place(&span.start)),
                Err(error) => {
                    self.syntax(text, place(error.marker()), error.info());
                    return None;
                }
            };

            let read = match event {
                Event::DocumentStart(_) if documents > 0 => {
                    self.fatal(place, "a second document begins here; expected one a file")
                }
                Event::DocumentStart(_) => {
                    documents += 1;
                    Ok(())
                }
                Event::Scalar(_, _, _, Some(_))
                | Event::SequenceStart(_, Some(_))
                | Event::MappingStart(_, Some(_)) => self.fatal(
                    place,
                    "there is a tag here; expected a value without one, or a text that begins with `!` in quotes",
                ),
                Event::Scalar(text, style, anchor, None) => self.scalar(place, text, style, anchor),
                Event::SequenceStart(anchor, None) => {
                    self.begin(place, anchor, Inside::List(Vec::new()))
                }
                Event::MappingStart(anchor, None) => {
                    let map = Inside::Map {
                        entries: Vec::new(),
                        key: None,
                        known: BTreeMap::new(),
                        skipped: false,
                    };
                    self.begin(place, anchor, map)
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(),
                Event::Alias(anchor) => self.alias(place, anchor),
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {
                    Ok(())
                }
            };

            if read.is_err() {
                return None;
            }
        }

        Some(self.document.unwrap_or(Tree {
            place: Place::START,
            value: Value::Null,
        }))
    }

    fn scalar(
        &mut self,
        place: Place,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
    ) -> Result<(), Fatal> {
        self.spend(place, 1, text.len())?;
        if let Some(Inside::Map {
            key: key @ None,
            known,
            skipped,
            ..
        }) = self.open.last_mut().map(|open| &mut open.inside)
        {
            let text = text.into_owned();
            let before = known.get(&text).copied();
            let merges = style == ScalarStyle::Plain && text == "<<";
            *skipped = before.is_some() || merges;
            known.entry(text.clone()).or_insert(place);
            *key = Some((text.clone(), place));

            if let Some(before) = before {
                let message = format!(
                    "the key `{}` is repeated here; it is already in line {}",
                    Name(&text),
                    before.line
                );
                self.found(place, message);
            } else if merges {
                self.found(
                    place,
                    "merges are not read; expected the keys themselves, or an alias for the whole value",
                );
            }

            return Ok(());
        }

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
                Err(too_many) => return self.fatal(place, too_many.to_string()),
            };
            for problem in filled.problems {
                self.found(place, problem);
            }

            self.spend(place, 0, filled.text.len())?;
            (*value, *variables) = (filled.text, filled.variables);
        }

        self.put(Tree { place, value }, anchor)
    }

    fn begin(&mut self, place: Place, anchor: usize, inside: Inside) -> Result<(), Fatal> {
        self.spend(place, 1, 0)?;
        self.value_here(place, "a collection")?;
        if self.open.len() >= MAX_DEPTH {
            return self.fatal(
                place,
                format!("this is nested deeper than {MAX_DEPTH} levels; expected fewer"),
            );
        }

        self.open.push(Open {
            place,
            anchor,
            inside,
        });

        Ok(())
    }

    fn end(&mut self) -> Result<(), Fatal> {
        let Some(Open {
            place,
            anchor,
            inside,
        }) = self.open.pop()
        else {
            return Ok(());
        };

        let value = match inside {
            Inside::List(items) => Value::List(items),
            Inside::Map { entries, .. } => Value::Map(entries),
        };
        self.put(Tree { place, value }, anchor)
    }

    fn alias(&mut self, place: Place, anchor: usize) -> Result<(), Fatal> {
        self.value_here(place, "an alias")?;
        let Some(tree) = self.anchors.get(&anchor).cloned() else {
            return self.fatal(
                place,
                "the alias is inside the value that it repeats; expected it after that value",
            );
        };

        let (values, bytes, depth) = tree.size();
        self.spend(place, values, bytes)?;
        if self.open.len() + depth > MAX_DEPTH {
            return self.fatal(
                place,
                format!("this is nested deeper than {MAX_DEPTH} levels; expected fewer"),
            );
        }

        self.put(tree, 0)
    }

    /// Adds a complete value at the current place.
    fn put(&mut self, tree: Tree, anchor: usize) -> Result<(), Fatal> {
        if anchor > 0 {
            // The value is kept twice, so it is counted twice.
            let (values, bytes, _) = tree.size();
            self.spend(tree.place, values, bytes)?;
            self.anchors.insert(anchor, tree.clone());
        }

        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.document = Some(tree),
            Some(Inside::List(items)) => items.push(tree),
            Some(Inside::Map {
                entries,
                key,
                skipped,
                ..
            }) => {
                if let Some((key, place)) = key.take().filter(|_| !*skipped) {
                    entries.push(Entry {
                        key,
                        place,
                        value: tree,
                    });
                }
            }
        }

        Ok(())
    }

    /// Checks that a value and not a key is expected here, because only scalars can be keys.
    fn value_here(&mut self, place: Place, what: &str) -> Result<(), Fatal> {
        match self.open.last().map(|open| &open.inside) {
            Some(Inside::Map { key: None, .. }) => {
                self.fatal(place, format!("{what} is used as a key; expected a text"))
            }
            _ => Ok(()),
        }
    }

    fn spend(&mut self, place: Place, values: usize, bytes: usize) -> Result<(), Fatal> {
        match (self.values.checked_sub(values), self.text.checked_sub(bytes)) {
            (Some(values), Some(text)) => {
                (self.values, self.text) = (values, text);
                Ok(())
            }
            (None, _) => {
                self.fatal(place, format!("the file has more than {MAX_VALUES} values; expected fewer"))
            }
            (_, None) => self.fatal(
                place,
                format!(
                    "the texts of the file, with aliases and variables, come to more than {MAX_TEXT} bytes; expected fewer"
                ),
            ),
        }
    }

    fn path(&self) -> Path {
        self.open
            .iter()
            .fold(Path::default(), |path, open| match &open.inside {
                Inside::List(items) => path.index(items.len()),
                Inside::Map {
                    key: Some((key, _)),
                    ..
                } => path.key(key.clone()),
                Inside::Map { key: None, .. } => path,
            })
    }

    fn found(&mut self, place: Place, message: impl Into<String>) {
        // Paths can be long, so they are only built if they are needed.
        if self.problems.is_full() {
            return;
        }

        let path = self.path();
        self.problems.push(Found::new(place, &path, message));
    }

    fn fatal(&mut self, place: Place, message: impl Into<String>) -> Result<(), Fatal> {
        self.found(place, message);
        Err(Fatal)
    }

    fn syntax(&mut self, text: &str, place: Place, info: &str) {
        let line = text
            .lines()
            .nth(place.line.saturating_sub(1))
            .unwrap_or_default();
        let hint = hint::about(line, info);
        let message = format!("no YAML from here on: {}{hint}", one_line(info));
        self.problems
            .push(Found::new(place, &Path::default(), message));
    }
}

fn place(marker: &Marker) -> Place {
    Place {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}
