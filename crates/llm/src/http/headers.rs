use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::protocol::Protocol;

/// Headers that frame the message.
const FRAMING: [HeaderName; 4] = [
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TRANSFER_ENCODING,
];

type Header = (HeaderName, HeaderValue);

/// Returns the headers of every request, or all problems with them.
pub(super) fn headers(
    protocol: &Protocol,
    api_key: Option<&SecretString>,
    custom: &[(String, SecretString)],
) -> Result<HeaderMap, String> {
    let mut headers = standard(protocol);
    let mut problems = Vec::new();

    let key = api_key.map(|key| key_header(protocol, key));
    let custom = (1..)
        .zip(custom)
        .map(|(number, (name, value))| custom_header(number, name, value));
    for header in key.into_iter().chain(custom) {
        match header {
            Ok((name, value)) => {
                headers.insert(name, value);
            }
            Err(problem) => problems.push(problem),
        }
    }

    if problems.is_empty() {
        Ok(headers)
    } else {
        Err(problems.join("; "))
    }
}

fn standard(protocol: &Protocol) -> HeaderMap {
    let agent = concat!("cogwork-llm/", env!("CARGO_PKG_VERSION"));
    let common = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("user-agent", agent),
    ];

    common
        .iter()
        .chain(protocol.headers)
        .map(|(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        })
        .collect()
}

fn key_header(protocol: &Protocol, key: &SecretString) -> Result<Header, String> {
    let (name, prefix) = protocol.key;
    let key = key.expose_secret();
    let is_visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());

    let value = sensitive(&format!("{prefix}{key}")).filter(|_| is_visible);
    let value = value.ok_or(
        "the API key is empty or contains a space, a line break or a character outside ASCII; \
         expected visible ASCII",
    )?;
    Ok((HeaderName::from_static(name), value))
}

fn custom_header(number: usize, name: &str, value: &SecretString) -> Result<Header, String> {
    // The name isn't shown, because it may be a value in the wrong place.
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        format!("the name of header {number} is not valid; expected letters, digits and dashes")
    })?;
    if FRAMING.contains(&name) {
        return Err(format!(
            "the header {name} is set by the client; choose a different name"
        ));
    }

    let value = sensitive(value.expose_secret()).ok_or_else(|| {
        format!("the value of the header {name} is not valid; expected visible ASCII")
    })?;
    Ok((name, value))
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
