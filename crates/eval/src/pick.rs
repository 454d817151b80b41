use std::collections::BTreeMap;
use std::str::FromStr;

use cogwork_text::{Name, NameList};
use minijinja::Environment;
use minijinja::value::{Value, ValueKind};

use crate::columns::COLUMNS;
use crate::{ArmResult, Table};

/// Which arm to choose: conditions, and what counts among the arms that meet them, such as
/// `accuracy >= 0.8, least cost`. All [numbers](ArmResult::numbers) can be used and calculated with.
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
    conditions: Vec<String>,
    /// An expression that should be high.
    best: Option<String>,
}

impl FromStr for Pick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An expression is tried with some numbers, which shows what it is, and whether it has unknown names.
        let names = COLUMNS.iter().map(|(name, _)| *name);
        let numbers = names.clone().map(|name| (name.to_owned(), 1.0)).collect();
        let is =
            |expression: &str, kind| value(expression, &numbers).is_some_and(|v| v.kind() == kind);

        let mut pick = Self::default();
        for part in text.split(',').map(str::trim) {
            let most = part.strip_prefix("most ").map(str::to_owned);
            let least = part
                .strip_prefix("least ")
                .map(|least| format!("-({least})"));
            match most.or(least) {
                Some(best) if is(&best, ValueKind::Number) => pick.best = Some(best),
                None if is(part, ValueKind::Bool) => pick.conditions.push(part.to_owned()),
                _ => {
                    let expected = "expected `accuracy >= 0.8`, `least cost` or `most accuracy`";
                    let (part, names) = (Name(part), NameList::or(names));
                    return Err(format!("`{part}`: {expected}, with {names}"));
                }
            }
        }
        Ok(pick)
    }
}

impl Pick {
    /// Returns whether an arm meets the conditions.
    pub fn allows(&self, arm: &ArmResult) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.all(|condition| value(condition, &arm.numbers).is_some_and(|met| met.is_true()))
    }

    /// Returns the best arm that meets the conditions, and of equal ones the first. An arm with an
    /// unknown cost meets no condition on it, and isn't the cheapest. An arm of which runs were not made
    /// isn't chosen.
    pub fn choose<'a>(&self, table: &'a Table) -> Option<&'a ArmResult> {
        let best = self.best.as_deref().unwrap_or("0");
        let rank = |arm: &ArmResult| f64::try_from(value(best, &arm.numbers)?).ok();

        let whole = table.arms.iter().filter(|arm| table.is_whole(arm));
        let allowed = whole.filter(|arm| self.allows(arm));
        let ranked = allowed.filter_map(|arm| Some((arm, rank(arm)?)));
        // Of equal ones, `max_by` returns the last.
        let best = ranked
            .rev()
            .max_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map(|(arm, _)| arm)
    }
}

/// Returns the value of an expression of minijinja, if the arm has all its numbers.
fn value(expression: &str, numbers: &BTreeMap<String, f64>) -> Option<Value> {
    let environment = Environment::empty();
    let expression = environment.compile_expression(expression).ok()?;
    let names = expression.undeclared_variables(false);
    // Without this, an unknown name would compare as nothing, which is less than every number.
    let is_known = names.iter().all(|name| numbers.contains_key(name));
    is_known.then(|| expression.eval(numbers).ok())?
}
