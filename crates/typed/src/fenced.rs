//! Finds the fenced blocks of a reply.

/// The labels of fences that may contain a reply. Others, such as `python`, contain code.
const LABELS: &str = "yaml yml json jsonc json5 text txt plaintext markdown md";

/// A fenced block of a reply.
pub(crate) struct FencedBlock<'t> {
    /// The text between the fences.
    pub(crate) text: &'t str,
    /// The offset of the text in the reply.
    pub(crate) offset: usize,
    /// The number of lines before the text.
    pub(crate) line: usize,
    /// Whether the closing fence is missing.
    pub(crate) is_open: bool,
}

/// A fence that isn't closed yet.
struct Fence {
    indent: usize,
    /// Whether the block may contain a reply.
    is_wanted: bool,
    /// Where the block begins.
    from: usize,
    line: usize,
}

/// Returns the fenced blocks that aren't blank and may contain a reply, in order.
///
/// A fence is closed by a line of backticks that isn't indented further. A fence that is indented
/// further, such as one inside a block of text, is text. A fence that is never closed extends to the
/// end of the text.
pub(crate) fn fenced_blocks(text: &str) -> Vec<FencedBlock<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Fence> = None;
    let mut offset = 0;

    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = offset + line.len();
        let content = line.trim_start_matches(is_blank);
        let indent = line.len() - content.len();
        let label = content
            .strip_prefix("```")
            .map(|label| label.trim_start_matches('`').trim_matches(is_blank))
            .filter(|label| !label.contains('`'));

        match (label, &open) {
            (Some(label), None) => {
                let mut labels = LABELS.split(' ');
                // The value is never in code, though code may look like it.
                let is_known = labels.any(|known| known.eq_ignore_ascii_case(label));
                open = Some(Fence {
                    indent,
                    is_wanted: label.is_empty() || is_known,
                    from: end,
                    line: number,
                });
            }
            // A label after the closing fence would open another block, as in Markdown.
            (Some(""), Some(fence)) if indent <= fence.indent => {
                blocks.extend(fence.block(text, offset, false));
                open = None;
            }
            _ => {}
        }
        offset = end;
    }

    blocks.extend(open.and_then(|fence| fence.block(text, text.len(), true)));
    blocks
}

impl Fence {
    fn block<'t>(&self, text: &'t str, to: usize, is_open: bool) -> Option<FencedBlock<'t>> {
        let block = text.get(self.from..to)?;
        let is_block = self.is_wanted && !block.trim_matches(is_blank).is_empty();
        is_block.then_some(FencedBlock {
            text: block,
            offset: self.from,
            line: self.line,
            is_open,
        })
    }
}

/// Returns whether a character is whitespace or a byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
