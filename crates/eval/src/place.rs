//! The lines and columns of the values of a suite.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser};

/// The places of all values of a YAML text, by their paths, such as `arms[2].config.strategy`.
#[derive(Default)]
pub(crate) struct Places(HashMap<String, (usize, usize)>);

/// What is being read: a list with the number of its items, or a mapping with its key.
enum Level {
    List(usize),
    Mapping(Option<String>),
}

impl Places {
    /// Reads the places of a text. The text was already read as YAML, so what isn't is left out.
    pub(crate) fn of(text: &str) -> Self {
        let mut places = Self::default();
        let mut path: Vec<Level> = Vec::new();

        for read in Parser::new_from_str(text) {
            let Ok((event, span)) = read else { break };
            let scalar = match &event {
                Event::Scalar(text, ..) => Some(text.to_string()),
                Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..) => None,
                Event::SequenceEnd | Event::MappingEnd => {
                    path.pop();
                    step(&mut path);
                    continue;
                }
                _ => continue,
            };

            if let (Some(Level::Mapping(key @ None)), Some(text)) = (path.last_mut(), &scalar) {
                *key = Some(text.clone());
                continue;
            }

            let at = (span.start.line(), span.start.col() + 1);
            places.0.insert(written(&path), at);
            match event {
                Event::SequenceStart(..) => path.push(Level::List(0)),
                Event::MappingStart(..) => path.push(Level::Mapping(None)),
                _ => step(&mut path),
            }
        }

        places
    }

    /// Returns `suite.yaml:3:7: arms[2].config: `, with the place of the value or of the one around
    /// it.
    pub(crate) fn prefix(&self, file: &str, path: &str) -> String {
        let mut around = path;
        loop {
            if let Some((line, column)) = self.0.get(around) {
                return format!("{file}:{line}:{column}: {path}: ");
            }
            let Some(end) = around.rfind(['.', '[']) else {
                return format!("{file}: {path}: ");
            };
            around = around.get(..end).unwrap_or_default();
        }
    }
}

/// Goes on to the next item or key.
fn step(path: &mut [Level]) {
    match path.last_mut() {
        Some(Level::List(items)) => *items += 1,
        Some(Level::Mapping(key)) => *key = None,
        None => {}
    }
}

fn written(path: &[Level]) -> String {
    let mut written = String::new();
    for level in path {
        match level {
            Level::List(item) => written.push_str(&format!("[{item}]")),
            Level::Mapping(Some(key)) if written.is_empty() => written.push_str(key),
            Level::Mapping(Some(key)) => written.push_str(&format!(".{key}")),
            Level::Mapping(None) => {}
        }
    }
    written
}
