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
        write_flow(f, self.0, "n", 1)
    }
}

/// `id` begins the ids of the flow's nodes: `n` at the top, `n2_` inside its third place.
fn write_flow(f: &mut fmt::Formatter<'_>, wiring: &Wiring, id: &str, depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    writeln!(f, "{indent}{id}start(( )) --> {id}{}", wiring.start)?;
    for (index, place) in wiring.places.iter().enumerate() {
        let name = Escaped(&place.name);
        match &place.subflow {
            None => writeln!(f, "{indent}{id}{index}[\"{name}\"]")?,
            Some(subflow) => {
                writeln!(f, "{indent}subgraph {id}{index}[\"{name}\"]")?;
                write_flow(f, subflow, &format!("{id}{index}_"), depth + 1)?;
                writeln!(f, "{indent}end")?;
            }
        }
    }
    for (index, place) in wiring.places.iter().enumerate() {
        for exit in &place.exits {
            write!(f, "{indent}{id}{index} -->|\"{}\"| {id}", Escaped(exit.action.as_str()))?;
            match exit.target {
                Target::Node(target) => writeln!(f, "{target}")?,
                Target::End => writeln!(f, "end(((end)))")?,
            }
        }
    }
    Ok(())
}

/// Text inside a quoted Mermaid label.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\n' => f.write_str("<br/>")?,
                '"' | '#' | '&' | '<' | '>' | '`' | '\\' | ';' => write!(f, "#{};", u32::from(character))?,
                _ if character.is_control() => f.write_char(' ')?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}
