//! Reads a reply in YAML.

use std::borrow::Cow;

use cogwork_text::yaml::YamlGuard;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::tree::{Node, Tree};

/// The maximum nesting of a reply.
const MAX_NESTING: usize = 64;

/// Reads a text with one YAML document. `line` is its first line in the reply.
///
/// # Errors
///
/// Returns the line and what is wrong there.
pub(super) fn read(text: &str, line: usize) -> Result<Tree, (usize, String)> {
    let guard = YamlGuard::new(MAX_NESTING);
    if let Err(refusal) = guard.check(text) {
        let at = line + refusal.line(text) - 1;
        return Err((at, refusal.reason.to_string()));
    }

    // The parser places what is missing at the end on the line after it.
    let last = line + text.trim_end().matches(['\n', '\r']).count();

    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = line + error.marker().line().saturating_sub(1);
            (at.min(last), error.info().to_owned())
        })?;

        let at = line + line_of(&span).saturating_sub(1);
        builder
            .take(event, at)
            .map_err(|what| (at, what.to_owned()))?;
    }

    builder
        .root
        .ok_or((line, "the YAML has no value".to_owned()))
}

fn line_of(span: &Span) -> usize {
    span.start.line()
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Tree>,
}

enum Open {
    List(usize, Vec<Tree>),
    Object(usize, Vec<(String, Tree)>, Option<String>),
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, _, _) => self.scalar(text, style, line),
            Event::SequenceStart(..) => {
                self.open.push(Open::List(line, Vec::new()));
                Ok(())
            }
            Event::MappingStart(..) => {
                self.open.push(Open::Object(line, Vec::new(), None));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(_) => Err("an alias can't be used; expected the value"),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("a second document begins here; expected one")
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        line: usize,
    ) -> Result<(), &'static str> {
        if let Some(Open::Object(_, _, key @ None)) = self.open.last_mut() {
            *key = Some(text.into_owned());
            return Ok(());
        }

        let node = match style {
            ScalarStyle::Plain => Node::Plain(text.into_owned()),
            _ => Node::Text(text.into_owned()),
        };
        self.value(Tree::new(line, node))
    }

    fn end(&mut self) -> Result<(), &'static str> {
        let tree = match self.open.pop() {
            Some(Open::List(line, items)) => Tree::new(line, Node::List(items)),
            Some(Open::Object(line, entries, _)) => Tree::new(line, Node::Object(entries)),
            None => return Ok(()),
        };
        self.value(tree)
    }

    fn value(&mut self, tree: Tree) -> Result<(), &'static str> {
        match self.open.last_mut() {
            None => self.root = Some(tree),
            Some(Open::List(_, items)) => items.push(tree),
            Some(Open::Object(_, entries, key)) => {
                let key = key.take();
                entries.push((key.ok_or("a key is not a text")?, tree));
            }
        }
        Ok(())
    }
}
