use std::fmt;

use cogwork_typed::ask::Format;

/// The language in which a reply is requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    #[default]
    Yaml,
    Json,
}

impl From<Format> for Form {
    fn from(format: Format) -> Self {
        if format.is_json() {
            Self::Json
        } else {
            Self::Yaml
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yaml => "YAML block",
            Self::Json => "JSON object",
        })
    }
}
