//! Finds the id of a request that cannot be read, or that is too long to keep.

use rmcp::model::RequestId;

/// The maximum length of a key or an id that is found, in bytes.
const MAX_TOKEN: usize = 256;

/// Reads JSON in pieces of any size, and finds the value of the key `id` of the outermost object.
///
/// The text may be malformed. The memory used does not depend on its length.
#[derive(Debug, Default)]
pub(crate) struct IdFinder {
    depth: usize,
    part: Part,
    string: Option<Escape>,
    token: Vec<u8>,
    key_is_id: bool,
    id: Option<RequestId>,
}

/// The part of a member that is being read, in the outermost object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Key,
    Value,
}

/// Whether the next character of a string is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    No,
    Yes,
}

impl IdFinder {
    /// Returns the id in a text.
    pub(crate) fn find(text: &[u8]) -> Option<RequestId> {
        let mut finder = Self::default();
        finder.read(text);
        finder.finish()
    }

    /// Reads the next piece.
    pub(crate) fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            if self.id.is_some() {
                return;
            }
            match self.string {
                Some(escape) => self.read_in_string(escape, *byte),
                None => self.read_outside(*byte),
            }
        }
    }

    /// Returns the id, if there was one.
    pub(crate) fn finish(mut self) -> Option<RequestId> {
        self.end_scalar();
        self.id
    }

    fn read_in_string(&mut self, escape: Escape, byte: u8) {
        self.keep(byte);
        self.string = match (escape, byte) {
            (Escape::No, b'"') => None,
            (Escape::No, b'\\') => Some(Escape::Yes),
            _ => Some(Escape::No),
        };
    }

    fn read_outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.string = Some(Escape::No);
                self.keep(byte);
            }
            b'{' | b'[' => self.open(),
            b'}' | b']' => self.close(),
            b':' if self.depth == 1 => self.end_key(),
            b',' if self.depth == 1 => self.end_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn open(&mut self) {
        // An object or a list cannot be an id.
        self.key_is_id = false;
        self.token.clear();
        self.depth = self.depth.saturating_add(1);
    }

    fn close(&mut self) {
        if self.depth == 1 {
            self.end_value();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn end_key(&mut self) {
        self.key_is_id = self.part == Part::Key && self.token == b"\"id\"";
        self.part = Part::Value;
        self.token.clear();
    }

    fn end_value(&mut self) {
        self.end_scalar();
        self.part = Part::Key;
    }

    fn end_scalar(&mut self) {
        if self.key_is_id && self.id.is_none() {
            self.id = serde_json::from_slice(&self.token).ok();
        }
        self.key_is_id = false;
        self.token.clear();
    }

    fn keep(&mut self, byte: u8) {
        // One byte more than allowed, so that a long token is never taken for its beginning.
        if self.depth == 1 && self.token.len() <= MAX_TOKEN {
            self.token.push(byte);
        }
    }
}
