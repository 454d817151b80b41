use std::fmt::{self, Write};

use crate::wiring::{Target, Wiring};

/// A flow as a Mermaid flowchart, written by `Display`; made by [`Flow::mermaid`](crate::Flow::mermaid).
///
/// Subflows are boxes around their nodes. Names and labels are escaped, so any text is drawn as it is.
#[derive(Debug, Clone, Copy)]
pub struct Mermaid<'f>(&'f Wiring);

impl<'f> Mermaid<'f> {
    pub(crate) fn new(wiring: &'f Wiring) -> Self {
        Self(wiring)
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        write_flow(f, self.0, 1, &mut 0)
    }
}

/// `numbered` counts the nodes that have an id already. Ids are numbers and not paths, and the
/// indentation stops growing, so that a deep flow is drawn in space linear in its nodes.
fn write_flow(
    f: &mut fmt::Formatter<'_>,
    wiring: &Wiring,
    depth: usize,
    numbered: &mut usize,
) -> fmt::Result {
    let indent = "    ".repeat(depth.min(8));
    let first = *numbered;
    *numbered += wiring.places.len();
    writeln!(f, "{indent}start{first}(( )) --> n{}", first + wiring.start)?;
    for (id, place) in (first..).zip(&wiring.places) {
        let name = Escaped(&place.name);
        match &place.subflow {
            None => writeln!(f, "{indent}n{id}[\"{name}\"]")?,
            Some(subflow) => {
                writeln!(f, "{indent}subgraph n{id}[\"{name}\"]")?;
                write_flow(f, subflow, depth + 1, numbered)?;
                writeln!(f, "{indent}end")?;
            }
        }
    }
    for (id, place) in (first..).zip(&wiring.places) {
        for exit in &place.exits {
            write!(f, "{indent}n{id} -->|\"{}\"| ", Escaped(exit.action.as_str()))?;
            match exit.target {
                Target::Node(target) => writeln!(f, "n{}", first + target)?,
                Target::End => writeln!(f, "end{first}(((end)))")?,
            }
        }
    }
    Ok(())
}

/// Text inside a quoted Mermaid label.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_char(' '); // an empty label does not parse
        }
        for character in self.0.chars() {
            match character {
                '\n' => f.write_str("<br/>")?,
                // `%` because `%%{…}%%` is an instruction to Mermaid wherever it stands.
                '"' | '#' | '%' | '&' | '<' | '>' | '`' | '\\' | ';' => {
                    write!(f, "#{};", u32::from(character))?
                }
                _ if character.is_control() => f.write_char(' ')?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}
