use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// Returns how long the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds
/// (possibly fractional) or as a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };

    if let Some(wait) = text("retry-after-ms").and_then(|text| number(text, 1000.0)) {
        return Some(wait);
    }

    let wait = text("retry-after")?;
    if let Some(wait) = number(wait, 1.0) {
        return Some(wait);
    }

    let until = httpdate::parse_http_date(wait).ok()?;

    // Prefers the server's clock, if the response includes it, because the local clock may differ.
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok());
    let now = now.unwrap_or_else(SystemTime::now);

    // A date in the past means now.
    Some(until.duration_since(now).unwrap_or_default())
}

/// Parses a number of units, of which `per_second` make a second. Returns `None` for numbers that
/// aren't a valid wait: `inf`, `nan`, `-1`, `1e300`.
fn number(text: &str, per_second: f64) -> Option<Duration> {
    let units: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(units / per_second).ok()
}
