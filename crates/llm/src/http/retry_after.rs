use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// How long the server asks to wait: `retry-after-ms`, or `Retry-After` as seconds, fractions of
/// them, or a date.
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

    // The server's own clock, where it tells it: ours may have been set back since.
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok());
    let now = now.unwrap_or_else(SystemTime::now);

    // A date gone by means: now.
    Some(until.duration_since(now).unwrap_or_default())
}

/// `text` units, of which there are `per_second`. Nothing for what Rust reads as a number and
/// nobody means as a wait: `inf`, `nan`, `-1`, `1e300`.
fn number(text: &str, per_second: f64) -> Option<Duration> {
    let units: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(units / per_second).ok()
}
