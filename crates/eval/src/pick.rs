use std::str::FromStr;

use crate::{ArmResult, Table};

/// Which arm to choose: conditions, and what counts among the arms that meet them, such as
/// `accuracy >= 0.8, least cost`.
///
/// The measures are `accuracy`, `cost`, `tokens`, `calls`, `seconds` and `failed`.
///
/// ```
/// use cogwork_eval::Pick;
///
/// let pick: Pick = "accuracy >= 0.8, least cost".parse().unwrap();
/// let error = "accuracy >= 0.8, fewest cost".parse::<Pick>().unwrap_err();
/// assert!(error.starts_with("`fewest cost`: expected"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Pick {
    at_least: Vec<(Measure, f64)>,
    at_most: Vec<(Measure, f64)>,
    least: Option<Measure>,
    most: Option<Measure>,
}

type Measure = fn(&ArmResult) -> f64;

fn measure(name: &str) -> Option<Measure> {
    Some(match name.trim() {
        "accuracy" => |arm| arm.accuracy,
        "cost" => |arm| arm.money,
        "tokens" => |arm| arm.tokens[0] + arm.tokens[1],
        "calls" => |arm| arm.calls,
        "seconds" => |arm| arm.seconds,
        "failed" => |arm| arm.failed.values().sum::<usize>() as f64,
        _ => return None,
    })
}

const EXPECTED: &str = "expected a condition such as `accuracy >= 0.8` or `cost <= 0.01`, or `least` or `most` and one of \
                        accuracy, cost, tokens, calls, seconds and failed";

impl FromStr for Pick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut pick = Self::default();
        for part in text.split(',').map(str::trim) {
            pick.add(part)
                .ok_or_else(|| format!("`{part}`: {EXPECTED}"))?;
        }
        Ok(pick)
    }
}

impl Pick {
    /// Adds a condition or what counts. Returns `None` for anything else.
    fn add(&mut self, part: &str) -> Option<()> {
        if let Some(name) = part.strip_prefix("least ") {
            self.least = Some(measure(name)?);
        } else if let Some(name) = part.strip_prefix("most ") {
            self.most = Some(measure(name)?);
        } else if let Some((name, limit)) = part.split_once(">=") {
            self.at_least.push((measure(name)?, number(limit)?));
        } else {
            let (name, limit) = part.split_once("<=")?;
            self.at_most.push((measure(name)?, number(limit)?));
        }
        Some(())
    }

    /// Returns whether an arm meets the conditions.
    pub fn allows(&self, arm: &ArmResult) -> bool {
        let mut lower = self.at_least.iter();
        let mut upper = self.at_most.iter();
        lower.all(|(measure, limit)| measure(arm) >= *limit)
            && upper.all(|(measure, limit)| measure(arm) <= *limit)
    }

    /// Returns the best arm that meets the conditions, and of equal ones the first.
    pub fn choose<'a>(&self, table: &'a Table) -> Option<&'a ArmResult> {
        let cost = |arm: &ArmResult| {
            let least = self.least.map(|measure| measure(arm));
            least
                .or(self.most.map(|measure| -measure(arm)))
                .unwrap_or_default()
        };
        let allowed = table.arms.iter().filter(|arm| self.allows(arm));
        allowed.min_by(|one, other| cost(one).total_cmp(&cost(other)))
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}
