use std::borrow::Cow;
use std::collections::BTreeMap;

use cogwork_read::charge;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::excerpt::{Secrets, beginning, is_html};
use super::protocol::Protocol;
use crate::{LlmError, LlmErrorKind as Kind};

/// The maximum depth of errors that are wrapped in other errors, as proxies do.
const WRAPPINGS: usize = 4;
/// The maximum size of an error whose details are read, in bytes. Of a longer one, the beginning is
/// shown. Every field and every wrapping is parsed by itself, so a long error would block the task.
const LONGEST: usize = 64 * 1024;
/// The part of a message that is searched for phrases, in bytes.
const SEARCHED: usize = 8 * 1024;
/// An `error` value of at least this many bytes counts as an error without further checks.
const EMPTY_ERROR_BYTES: usize = 1024;

/// The codes and categories of errors, in order of precedence. The first eight take precedence over
/// the status.
const CODES: [(&str, Kind); 18] = [
    ("insufficient_quota", Kind::Quota),
    ("billing_hard_limit_reached", Kind::Quota),
    ("billing_error", Kind::Quota),
    ("context_length_exceeded", Kind::ContextLength),
    ("exceed_context_size_error", Kind::ContextLength),
    ("content_filter", Kind::ContentFilter),
    ("content_policy_violation", Kind::ContentFilter),
    ("responsible_ai_policy_violation", Kind::ContentFilter),
    ("authentication_error", Kind::Authentication),
    ("permission_error", Kind::Authentication),
    ("invalid_api_key", Kind::Authentication),
    ("rate_limit_exceeded", Kind::RateLimit),
    ("rate_limit_error", Kind::RateLimit),
    ("overloaded_error", Kind::Overloaded),
    ("unavailable_error", Kind::Overloaded),
    ("timeout_error", Kind::Timeout),
    ("invalid_request_error", Kind::InvalidRequest),
    ("not_found_error", Kind::InvalidRequest),
];

/// Returns the error for a response with this status.
pub(super) fn of_status(
    status: StatusCode,
    body: &[u8],
    address: &str,
    protocol: &Protocol,
    secrets: &Secrets,
) -> LlmError {
    let text = String::from_utf8_lossy(body);
    let details = Details::of_text(&text);
    let kind = details.kind(status.as_u16());
    let message = match &details.message {
        Some(message) => secrets.line(message),
        None if text.trim().is_empty() => {
            format!(
                "the server responded {} with an empty body",
                name_of(status)
            )
        }
        None if is_html(&text) => {
            format!("the server responded {} with an HTML page", name_of(status))
        }
        None => secrets.line(&text),
    };

    let reason = message.trim_end_matches('.');
    let message = match status.as_u16() {
        404 | 405 if details.mentions_model() => format!("{address}: {message}"),
        404 | 405 => {
            let path = protocol.path();
            let hint = protocol.hint;
            format!("{address}: {reason}; expected a base URL that ends before {path}{hint}")
        }
        _ => message,
    };

    LlmError::new(kind, message)
}

/// Returns the error for an `error` value in a response with a success status, if it is one.
pub(crate) fn check(error: Option<&RawValue>, secrets: &Secrets) -> Result<(), LlmError> {
    match error {
        Some(error) if !is_absent(error) => Err(of_value(error, secrets)),
        _ => Ok(()),
    }
}

fn of_value(value: &RawValue, secrets: &Secrets) -> LlmError {
    let details = Details::of(value);
    let status = details
        .code
        .as_deref()
        .and_then(|code| code.parse().ok())
        .filter(|code| *code >= 400);

    let kind = details.kind(status.unwrap_or(200));
    LlmError::new(
        kind,
        secrets.line(details.message.as_deref().unwrap_or(value.get())),
    )
}

/// Returns the error for a text that a stream sends as an error.
pub(crate) fn of_text(text: &str, secrets: &Secrets) -> LlmError {
    if text.len() > LONGEST {
        return LlmError::new(Kind::Server, secrets.line(text));
    }

    charge(text.len());

    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => of_value(value, secrets),
        Err(_) => LlmError::new(Kind::Server, secrets.line(text)),
    }
}

/// Returns whether an `error` value means that there is none, as some servers write it into every
/// successful response: `false`, `""`, `{}`, or an object with only such values.
fn is_absent(value: &RawValue) -> bool {
    type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

    let is_empty = |value: &RawValue| {
        let start: String = value
            .get()
            .chars()
            .filter(|c| !c.is_whitespace())
            .take(6)
            .collect();
        matches!(
            start.as_str(),
            "null" | "false" | "0" | "\"\"" | "[]" | "{}"
        )
    };

    value.get().len() < EMPTY_ERROR_BYTES
        && (is_empty(value)
            || serde_json::from_str::<Fields<'_>>(value.get())
                .is_ok_and(|fields| fields.into_values().all(is_empty)))
}

/// The details of a failure, in any of the formats that servers use.
#[derive(Default)]
struct Details {
    message: Option<String>,
    code: Option<String>,
    category: Option<String>,
}

/// Every field is raw, so that an unexpected type affects only that field. `error` must stay the
/// first field: serde reads an array into a struct field by field and thereby finds the error in
/// `[{"error": …}]`, which Google's servers send.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Wire<'a> {
    error: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    detail: Option<&'a RawValue>,
    code: Option<&'a RawValue>,
    #[serde(rename = "type")]
    category: Option<&'a RawValue>,
}

impl Details {
    /// Reads a text, which has no details if it isn't JSON.
    fn of_text(text: &str) -> Self {
        charge(text.len());

        serde_json::from_str(text).map(Self::of).unwrap_or_default()
    }

    /// Reads `{"error": {"message", "type", "code"}}`, `{"error": "text"}`, `{"message"}`,
    /// `{"detail"}` or a plain text.
    fn of(value: &RawValue) -> Self {
        let mut details = Self::default();
        if value.get().len() > LONGEST {
            return details;
        }

        let mut next = Some(value);
        for _ in 0..WRAPPINGS {
            let Some(value) = next else { break };
            charge(value.get().len());

            let Ok(wire) = serde_json::from_str::<Wire<'_>>(value.get()) else {
                details.message = scalar(value).or(details.message);
                break;
            };

            // Inner details are closer to the cause.
            let detail = wire
                .detail
                .map(|detail| scalar(detail).unwrap_or_else(|| detail.get().to_owned()));
            details.message = wire.message.and_then(scalar).or(detail).or(details.message);
            details.code = wire.code.and_then(scalar).or(details.code);
            details.category = wire.category.and_then(scalar).or(details.category);
            next = wire.error;
        }

        details
    }

    fn kind(&self, status: u16) -> Kind {
        let is_quota = status == 402 || self.mentions(&["credit balance is too low"]);
        let is_context = matches!(status, 200 | 400 | 413 | 422) && self.mentions_context();
        let of_code = self.kind_of_code();

        match (of_code, status) {
            _ if is_quota => Kind::Quota,
            (Some(kind @ (Kind::Quota | Kind::ContextLength)), _) => kind,
            _ if is_context => Kind::ContextLength,
            (Some(Kind::ContentFilter), _) => Kind::ContentFilter,
            (_, 401 | 403) => Kind::Authentication,
            (_, 429) => Kind::RateLimit,
            (_, 408 | 504) => Kind::Timeout,
            (_, 503 | 529) => Kind::Overloaded,
            // The server doesn't support this at all, so a retry is pointless.
            (_, 300..=499 | 501 | 505) => Kind::InvalidRequest,
            (_, 500..) => Kind::Server,
            (of_code, _) => of_code.unwrap_or(Kind::Server),
        }
    }

    /// Returns the kind of the code or of the category.
    fn kind_of_code(&self) -> Option<Kind> {
        let given = [self.code.as_deref(), self.category.as_deref()];
        let mut codes = CODES.iter();
        let (_, kind) = codes.find(|(word, _)| given.contains(&Some(*word)))?;
        Some(*kind)
    }

    /// Servers also respond with 404 if the model doesn't exist; then the URL is correct.
    fn mentions_model(&self) -> bool {
        self.mentions(&["model"])
    }

    /// Most servers have no code for this.
    fn mentions_context(&self) -> bool {
        self.mentions(&[
            "context length",
            "context window",
            "context size",
            "maximum context",
            "prompt is too long",
            "input is too long",
        ])
    }

    fn mentions(&self, phrases: &[&str]) -> bool {
        let Some(message) = &self.message else {
            return false;
        };

        let message = beginning(message, SEARCHED).to_lowercase();

        phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// Returns a string or a number as text.
fn scalar(value: &RawValue) -> Option<String> {
    charge(value.get().len());

    let text = serde_json::from_str::<String>(value.get()).ok();
    text.or_else(|| {
        serde_json::from_str::<serde_json::Number>(value.get())
            .ok()
            .map(|number| number.to_string())
    })
    .filter(|text| !text.trim().is_empty())
}

/// Returns `429 Too Many Requests`, or only the number if it has no name.
fn name_of(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}
