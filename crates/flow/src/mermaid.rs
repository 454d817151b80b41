use std::fmt::{self, Write};

use crate::wiring::{Inside, Place, Target, Wiring};

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
    let first = *numbered;
    *numbered += wiring.places.len();
    write_start(f, wiring, depth, first)?;
    for (id, place) in (first..).zip(&wiring.places) {
        write_place(f, place, depth, id)?;
        match &place.inside {
            Inside::Node | Inside::Wait { .. } | Inside::Sleep | Inside::Batch { .. } => continue,
            Inside::Subflow(flow) | Inside::Each { flow, .. } => write_flow(f, flow, depth + 1, numbered)?,
            Inside::Branches(branches) => {
                for (index, (name, flow)) in branches.iter().enumerate() {
                    write_box(f, depth + 1, format_args!("n{id}b{index}[\"{}\"]", Escaped(name)))?;
                    write_flow(f, flow, depth + 2, numbered)?;
                    write_line(f, depth + 1, "end")?;
                }
            }
        }
        write_line(f, depth, "end")?;
    }
    write_exits(f, wiring, depth, first)
}

// What follows is kept out of `write_flow`, whose stack each level of subflows costs once more.

fn write_line(f: &mut fmt::Formatter<'_>, depth: usize, line: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{}{line}", "    ".repeat(depth.min(8)))
}

fn write_box(f: &mut fmt::Formatter<'_>, depth: usize, label: impl fmt::Display) -> fmt::Result {
    write_line(f, depth, format_args!("subgraph {label}"))
}

fn write_start(f: &mut fmt::Formatter<'_>, wiring: &Wiring, depth: usize, first: usize) -> fmt::Result {
    write_line(f, depth, format_args!("start{first}(( )) --> n{}", first + wiring.start))
}

/// A node, or the beginning of the box around the flows in its place.
fn write_place(f: &mut fmt::Formatter<'_>, place: &Place, depth: usize, id: usize) -> fmt::Result {
    let name = Escaped(&place.name);
    match &place.inside {
        Inside::Node => write_line(f, depth, format_args!("n{id}[\"{name}\"]")),
        Inside::Wait { event } => {
            write_line(f, depth, format_args!("n{id}[/\"{name}: waits for {}\"/]", Escaped(event)))
        }
        Inside::Sleep => write_line(f, depth, format_args!("n{id}[/\"{name}: sleeps\"/]")),
        Inside::Batch { at_most } => {
            write_line(f, depth, format_args!("n{id}[[\"{name}: each item, at most {at_most} at a time\"]]"))
        }
        Inside::Subflow(_) => write_box(f, depth, format_args!("n{id}[\"{name}\"]")),
        Inside::Each { at_most, .. } => {
            write_box(f, depth, format_args!("n{id}[\"{name}: each item, at most {at_most} at a time\"]"))
        }
        Inside::Branches(_) => write_box(f, depth, format_args!("n{id}[\"{name}: side by side\"]")),
    }
}

fn write_exits(f: &mut fmt::Formatter<'_>, wiring: &Wiring, depth: usize, first: usize) -> fmt::Result {
    for (id, place) in (first..).zip(&wiring.places) {
        for exit in &place.exits {
            let label = Escaped(exit.action.as_str());
            match exit.target {
                Target::Node(target) => {
                    write_line(f, depth, format_args!("n{id} -->|\"{label}\"| n{}", first + target))?;
                }
                Target::End => {
                    write_line(f, depth, format_args!("n{id} -->|\"{label}\"| end{first}(((end)))"))?
                }
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
