use std::fmt;
use std::time::Duration;

use crate::WINDOWS;
use crate::client::Measured;

/// The times of a server over all rounds.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) start: Vec<Duration>,
    /// With each number of requests that wait.
    pub(crate) parts: [Part; WINDOWS.len()],
}

#[derive(Default)]
pub(crate) struct Part {
    each: Vec<Duration>,
    /// The calls per second of each round.
    rates: Vec<f64>,
    running: Duration,
}

impl Part {
    pub(crate) fn add(&mut self, measured: Measured) {
        let calls = measured.each.len();
        self.rates.push(calls as f64 / measured.all.as_secs_f64());
        self.running += measured.running;
        self.each.extend(measured.each);
    }

    /// Returns the time that the server was running for a call.
    fn running(&self) -> Duration {
        self.running
            .checked_div(u32::try_from(self.each.len()).unwrap_or(u32::MAX))
            .unwrap_or_default()
    }

    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>12.0}/s {:>8.1?} {:>8.1?} {:>8.1?}",
            self.rate(),
            median(&self.each),
            quantile(&self.each, 99),
            self.running(),
        )
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9.1?}", median(&self.start))?;
        for part in &self.parts {
            write!(f, " {part}")?;
        }
        Ok(())
    }
}

impl Times {
    /// Returns how many times as fast this is.
    pub(crate) fn compared_with(&self, base: &Self) -> String {
        let parts = WINDOWS.iter().zip(self.parts.iter().zip(&base.parts));
        let parts = parts.map(|(window, (part, base))| {
            let rate = part.rate() / base.rate();
            let running = base.running().as_secs_f64() / part.running().as_secs_f64();
            format!(
                "{rate:.1} times as many calls {window} at a time \
                ({running:.1} for the same CPU time)"
            )
        });
        let parts: Vec<_> = parts.collect();

        let start = median(&base.start).as_secs_f64() / median(&self.start).as_secs_f64();
        format!("{}, starts {start:.1} times as fast", parts.join(", "))
    }
}

fn median(times: &[Duration]) -> Duration {
    quantile(times, 50)
}

fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let index = times.len().saturating_sub(1) * percent / 100;
    times.get(index).copied().unwrap_or_default()
}
