//! Reads what servers say about a failure, in any of the formats that they use.

use reqwest::StatusCode;
use serde_json::Value;

use super::secrets::is_html;
use crate::wire::unreadable;
use crate::{LlmError, LlmErrorKind as Kind};

/// The maximum depth of errors that are wrapped in other errors, as proxies do.
const WRAPPINGS: usize = 4;

/// The codes and categories of errors, in order of precedence. The first five take precedence over
/// the status.
const CODES: [(&str, Kind); 12] = [
    ("insufficient_quota", Kind::Quota),
    ("billing_error", Kind::Quota),
    ("context_length_exceeded", Kind::ContextLength),
    ("exceed_context_size_error", Kind::ContextLength),
    ("content_filter", Kind::ContentFilter),
    ("authentication_error", Kind::Authentication),
    ("invalid_api_key", Kind::Authentication),
    ("rate_limit_exceeded", Kind::RateLimit),
    ("rate_limit_error", Kind::RateLimit),
    ("overloaded_error", Kind::Overloaded),
    ("timeout_error", Kind::Timeout),
    ("invalid_request_error", Kind::InvalidRequest),
];

/// How messages say that a conversation is too long.
const CONTEXT: [&str; 6] = [
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
];

/// The words of errors that are about the value of a setting, not about the setting.
const VALUE_WORDS: [&str; 9] = [
    "too ",
    "greater",
    "less than",
    "at least",
    "at most",
    "maximum",
    "minimum",
    "range",
    "exceed",
];

/// The refusal of a request.
pub(super) struct Refusal {
    pub(super) error: LlmError,
    /// The part of the request that it is about, as the server names it.
    pub(super) parameter: Option<String>,
}

impl From<LlmError> for Refusal {
    fn from(error: LlmError) -> Self {
        Self {
            error,
            parameter: None,
        }
    }
}

impl Refusal {
    /// Returns whether the server refuses the part of the request with this name, whatever its value.
    pub(super) fn is_about(&self, name: &str) -> bool {
        // Servers don't agree on the status of a refused setting.
        let is_refused = matches!(self.error.status(), Some(400 | 404 | 422))
            && self.error.kind() == Kind::InvalidRequest;
        let message = self.error.message();
        let lower = message.to_lowercase();
        // A value out of range is the caller's mistake: without the setting, the reply would be
        // another one.
        let is_about_a_value = VALUE_WORDS.iter().any(|words| lower.contains(words));

        let is_named = self.parameter.as_deref() == Some(name) || names(message, name);
        is_refused && !is_about_a_value && is_named
    }
}

/// Returns the error of a response without a success status. `endpoint` is what a base URL must not
/// end in.
pub(super) fn of_status(status: StatusCode, body: &[u8], address: &str, endpoint: &str) -> Refusal {
    let text = String::from_utf8_lossy(body);
    let details = Details::of_text(&text);
    let kind = details.kind(status.as_u16());
    let is_page = text.trim().is_empty() || is_html(&text);
    let message = match &details.message {
        Some(message) => message.clone(),
        None if is_page => format!("the server responded {status} without a reason"),
        None => text.trim().to_owned(),
    };
    // Servers also respond with 404 if the model doesn't exist, and OpenRouter if nobody who has it
    // supports tools; then the URL is correct.
    let is_of_model = details.mentions(&["model", "no endpoints found"]);
    let message = match status.as_u16() {
        404 | 405 if is_of_model => format!("{address}: {message}"),
        404 | 405 => {
            let reason = message.trim_end_matches('.');
            format!("{address}: {reason}; expected a base URL that ends before {endpoint}")
        }
        _ => message,
    };

    Refusal {
        error: LlmError::new(kind, message),
        parameter: details.parameter,
    }
}

/// Parses a JSON object that isn't an error.
pub(crate) fn parse(body: &[u8]) -> Result<Value, LlmError> {
    let complaint = |error: serde_json::Error| {
        // Proxies and wrong addresses answer with a page.
        let beginning = body.get(..100).unwrap_or(body);
        if is_html(&String::from_utf8_lossy(beginning)) {
            return unreadable("the response is an HTML page; expected JSON");
        }

        unreadable(format!("the response is not JSON: {error}"))
    };

    let value: Value = serde_json::from_slice(body).map_err(complaint)?;
    // Google's servers put errors into an array.
    check_error(value.get(0).unwrap_or(&value))?;
    if !value.is_object() {
        return Err(unreadable("the response is not a JSON object"));
    }

    Ok(value)
}

/// Returns the error in a response with a success status, if it has one.
pub(super) fn check_error(response: &Value) -> Result<(), LlmError> {
    match response.get("error") {
        Some(error) if !is_absent(error) => Err(of_value(error)),
        _ => Ok(()),
    }
}

/// Returns whether an `error` value means that there is none, as some servers write it into every
/// successful response.
fn is_absent(error: &Value) -> bool {
    match error {
        Value::Object(fields) => fields.values().all(is_absent),
        error => error.is_null() || *error == false || *error == 0 || *error == "",
    }
}

pub(super) fn of_value(error: &Value) -> LlmError {
    let details = Details::of(error);
    let code = details.code.as_deref().and_then(|code| code.parse().ok());
    let kind = details.kind(code.filter(|code| *code >= 400).unwrap_or(200));

    let message = details.message.unwrap_or_else(|| error.to_string());
    LlmError::new(kind, message)
}

/// Returns whether a message names a part of a request: the whole word, and in quotes or before a
/// colon if it is a common word.
fn names(message: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    let is_unmistakable = name.contains(['_', '/', ' ']) || name == "temperature";

    message.match_indices(name).any(|(start, _)| {
        let before = message.get(..start).unwrap_or_default();
        let after = message.get(start + name.len()..).unwrap_or_default();
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let is_quoted = before.ends_with(is_quote) && after.starts_with(is_quote);

        // `stop` and `seed` are also common words of such messages.
        is_whole && (is_unmistakable || is_quoted || after.starts_with(':'))
    })
}

/// The details of a failure.
#[derive(Default)]
struct Details {
    message: Option<String>,
    code: Option<String>,
    category: Option<String>,
    parameter: Option<String>,
}

impl Details {
    /// Reads a text, which has no details if it isn't JSON.
    fn of_text(text: &str) -> Self {
        let value = serde_json::from_str::<Value>(text);
        value.map(|value| Self::of(&value)).unwrap_or_default()
    }

    /// Reads `{"error": {"message", "type", "code", "param"}}`, `{"error": "text"}`, `{"message"}`,
    /// `{"detail"}`, a plain text, or an array with one of these, as Google's servers send it.
    fn of(value: &Value) -> Self {
        let mut details = Self::default();
        let mut next = Some(value);

        for _ in 0..WRAPPINGS {
            let Some(value) = next.map(|value| value.get(0).unwrap_or(value)) else {
                break;
            };
            if !value.is_object() {
                details.message = scalar(Some(value)).or(details.message);
                break;
            }

            // Inner details are closer to the cause.
            let detail = value.get("detail");
            let detail = scalar(detail).or_else(|| detail.map(Value::to_string));
            details.message = scalar(value.get("message")).or(detail).or(details.message);
            details.code = scalar(value.get("code")).or(details.code);
            details.category = scalar(value.get("type")).or(details.category);
            details.parameter = scalar(value.get("param")).or(details.parameter);
            next = value.get("error").filter(|error| !error.is_null());
        }

        details
    }

    fn kind(&self, status: u16) -> Kind {
        // Anthropic reports an empty account as an invalid request.
        let is_quota = status == 402 || self.mentions(&["credit balance is too low"]);
        // With other statuses, the same words are about something else, such as a busy server.
        let is_context = matches!(status, 200 | 400 | 413 | 422) && self.mentions(&CONTEXT);
        let of_code = self.kind_of_code();

        match (of_code, status) {
            _ if is_quota => Kind::Quota,
            (Some(kind @ (Kind::Quota | Kind::ContextLength)), _) => kind,
            _ if is_context => Kind::ContextLength,
            (Some(Kind::ContentFilter), _) => Kind::ContentFilter,
            (_, 401 | 403) => Kind::Authentication,
            (_, 429) => Kind::RateLimit,
            (_, 408 | 504) => Kind::Timeout,
            // 529 is Anthropic's status for an overload.
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

    fn mentions(&self, phrases: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default();
        let message = message.to_lowercase();

        phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// Returns a string or a number as text.
fn scalar(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };

    Some(text).filter(|text| !text.trim().is_empty())
}
