use std::io;

/// Writes JSON as the content of a JSON string.
pub(super) struct InString<'a>(pub(super) &'a mut Vec<u8>);

impl io::Write for InString<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        for byte in json {
            match byte {
                b'"' => self.0.extend_from_slice(br#"\""#),
                b'\\' => self.0.extend_from_slice(br"\\"),
                // JSON has no other control characters than those between its values.
                b'\n' => self.0.extend_from_slice(br"\n"),
                byte => self.0.push(*byte),
            }
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
