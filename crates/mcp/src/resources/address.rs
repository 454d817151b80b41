//! The URIs of resources.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::SessionFormat;
use crate::store::SessionId;

const SESSIONS: &str = "cogwork://sessions/";
const STRATEGIES: &str = "cogwork://strategies/";

/// What isn't encoded in a part of a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b':');

/// What a URI refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Session {
        id: SessionId,
        format: SessionFormat,
    },
    Strategy {
        name: String,
        format: SessionFormat,
    },
    Stage {
        strategy: String,
        stage: String,
    },
}

impl Address {
    /// The maximum length of a URI, in bytes.
    pub(crate) const MAX_BYTES: usize = 4_096;

    /// Reads a URI. Parts of the path may be percent-encoded.
    pub(crate) fn read(uri: &str) -> Option<Self> {
        if uri.len() > Self::MAX_BYTES {
            return None;
        }

        let (path, is_session) = match uri.strip_prefix(SESSIONS) {
            Some(path) => (path, true),
            None => (uri.strip_prefix(STRATEGIES)?, false),
        };
        let parts: Option<Vec<_>> = path.split('/').map(decoded).collect();
        let parts = parts?;
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();

        if is_session {
            session(&parts)
        } else {
            strategy(&parts)
        }
    }

    /// Returns the address of the text of a session.
    pub(crate) fn session(id: SessionId) -> Self {
        let format = SessionFormat::Markdown;
        Self::Session { id, format }
    }

    /// Returns the address of the text of a strategy.
    pub(crate) fn strategy(name: &str) -> Self {
        Self::Strategy {
            name: name.to_owned(),
            format: SessionFormat::Markdown,
        }
    }
}

fn session(parts: &[&str]) -> Option<Address> {
    let (id, format) = match parts {
        [id] => (id, SessionFormat::Markdown),
        [id, format] => (id, SessionFormat::named(format)?),
        _ => return None,
    };
    let id = SessionId::named(id)?;
    Some(Address::Session { id, format })
}

fn strategy(parts: &[&str]) -> Option<Address> {
    let (name, format) = match parts {
        [strategy, "stages", stage] => {
            return Some(Address::Stage {
                strategy: (*strategy).to_owned(),
                stage: (*stage).to_owned(),
            });
        }
        [name] => (name, SessionFormat::Markdown),
        [name, format] => (name, SessionFormat::named(format)?),
        _ => return None,
    };
    Some(Address::Strategy {
        name: (*name).to_owned(),
        format,
    })
}

fn decoded(part: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(part).decode_utf8().ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session { id, format } => {
                let id = utf8_percent_encode(id.as_str(), PLAIN);
                write!(f, "{SESSIONS}{id}{}", format.suffix())
            }
            Self::Strategy { name, format } => {
                let name = utf8_percent_encode(name, PLAIN);
                write!(f, "{STRATEGIES}{name}{}", format.suffix())
            }
            Self::Stage { strategy, stage } => {
                let strategy = utf8_percent_encode(strategy, PLAIN);
                let stage = utf8_percent_encode(stage, PLAIN);
                write!(f, "{STRATEGIES}{strategy}/stages/{stage}")
            }
        }
    }
}
