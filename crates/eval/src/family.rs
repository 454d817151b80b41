//! Problems that are generated, with exact checks.

use chrono::{Days, NaiveDate};
use cogwork_text::{Name, NameList};
use itertools::Itertools;

use crate::random::Random;
use crate::{Calculation, Check, Problem};

/// The highest difficulty of generated problems.
const HARDEST: u32 = 10;

/// A question, and the check of its answers.
type Question = (String, Check);

/// Makes a question of a difficulty.
type Family = fn(&mut Random, i64) -> Question;

const FAMILIES: [(&str, Family); 8] = [
    ("arithmetic", arithmetic),
    ("word_problem", word_problem),
    ("countdown", countdown),
    ("twenty_four", twenty_four),
    ("knights_and_knaves", knights_and_knaves),
    ("calendar", calendar),
    ("logic_grid", logic_grid),
    ("calculator", calculator),
];

const PEOPLE: [&str; 6] = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"];
const THINGS: [&str; 6] = ["apples", "books", "coins", "marbles", "stamps", "tickets"];
const ANIMALS: [&str; 5] = ["cat", "dog", "fish", "horse", "rabbit"];

/// Generates problems with exact checks. The same seed gives the same problems in every version.
/// `level` is the difficulty, from 1 to 10.
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
pub fn generate(family: &str, count: u16, seed: u64, level: u32) -> Result<Vec<Problem>, String> {
    let known = FAMILIES.iter().find(|(name, _)| *name == family);
    let (name, make) = known.ok_or_else(|| {
        let names = NameList::or(FAMILIES.map(|(name, _)| name));
        format!("unknown problems `{}`; expected {names}", Name(family))
    })?;
    if !(1..=HARDEST).contains(&level) {
        return Err(format!(
            "the difficulty is {level}; expected 1 to {HARDEST}"
        ));
    }

    // Each problem has a generator of its own, so that more problems leave the first ones as they are.
    let problems = (1..=u64::from(count)).map(|number| {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number - 1));
        let (question, check) = make(&mut random, level.into());
        Problem {
            id: format!("{name}-{seed}-{level}-{number}"),
            question,
            check,
            tags: vec![(*name).to_owned()],
            difficulty: Some(level),
        }
    });
    Ok(problems.collect())
}

fn arithmetic(random: &mut Random, difficulty: i64) -> Question {
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
    number(&format!("What is {written}?"), value)
}

fn number(question: &str, value: i64) -> Question {
    let question = format!("{question} Answer with the number.");
    (question, (value as f64).into())
}

fn word_problem(random: &mut Random, difficulty: i64) -> Question {
    let (who, things) = (random.choose(&PEOPLE), random.choose(&THINGS));
    let mut count = random.between(3, 20);
    let mut story = format!("{who} has {count} {things}.");

    for _ in 0..=difficulty {
        let number = random.between(2, 9);
        let boxes = format!("{who} gets {number} boxes with 4 {things} in each.");
        let doubles = format!("Then {who} doubles the number of {things}.");
        let (left, step) = match random.between(0, 3) {
            0 => (count + number, format!("{who} finds {number} more.")),
            1 if count > number => (count - number, format!("{who} gives {number} away.")),
            2 => (count + number * 4, boxes),
            _ => (count * 2, doubles),
        };
        count = left;
        story = format!("{story} {step}");
    }
    story = format!("{story} How many {things} does {who} have now?");
    number(&story, count)
}

/// Combines random numbers, so that there is always a solution.
fn countdown(random: &mut Random, difficulty: i64) -> Question {
    let mut target = random.between(2, 25);
    let mut numbers = vec![target];

    for _ in 0..(difficulty + 1).min(5) {
        let number = random.between(2, 12);
        target = match random.between(0, 2) {
            // Larger products would be hard for other reasons than the search.
            0 if target < 1_000 => target * number,
            1 if target > number => target - number,
            _ => target + number,
        };
        numbers.push(number);
    }
    calculation(random, numbers, target, false)
}

/// Splits two factors of 24 into a sum and a difference.
fn twenty_four(random: &mut Random, _difficulty: i64) -> Question {
    let (first, second) = random.choose(&[(4, 6), (6, 4), (3, 8), (8, 3), (2, 12), (12, 2)]);
    let (part, more) = (random.between(1, first - 1), random.between(1, 9));
    let numbers = vec![part, first - part, second + more, more];
    calculation(random, numbers, 24, true)
}

fn calculation(random: &mut Random, mut numbers: Vec<i64>, target: i64, all: bool) -> Question {
    random.shuffle(&mut numbers);
    let uses = if all { "exactly" } else { "at most" };
    let question = format!(
        "Use the numbers {} with +, -, * and / to get {target}. Use each {uses} once. Answer with the \
         calculation, such as (1 + 2) * 3.",
        listed(&numbers)
    );
    let calculation = Calculation {
        numbers,
        target,
        all,
    };
    (question, Check::Calculation(calculation))
}

fn calendar(random: &mut Random, difficulty: i64) -> Question {
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

fn calculator(random: &mut Random, difficulty: i64) -> Question {
    // With more than six digits, results could have more than a floating-point number keeps.
    let most = 10_i64.pow(difficulty.min(5) as u32 + 1);
    let first = random.between(most / 10, most);
    let second = random.between(most / 10, most);
    let third = random.between(2, most);
    let question = format!("What is {first} * {second} - {third}?");
    number(&question, first * second - third)
}

type Word = &'static str;

fn knights_and_knaves(random: &mut Random, difficulty: i64) -> Question {
    let people = first_of(&PEOPLE, 3 + difficulty / 4);
    let most = people.len() as i64 - 1;

    // Most claims leave none or many possibilities. If all are knaves, there is nobody to name.
    let (claims, knights) = loop {
        let claims = people.iter().map(|who| (*who, random.between(0, most)));
        let claims = claims.collect_vec();
        let sets = people.iter().copied().powerset();
        let fitting = sets.filter(|knights| fit(&claims, knights));
        if let Ok(knights) = fitting.exactly_one()
            && !knights.is_empty()
        {
            break (claims, knights);
        }
    };

    let claims = claims
        .iter()
        .map(|(who, count)| format!("{who} says: \"Exactly {count} of the others are knights.\""));
    let question = format!(
        "Knights always tell the truth, and knaves always lie. {} are each a knight or a knave. {} Who are the \
         knights? Answer with their names.",
        listed(&people),
        claims.collect_vec().join(" ")
    );
    let knights = knights.into_iter().map(str::to_owned);
    (question, Check::Set(knights.collect()))
}

/// Returns whether the knights, and nobody else, say how many of the others are knights.
fn fit(claims: &[(Word, i64)], knights: &[Word]) -> bool {
    claims.iter().all(|(who, count)| {
        let is_knight = knights.contains(who);
        let others = knights.len() as i64 - i64::from(is_knight);
        is_knight == (others == *count)
    })
}

fn logic_grid(random: &mut Random, difficulty: i64) -> Question {
    let count = (3 + difficulty / 3).min(5);
    let (people, animals) = (first_of(&PEOPLE, count), first_of(&ANIMALS, count));
    let mut owned = animals.clone();
    random.shuffle(&mut owned);

    let all = (0..people.len()).cartesian_product(animals.iter().copied());
    let mut clues = all
        .filter(|(who, what)| owned.get(*who) != Some(what))
        .collect_vec();
    random.shuffle(&mut clues);
    // All clues together leave one assignment. One that excludes nothing else is left out.
    let mut fitting = animals
        .iter()
        .copied()
        .permutations(animals.len())
        .collect_vec();
    clues.retain(|(who, what)| {
        let before = fitting.len();
        fitting.retain(|owned| owned.get(*who) != Some(what));
        fitting.len() < before
    });

    let clues = clues.into_iter().filter_map(|(who, what)| {
        let who = people.get(who)?;
        Some(format!("{who} doesn't have the {what}."))
    });
    let clues = clues.collect_vec().join(" ");
    let (who, what) = random.choose(&people.iter().copied().zip(owned).collect_vec());
    let animals = animals
        .iter()
        .map(|animal| format!("a {animal}"))
        .collect_vec();
    let question = format!(
        "{} have one animal each: {}. {clues} Which animal does {who} have? Answer with the animal.",
        listed(&people),
        listed(&animals)
    );
    (question, Check::Exact(what.to_owned()))
}

fn first_of(words: &[Word], count: i64) -> Vec<Word> {
    words.iter().copied().take(count as usize).collect()
}

/// Writes items as `1, 2 and 3`.
fn listed<T: ToString>(items: &[T]) -> String {
    let items = items.iter().map(ToString::to_string).collect_vec();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => items.concat(),
    }
}
