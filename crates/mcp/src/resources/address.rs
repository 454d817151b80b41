//! The URIs of resources.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::SessionFormat;
use crate::store::SessionId;

const SCHEME: &str = "cogwork://";

/// What isn't encoded in a part of a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b':');

/// What a URI refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Session(SessionId, SessionFormat),
    Strategy(String, SessionFormat),
    Stage { strategy: String, stage: String },
}

impl Address {
    /// The maximum length of a URI, in bytes.
    pub(crate) const MAX_BYTES: usize = 4_096;

    /// Reads a URI. Parts of the path may be percent-encoded.
    pub(crate) fn read(uri: &str) -> Option<Self> {
        let path = uri.strip_prefix(SCHEME)?;
        if uri.len() > Self::MAX_BYTES {
            return None;
        }

        let parts = path.split('/');
        let parts = parts.map(|part| percent_decode_str(part).decode_utf8().ok());
        let parts: Vec<_> = parts.collect::<Option<_>>()?;
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();

        let (kind, name, format) = match parts[..] {
            ["strategies", strategy, "stages", stage] => {
                return Some(Self::Stage {
                    strategy: strategy.to_owned(),
                    stage: stage.to_owned(),
                });
            }
            [kind, name] => (kind, name, SessionFormat::Markdown),
            [kind, name, format] => (kind, name, SessionFormat::named(format)?),
            _ => return None,
        };
        match kind {
            "sessions" => Some(Self::Session(SessionId::named(name)?, format)),
            "strategies" => Some(Self::Strategy(name.to_owned(), format)),
            _ => None,
        }
    }

    /// Returns the address of the text of a session.
    pub(crate) fn session(id: SessionId) -> Self {
        Self::Session(id, SessionFormat::Markdown)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = |part| utf8_percent_encode(part, PLAIN);
        match self {
            Self::Session(id, format) => {
                write!(
                    f,
                    "{SCHEME}sessions/{}{}",
                    encoded(id.as_str()),
                    format.suffix()
                )
            }
            Self::Strategy(name, format) => {
                write!(f, "{SCHEME}strategies/{}{}", encoded(name), format.suffix())
            }
            Self::Stage { strategy, stage } => {
                let (strategy, stage) = (encoded(strategy), encoded(stage));
                write!(f, "{SCHEME}strategies/{strategy}/stages/{stage}")
            }
        }
    }
}
