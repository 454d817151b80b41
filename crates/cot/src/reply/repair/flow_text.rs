//! Reads the text of scalars in flow style.

use cogwork_typed::ask::RepairKind;

use super::quoted::unescaped_or_verbatim;
use crate::reply::keys;

/// The position of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Key,
    Value,
    Item,
}

/// The text of a scalar.
pub(super) struct Found {
    pub(super) text: String,
    /// The number of bytes read.
    pub(super) length: usize,
    /// Whether the source ended before the scalar did.
    pub(super) cut: bool,
    pub(super) faults: Vec<(RepairKind, &'static str)>,
}

/// Reads a text with an unclosed quote, up to a line that begins with a bracket.
pub(super) fn before_bracket(rest: &str) -> Option<Found> {
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if end > 0 && line.trim_start().starts_with(['}', ']']) {
            let text = rest.get(1..end)?.trim().trim_end_matches(',').to_owned();
            return Some(Found {
                text,
                length: end,
                cut: false,
                faults: vec![(RepairKind::Quotes, "closed a quote")],
            });
        }

        end += line.len();
    }

    None
}

/// Reads a quoted text. A quote only closes it if the characters after the quote can follow a text.
pub(super) fn in_quotes(rest: &str, open: char, place: Place) -> Found {
    quoted(rest, open, place)
}

fn quoted(rest: &str, open: char, place: Place) -> Found {
    let is_value = place != Place::Key;
    let (close, curly): (&[char], bool) = match open {
        '"' => (&['"'], false),
        '\'' => (&['\''], false),
        '‘' => (&['’'], true),
        _ => (&['”', '“', '"'], true),
    };

    let mut faults = Vec::new();
    if curly {
        faults.push((RepairKind::Quotes, "took curly quotes for quotes"));
    }

    let from = open.len_utf8();
    let inner = rest.get(from..).unwrap_or_default();
    let mut chars = inner.char_indices();
    let mut inner_quote = false;

    while let Some((at, c)) = chars.next() {
        if c == '\\' && open == '"' {
            chars.next();
        } else if c == '\n' && is_value && begins_pair(inner.get(at..).unwrap_or_default()) {
            faults.push((RepairKind::Quotes, "closed a quote"));
            let body = inner.get(..at).unwrap_or_default();
            let text = body.trim_end().trim_end_matches(',').to_owned();
            return Found {
                text,
                length: from + at,
                cut: false,
                faults,
            };
        } else if close.contains(&c) {
            let behind = inner.get(at + c.len_utf8()..).unwrap_or_default();
            if !closes(behind, is_value) {
                inner_quote = true;
                continue;
            }

            let body = inner.get(..at).unwrap_or_default();
            let (text, verbatim) = unescaped_or_verbatim(body, if curly { '\'' } else { open });
            let text = if inner_quote {
                text.replace("\\'", "'")
            } else {
                text
            };

            if inner_quote && !(open == '\'' && body.replace("''", "").find('\'').is_none()) {
                faults.push((RepairKind::Quotes, "escaped the quotes inside of a text"));
            }

            if verbatim {
                faults.push((RepairKind::Quotes, "kept the backslashes in a text"));
            }

            return Found {
                text,
                length: from + at + c.len_utf8(),
                cut: false,
                faults,
            };
        }
    }

    let (text, _) = unescaped_or_verbatim(inner.trim_end(), open);
    Found {
        text,
        length: rest.len(),
        cut: true,
        faults,
    }
}

/// The maximum number of bytes that are inspected after a quote.
const REACH: usize = 200;

fn closes(behind: &str, is_value: bool) -> bool {
    let mut blanks = behind.chars().take(REACH);
    let mut broken = false;
    loop {
        match blanks.next() {
            None => return true,
            Some('\n') => broken = true,
            Some(c) if keys::is_blank(c) => {}
            Some(',' | '}' | ']') => return true,
            Some(':') => return !is_value,
            // The end may follow on the next line, or after a comment.
            Some(c) => {
                return broken && matches!(c, '"' | '\'' | '{' | '/' | '#' | '“')
                    || c == '/'
                    || c == '#';
            }
        }
    }
}

/// Returns whether a quoted key begins the next line.
fn begins_pair(rest: &str) -> bool {
    let line = rest.strip_prefix('\n').unwrap_or(rest);
    let next = line.trim_start_matches([' ', '\t']);

    next.starts_with(['"', '\'']) && (keys::top(next).is_some() || keys::step(next).is_some())
}

/// Reads an unquoted text, which ends at a bracket, or at a comma before a known key. Other commas
/// are part of it.
pub(super) fn plain(rest: &str, place: Place, open: bool) -> Found {
    let mut brackets = 0_usize;
    let mut end = rest.len();
    for (at, c) in rest.char_indices() {
        let behind = || rest.get(at + c.len_utf8()..).unwrap_or_default();
        let ends = match c {
            '[' | '{' => {
                brackets += 1;
                false
            }
            ']' | '}' if brackets > 0 => {
                brackets -= 1;
                false
            }
            ']' | '}' => true,
            ':' if place == Place::Key => {
                behind().starts_with(|c| keys::is_blank(c) || matches!(c, '"' | '[' | '{'))
            }
            ',' if brackets == 0 => place != Place::Value || ends_value(behind()),
            '\n' => begins_pair(rest.get(at..).unwrap_or_default()),
            _ => false,
        };

        if ends {
            end = at;
            break;
        }
    }

    let text = rest.get(..end).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();

    // At least one character is read, so that the reader makes progress.
    let length = if end == 0 {
        rest.chars().next().map_or(0, char::len_utf8)
    } else {
        end
    };

    let text = words.join(" ");
    let cut = end == rest.len() && open && !matches!(text.as_str(), "true" | "false");
    Found {
        text,
        length,
        cut,
        faults: Vec::new(),
    }
}

/// Returns whether a comma ends a value, because a known key, a bracket or an item follows.
fn ends_value(behind: &str) -> bool {
    let next = behind.trim_start_matches(keys::is_blank);

    next.is_empty()
        || next.starts_with(['}', ']', '{', '"', '\'', '“'])
        || keys::top(next).is_some()
        || keys::step(next).is_some()
}
