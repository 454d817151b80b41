//! Weekdays and dates.

use crate::Check;
use crate::random::Random;

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(crate) fn problem(random: &mut Random, difficulty: i64) -> (String, Check) {
    let (year, month, day) = (
        random.between(1950, 2050),
        random.between(1, 12),
        random.between(1, 28),
    );
    let later = random.between(2, 10 * difficulty * difficulty);
    let start = days(year, month, day);

    let date = format!("{day} {} {year}", name(&MONTHS, month - 1));
    let question = format!(
        "{date} is a {}. Which weekday is {later} days later? Answer with the name of the weekday.",
        weekday(start)
    );
    (question, Check::Exact(weekday(start + later).to_owned()))
}

/// Returns the number of days since 1 March of year 0, by the usual shift of the year to March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1
}

/// The first of March of year 0 was a Wednesday.
fn weekday(days: i64) -> &'static str {
    name(&WEEKDAYS, (days + 2).rem_euclid(7))
}

fn name(names: &[&'static str], index: i64) -> &'static str {
    let name = usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index));
    name.copied().unwrap_or_default()
}
