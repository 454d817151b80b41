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
    best: Option<Best>,
}

type Measure = fn(&ArmResult) -> f64;

#[derive(Debug, Clone, Copy)]
enum Best {
    Least(Measure),
    Most(Measure),
}

fn measure(name: &str) -> Option<Measure> {
    Some(match name.trim() {
        "accuracy" => |arm| arm.accuracy,
        "cost" => |arm| arm.cost.money,
        "tokens" => |arm| arm.cost.tokens(),
        "calls" => |arm| arm.cost.calls,
        "seconds" => |arm| arm.cost.seconds,
        "failed" => |arm| arm.failures() as f64,
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
            self.best = Some(Best::Least(measure(name)?));
        } else if let Some(name) = part.strip_prefix("most ") {
            self.best = Some(Best::Most(measure(name)?));
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
        let rank = |arm: &ArmResult| match self.best {
            Some(Best::Least(measure)) => measure(arm),
            Some(Best::Most(measure)) => -measure(arm),
            None => 0.0,
        };
        let allowed = table.arms.iter().filter(|arm| self.allows(arm));
        allowed.min_by(|one, other| rank(one).total_cmp(&rank(other)))
    }
}

fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    number.is_finite().then_some(number)
}
