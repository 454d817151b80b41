use std::{fmt, io};

use cogwork_text::OneLine;

use super::header::FORMAT;

/// An error of a line of a record.
///
/// `Display` writes the number of the line and the reason, on one line.
pub struct RecordError {
    line: u64,
    kind: RecordErrorKind,
}

/// The kind of a [`RecordError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordErrorKind {
    /// The record cannot be read.
    Io(io::Error),
    /// The first line isn't the header of a record.
    NotARecord {
        /// What is wrong with it.
        reason: String,
    },
    /// The record is of a newer version.
    Newer {
        /// The version of its format.
        format: u64,
    },
    /// The line isn't an event. Reading continues with the next line.
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// The line is too long. Reading continues with the next line.
    LongLine {
        /// The maximum number of bytes.
        max: usize,
    },
}

impl RecordError {
    pub(super) fn new(line: u64, kind: RecordErrorKind) -> Self {
        Self { line, kind }
    }

    /// Returns the number of the line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> &RecordErrorKind {
        &self.kind
    }

    /// Returns whether only this line is affected, and reading continues with the next one.
    pub fn is_of_line(&self) -> bool {
        matches!(
            self.kind,
            RecordErrorKind::Damaged { .. } | RecordErrorKind::LongLine { .. }
        )
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;

        match &self.kind {
            RecordErrorKind::Io(error) => write!(f, "cannot read: {}", OneLine::new(error)),
            RecordErrorKind::NotARecord { reason } => write!(
                f,
                "not the header of a record, such as {{\"cogwork_record\": {FORMAT}, \"run\": …}}: {}",
                OneLine::new(reason)
            ),
            RecordErrorKind::Newer { format } => write!(
                f,
                "the record has format {format}, which is newer than {FORMAT}; read it with a newer version"
            ),
            RecordErrorKind::Damaged { reason } => {
                write!(f, "not an event: {}", OneLine::new(reason))
            }
            RecordErrorKind::LongLine { max } => {
                write!(f, "longer than {max} bytes, the maximum of a line")
            }
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            RecordErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

cogwork_text::debug_as_display!(RecordError);
