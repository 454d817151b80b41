use std::io;

/// Writes JSON without line breaks as the content of a JSON string.
pub(super) struct InString<'a>(pub(super) &'a mut Vec<u8>);

impl io::Write for InString<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        for byte in json {
            match byte {
                b'"' => self.0.extend_from_slice(br#"\""#),
                b'\\' => self.0.extend_from_slice(br"\\"),
                byte => self.0.push(*byte),
            }
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
