//! Reads a range of a file, whatever the position in the file is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

/// How much is read at once to find the end of a line, in bytes.
const PROBE: usize = 16 << 10;

/// Returns the bytes in a range of a file, or fewer if the file has become shorter.
pub(super) fn read_range(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let length = range.end.saturating_sub(range.start);
    let mut bytes = Vec::new();
    bytes.reserve_exact(usize::try_from(length).map_err(io::Error::other)?);

    let place = range.start;
    Positioned { file, place }
        .take(length)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns where the first line in a range of a file starts, or the end of the range. If a line
/// before it is longer than `max_line` bytes, returns a place in that line.
pub(super) fn line_start(file: &File, range: Range<u64>, max_line: usize) -> io::Result<u64> {
    // If a newline is right before the range, a line starts with it.
    let place = range.start.saturating_sub(1);
    let longest = (max_line as u64).saturating_add(1);
    let length = range.end.saturating_sub(place).min(longest);

    let rest = Positioned { file, place }.take(length);
    let skipped = BufReader::with_capacity(PROBE, rest).skip_until(b'\n')?;
    Ok(place + skipped as u64)
}

struct Positioned<'a> {
    file: &'a File,
    place: u64,
}

impl Read for Positioned<'_> {
    #[cfg(unix)]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(self.file, bytes, self.place)?;
        self.place += read as u64;
        Ok(read)
    }

    #[cfg(windows)]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = std::os::windows::fs::FileExt::seek_read(self.file, bytes, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}
