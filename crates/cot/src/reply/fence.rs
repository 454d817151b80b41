//! Finds the parts of a raw text that may hold a reply.

/// A part of the text, and the number of the line it begins on, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'t> {
    pub(super) text: &'t str,
    pub(super) first_line: usize,
}

/// The fenced blocks labelled `yaml`, `yml` or not at all, in order; where there is no fence of
/// any kind, the whole text if it looks like a mapping.
///
/// A fence closes with a line of backticks that is indented no more than the one that opened it: a
/// fence inside a block scalar is indented more, and is text. A fence that never closes goes to
/// the end.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    let mut fenced = false;
    let mut offset = 0;
    for (line_number, line) in (1..).zip(text.split_inclusive('\n')) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let rest = line.trim().strip_prefix("```");
        match (&open, rest) {
            (None, Some(label)) => {
                fenced = true;
                let wanted = matches!(label.trim().to_ascii_lowercase().as_str(), "" | "yaml" | "yml");
                open = Some(Open { indent, wanted, from: offset + line.len(), first_line: line_number + 1 });
            }
            (Some(fence), Some("")) if indent <= fence.indent => {
                blocks.extend(fence.block(text, offset));
                open = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    blocks.extend(open.and_then(|fence| fence.block(text, text.len())));
    if !fenced && text.contains(':') {
        blocks.push(Block { text, first_line: 1 });
    }
    blocks
}

struct Open {
    indent: usize,
    wanted: bool,
    from: usize,
    first_line: usize,
}

impl Open {
    fn block<'t>(&self, text: &'t str, to: usize) -> Option<Block<'t>> {
        let text = text.get(self.from..to)?;
        (self.wanted && !text.trim().is_empty()).then_some(Block { text, first_line: self.first_line })
    }
}
