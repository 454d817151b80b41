//! Rewrites JSON in block style, so that all other repairs only have to handle one form. The JSON
//! may be malformed: comments, single quotes, extra or missing commas, unclosed brackets. Rewriting
//! valid JSON or YAML is not reported, but every correction is.

use super::flow_reader::{Joined, Reader};
use super::flow_text::Place;
use super::flow_writer::{Output, Writer};
use super::lines::Line;
use super::repairs::Report;
use crate::reply::keys::{self, Key};

/// Rewrites every collection in flow style in block style. `open` means that the text may end in
/// the middle of a word. Returns `None` if brackets are nested more deeply than `nesting`, or if
/// block style would take far more room.
pub(super) fn expand<'t>(
    lines: Vec<Line<'t>>,
    open: bool,
    nesting: usize,
    report: &mut Report,
) -> Option<Vec<Line<'t>>> {
    if !lines.iter().any(has_bracket) {
        return Some(lines);
    }

    let joined = Joined::new(&lines);
    let source = joined.text.as_str();
    let mut reader = Reader::new(&joined, open, nesting, report);

    let mut out = Output::for_source(source, lines.len());

    for (index, line) in lines.into_iter().enumerate() {
        let (start, end) = joined.bounds(index);
        if reader.at >= end {
            continue;
        }

        if reader.at > start {
            let rest = source.get(reader.at..end).unwrap_or_default();
            out.push_rest(&line, rest);
            continue;
        }

        let next = source.get(end..).unwrap_or_default();
        let Some((before, column)) = opens(&line, out.is_blank(), next) else {
            out.push(line);
            continue;
        };

        reader.at = start + before;
        let is_whole_block = line.text().starts_with('{');
        let node = reader.value(0, Place::Value)?;

        let mut writer = Writer::new(&mut out, source);
        if is_whole_block {
            writer.top(&node)?;
        } else {
            let text = source.get(start..start + before).unwrap_or_default().trim();
            writer.after(line.number, column, text, &node)?;
        }

        reader.leave_brackets();
    }

    Some(out.into_lines())
}

fn has_bracket(line: &Line<'_>) -> bool {
    line.text().contains(['{', '['])
}

/// Returns where in a line a collection of steps begins, and the column of its key. A `[` before
/// lines with dashes does not open a list. Only the first line can begin with a bracket; other
/// lines that do so are text.
fn opens(line: &Line<'_>, first: bool, next: &str) -> Option<(usize, usize)> {
    let text = line.text();
    let (item, column) = match text.strip_prefix('-').map(str::trim_start) {
        Some(item) if !text.starts_with("--") => (item, line.indent + 2),
        _ => (text, line.indent),
    };

    let known = keys::top(item).or_else(|| keys::step(item));
    let value = match known {
        Some(found) if matches!(found.key, Key::Planning | Key::SubSteps) => found.value(),
        Some(_) => return None,
        None => item,
    };

    let opens = match value.chars().next()? {
        '{' if known.is_none() && !text.starts_with('-') => first,
        '{' if known.is_none() => {
            let inside = skipped_blanks(value.get(1..)?);
            keys::step(inside).is_some()
        }
        '{' => true,
        '[' => known.is_some() && (value.len() > 1 || !skipped_blanks(next).starts_with('-')),
        _ => false,
    };

    // The value is the rest of the line, without trailing whitespace.
    opens.then(|| (line.text_offset() + text.len() - value.len(), column))
}

fn skipped_blanks(text: &str) -> &str {
    text.trim_start()
}
