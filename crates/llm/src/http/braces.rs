/// Tracks the nesting of JSON that arrives in pieces, and whether its first value is complete. It
/// doesn't validate the JSON. Each byte takes constant time, wherever the pieces are split.
#[derive(Default)]
pub(super) struct Braces {
    depth: usize,
    deepest: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Braces {
    pub(super) fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.deepest = self.deepest.max(self.depth);
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    /// Returns whether an object or array has begun, and every one that began has ended.
    pub(super) fn are_closed(&self) -> bool {
        self.deepest > 0 && self.depth == 0
    }
}
