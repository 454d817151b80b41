//! Divides a text into passages.

use crate::Passage;

/// The smallest maximum size of a passage in bytes. Every character fits into it.
pub(super) const SHORTEST: usize = 16;

/// A passage begins at a heading if the one before it has at least this fraction of the maximum
/// size.
const HEADING: usize = 4;

/// A part of a text without empty lines.
struct Paragraph {
    /// From 1.
    line: u32,
    text: String,
}

/// Returns the passages of a text, each at most `most` bytes long and not blank.
pub(super) fn passages(text: &str, most: usize) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    for paragraph in paragraphs(text) {
        // Short paragraphs share a passage, since a few words alone say little about their meaning.
        let room = passages
            .last_mut()
            .filter(|last| fits(last, &paragraph, most));
        if let Some(last) = room {
            last.text.push_str("\n\n");
            last.text.push_str(&paragraph.text);
            continue;
        }

        passages.extend(parts(&paragraph, most));
    }

    passages
}

/// Returns whether the paragraph is joined to the passage before it.
fn fits(last: &Passage, paragraph: &Paragraph, most: usize) -> bool {
    let is_heading = paragraph.text.starts_with('#');
    // A heading begins a passage, unless the one before it is still short.
    if is_heading && last.text.len() >= most / HEADING {
        return false;
    }

    last.text.len() + 2 + paragraph.text.len() <= most
}

fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut continues = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if line.is_empty() {
            continues = false;
            continue;
        }

        match paragraphs.last_mut().filter(|_| continues) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            None => paragraphs.push(Paragraph {
                line: number,
                text: line.to_owned(),
            }),
        }
        continues = true;
    }

    paragraphs
}

/// Divides a paragraph between words, and words that are too long between characters.
fn parts(paragraph: &Paragraph, most: usize) -> Vec<Passage> {
    let mut parts = Vec::new();
    let mut line = paragraph.line;
    let mut rest = paragraph.text.as_str();

    while !rest.is_empty() {
        let (part, after) = rest.split_at(end_of_part(rest, most));
        // A passage of white space would be refused by the memory.
        if !part.trim().is_empty() {
            parts.push(Passage::new(part.trim_end()).with_line(line));
        }

        let next = after.trim_start();
        let taken = rest.len() - next.len();
        line = line.saturating_add(line_breaks(rest.get(..taken).unwrap_or_default()));
        rest = next;
    }

    parts
}

fn line_breaks(text: &str) -> u32 {
    let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

/// Returns the end of the longest beginning of at most `most` bytes, after white space if possible.
fn end_of_part(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }

    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
    let part = end.and_then(|end| text.get(..end)).unwrap_or(text);
    // A word that is cut in two would mean something else.
    let last_space = part.char_indices().rfind(|(_, c)| c.is_whitespace());
    match last_space {
        Some((at, space)) if !part.trim().is_empty() => at + space.len_utf8(),
        // At least one byte, so that the loop ends.
        _ => part.len().max(1),
    }
}
