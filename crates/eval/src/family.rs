use chrono::{Days, NaiveDate};
use cogwork_text::{Name, NameList};

use crate::problem::Problem;
use crate::random::Random;
use crate::{Check, puzzles};

/// The highest difficulty of generated problems.
const HARDEST: u32 = 10;

/// Makes a question of a difficulty, and its check.
type Family = fn(&mut Random, i64) -> (String, Check);

const FAMILIES: [(&str, Family); 8] = [
    ("arithmetic", arithmetic),
    ("word_problem", word_problem),
    ("countdown", countdown),
    ("twenty_four", twenty_four),
    ("knights_and_knaves", puzzles::knights_and_knaves),
    ("calendar", calendar),
    ("logic_grid", puzzles::logic_grid),
    ("calculator", calculator),
];

/// Generates problems with exact checks. The same seed gives the same problems in every version.
/// `difficulty` is from 1 to 10.
///
/// | family | problems |
/// |---|---|
/// | `arithmetic` | a sum of products and differences |
/// | `word_problem` | a story with several steps of calculation |
/// | `countdown` | numbers from which a target is to be calculated |
/// | `twenty_four` | four numbers from which 24 is to be calculated |
/// | `knights_and_knaves` | people who always lie or always tell the truth |
/// | `calendar` | the weekday a number of days after a date |
/// | `logic_grid` | who owns what, from a few clues |
/// | `calculator` | large products, for models with the tool [`calculator`](crate::calculator) |
///
/// # Errors
///
/// Returns an error for an unknown family or difficulty, with those that exist.
///
/// ```
/// let problems = cogwork_eval::generate("arithmetic", 2, 7, 1)?;
/// assert_eq!(problems[1].id, "arithmetic-7-1-2");
/// # Ok::<(), String>(())
/// ```
pub fn generate(
    family: &str,
    count: u16,
    seed: u64,
    difficulty: u32,
) -> Result<Vec<Problem>, String> {
    let known = FAMILIES.iter().find(|(name, _)| *name == family);
    let (name, make) = known.ok_or_else(|| {
        let names = NameList::or(FAMILIES.map(|(name, _)| name));
        format!("unknown problems `{}`; expected {names}", Name(family))
    })?;
    if !(1..=HARDEST).contains(&difficulty) {
        return Err(format!(
            "the difficulty is {difficulty}; expected 1 to {HARDEST}"
        ));
    }

    let problems = (0..count).map(|index| {
        let seed_of_problem = seed.wrapping_mul(1_000_003).wrapping_add(index.into());
        let (question, check) = make(&mut Random::new(seed_of_problem), difficulty.into());
        Problem {
            id: format!("{name}-{seed}-{difficulty}-{}", index + 1),
            question,
            check,
            tags: vec![(*name).to_owned()],
            difficulty: Some(difficulty),
        }
    });
    Ok(problems.collect())
}

fn arithmetic(random: &mut Random, difficulty: i64) -> (String, Check) {
    let mut value = random.between(2, 20);
    let mut written = value.to_string();

    for _ in 0..difficulty {
        let number = random.between(2, 12);
        (value, written) = match random.between(0, 2) {
            0 => (value + number, format!("{written} + {number}")),
            1 => (value - number, format!("{written} - {number}")),
            _ if written.contains(' ') => (value * number, format!("({written}) * {number}")),
            _ => (value * number, format!("{written} * {number}")),
        };
    }

    let question = format!("What is {written}? Answer with the number.");
    (question, (value as f64).into())
}

pub(crate) const PEOPLE: [&str; 6] = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"];
const THINGS: [&str; 6] = ["apples", "books", "coins", "marbles", "stamps", "tickets"];

fn word_problem(random: &mut Random, difficulty: i64) -> (String, Check) {
    let who = random.choose(&PEOPLE).unwrap_or("Ada");
    let things = random.choose(&THINGS).unwrap_or("apples");
    let mut count = random.between(3, 20);
    let mut story = format!("{who} has {count} {things}.");

    for _ in 0..=difficulty {
        let number = random.between(2, 9);
        let step = match random.between(0, 3) {
            0 => {
                count += number;
                format!(" {who} finds {number} more.")
            }
            1 if count > number => {
                count -= number;
                format!(" {who} gives {number} away.")
            }
            2 => {
                count += number * 4;
                format!(" {who} gets {number} boxes with 4 {things} in each.")
            }
            _ => {
                count *= 2;
                format!(" Then {who} doubles the number of {things}.")
            }
        };
        story.push_str(&step);
    }

    story.push_str(&format!(
        " How many {things} does {who} have now? Answer with the number."
    ));
    (story, (count as f64).into())
}

/// Combines random numbers, so that there is always a solution.
fn countdown(random: &mut Random, difficulty: i64) -> (String, Check) {
    let mut target = random.between(2, 25);
    let mut numbers = vec![target];

    for _ in 0..(difficulty + 1).min(5) {
        let number = random.between(2, 12);
        target = match random.between(0, 2) {
            0 if target < 1_000 => target * number,
            1 if target > number => target - number,
            _ => target + number,
        };
        numbers.push(number);
    }
    calculation(random, numbers, target, false)
}

/// Splits two factors of 24 into a sum and a difference.
fn twenty_four(random: &mut Random, _difficulty: i64) -> (String, Check) {
    let factors = [(4, 6), (6, 4), (3, 8), (8, 3), (2, 12), (12, 2)];
    let (first, second) = random.choose(&factors).unwrap_or((4, 6));
    let (part, more) = (random.between(1, first - 1), random.between(1, 9));
    let numbers = vec![part, first - part, second + more, more];
    calculation(random, numbers, 24, true)
}

fn calculation(
    random: &mut Random,
    mut numbers: Vec<i64>,
    target: i64,
    all: bool,
) -> (String, Check) {
    random.shuffle(&mut numbers);
    let uses = if all {
        "must be used exactly once"
    } else {
        "may be used at most once"
    };
    let question = format!(
        "Use the numbers {} with +, -, * and / to get {target}. Each {uses}. Answer with the calculation, \
         such as (1 + 2) * 3.",
        listed(&numbers)
    );
    let check = Check::Calculation {
        numbers,
        target,
        all,
    };
    (question, check)
}

fn calendar(random: &mut Random, difficulty: i64) -> (String, Check) {
    let first = NaiveDate::from_ymd_opt(1950, 1, 1).unwrap_or_default();
    let start = first + Days::new(random.between(0, 36_524) as u64);
    let later = random.between(2, 10 * difficulty * difficulty);
    let end = start + Days::new(later as u64);

    let question = format!(
        "{} is a {}. Which weekday is {later} days later? Answer with the name of the weekday.",
        start.format("%-d %B %Y"),
        start.format("%A")
    );
    (question, Check::Exact(end.format("%A").to_string()))
}

fn calculator(random: &mut Random, difficulty: i64) -> (String, Check) {
    let most = 10_i64.pow(difficulty.min(5) as u32 + 1);
    let first = random.between(most / 10, most);
    let second = random.between(most / 10, most);
    let third = random.between(2, most);

    let question = format!("What is {first} * {second} - {third}? Answer with the number.");
    (question, ((first * second - third) as f64).into())
}

/// Writes items as `1, 2 and 3`.
pub(crate) fn listed<T: ToString>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => items.concat(),
    }
}
