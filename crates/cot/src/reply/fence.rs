//! Finds the part of a raw text that is meant as the reply.

/// A part of the text, where in the text it begins, and whether a fence closes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'t> {
    pub(super) text: &'t str,
    pub(super) offset: usize,
    pub(super) closed: bool,
}

/// The block to read: the last one that names a key of a reply. An earlier one is not, even if the
/// last has a fault: a model that begins a second block takes the first back. Where no fence of any
/// label names a key it is the whole text, if that does; the text of an unfenced reply may hold
/// fences too. Where nothing names a key, it is the last block, so that the complaint can say what
/// is wrong with it.
pub(super) fn meant(text: &str) -> Option<Block<'_>> {
    let fenced = fenced(text);
    let wanted = || fenced.iter().filter(|fence| fence.wanted).map(|fence| fence.block).rev();
    if fenced.iter().any(|fence| names_a_key(fence.block.text)) {
        wanted().find(|block| names_a_key(block.text))
    } else if names_a_key(text) {
        block(text, 0, text.len(), false)
    } else {
        wanted().next()
    }
}

/// `planning` does not count: it is a word of any prose.
fn names_a_key(text: &str) -> bool {
    text.contains("current_thinking") || text.contains("next_thought_needed")
}

/// A block and whether its fence is labelled `yaml`, `yml` or not at all.
struct Fenced<'t> {
    block: Block<'t>,
    wanted: bool,
}

/// The fenced blocks, in order.
///
/// A fence closes with a line of at least as many backticks that is indented no more than the one
/// that opened it: a fence inside a block scalar is indented more, and is text. A fence that never
/// closes goes to the end.
fn fenced(text: &str) -> Vec<Fenced<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_matches(is_blank);
        let label = content.trim_start_matches('`');
        let ticks = content.len() - label.len();
        if ticks >= 3 {
            let indent = line.len() - line.trim_start_matches(is_blank).len();
            match &open {
                None => {
                    let label = label.trim().to_ascii_lowercase();
                    let wanted = matches!(label.as_str(), "" | "yaml" | "yml");
                    open = Some(Open { indent, ticks, wanted, from: offset + line.len() });
                }
                Some(fence) if label.is_empty() && ticks >= fence.ticks && indent <= fence.indent => {
                    blocks.extend(fence.block(text, offset, true));
                    open = None;
                }
                Some(_) => {}
            }
        }
        offset += line.len();
    }
    blocks.extend(open.and_then(|fence| fence.block(text, text.len(), false)));
    blocks
}

/// A byte order mark may stand before the first fence.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == BYTE_ORDER_MARK
}

const BYTE_ORDER_MARK: char = '\u{feff}';

struct Open {
    indent: usize,
    ticks: usize,
    wanted: bool,
    from: usize,
}

impl Open {
    fn block<'t>(&self, text: &'t str, to: usize, closed: bool) -> Option<Fenced<'t>> {
        Some(Fenced { block: block(text, self.from, to, closed)?, wanted: self.wanted })
    }
}

/// The part of a text from one offset to another, without byte order marks before it; none if it is
/// blank.
fn block(text: &str, from: usize, to: usize, closed: bool) -> Option<Block<'_>> {
    let part = text.get(from..to)?;
    let text = part.trim_start_matches(BYTE_ORDER_MARK);
    let offset = from + part.len() - text.len();
    (!text.trim().is_empty()).then_some(Block { text, offset, closed })
}
