use std::io::{self, Write};

use super::{Export, Exporting};

/// Returns the snapshot of a session.
pub(super) fn json(exporting: &Exporting<'_>) -> Result<Export, String> {
    let most = exporting.bytes;
    let mut bounded = Bounded {
        written: Vec::new(),
        most,
    };

    let too_long = || {
        format!(
            "the session has more than {most} bytes as JSON; export it as markdown, which is \
             divided, or show some of its thoughts"
        )
    };
    serde_json::to_writer_pretty(&mut bounded, exporting.session).map_err(|_| too_long())?;
    let text = String::from_utf8(bounded.written).map_err(|error| error.to_string())?;
    Ok(Export {
        text,
        next_offset: None,
    })
}

/// Refuses to become longer than a number of bytes.
struct Bounded {
    written: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.most.saturating_sub(self.written.len());
        if bytes.len() > left {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
