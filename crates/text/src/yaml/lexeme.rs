//! Recognizes the parts of a line.

pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_byte_order_mark(line: &[u8], at: usize) -> bool {
    line.get(at..)
        .is_some_and(|rest| rest.starts_with("\u{feff}".as_bytes()))
}

pub(super) fn document_marker(line: &[u8]) -> Option<&'static str> {
    let marker = ["---", "..."]
        .into_iter()
        .find(|marker| line.starts_with(marker.as_bytes()))?;
    line.get(marker.len())
        .is_none_or(is_blank)
        .then_some(marker)
}

/// Returns the offset of a comment in a further line of a plain scalar.
pub(super) fn comment_behind(line: &[u8], first: usize) -> Option<usize> {
    if line.get(first) == Some(&b'#') {
        return Some(first);
    }

    let mut pairs = line.windows(2).skip(first);
    let before = pairs.position(|pair| matches!(pair, [b' ' | b'\t', b'#']))?;
    Some(first + before + 1)
}

/// Returns the offset after the closing quote, if it is on this line.
pub(super) fn end_of_quote(line: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        let byte = *line.get(at)?;
        let next = line.get(at + 1);
        match byte {
            b'\\' if quote == b'"' => at += 2,
            b'\'' if quote == b'\'' && next == Some(&b'\'') => at += 2,
            _ if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// YAML 1.1 has unusual line breaks, and structure may follow each of them.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
