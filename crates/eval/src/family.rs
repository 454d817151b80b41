use serde::Deserialize;

use crate::problem::Problem;
use crate::random::Random;
use crate::{Check, calendar, puzzles};

/// The highest difficulty of generated problems.
pub(crate) const HARDEST: u32 = 10;

/// A kind of problems that are generated from a seed, with exact checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// A sum of products and differences, with one more operation for each level of difficulty.
    Arithmetic,
    /// A story with several steps of calculation.
    WordProblem,
    /// Numbers from which a target is to be calculated.
    Countdown,
    /// Four numbers from which 24 is to be calculated.
    TwentyFour,
    /// People who always lie or always tell the truth.
    KnightsAndKnaves,
    /// The weekday a number of days after a date.
    Calendar,
    /// Who owns what, from a few clues.
    LogicGrid,
    /// Large products, for models with the tool `calculator`.
    Calculator,
}

impl Family {
    /// Generates `count` problems. The same seed gives the same problems in every version.
    /// `difficulty` is from 1 to 10.
    ///
    /// ```
    /// use cogwork_eval::Family;
    ///
    /// let problems = Family::Arithmetic.problems(2, 7, 1);
    /// assert_eq!(problems[0].question, Family::Arithmetic.problems(1, 7, 1)[0].question);
    /// ```
    pub fn problems(self, count: usize, seed: u64, difficulty: u32) -> Vec<Problem> {
        let difficulty = difficulty.clamp(1, HARDEST);
        (0..count as u64)
            .map(|number| {
                let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
                let (question, check) = self.problem(&mut random, i64::from(difficulty));
                Problem {
                    id: format!("{}-{seed}-{difficulty}-{}", self.name(), number + 1),
                    question,
                    check,
                    tags: vec![self.name().to_owned()],
                    difficulty: Some(difficulty),
                }
            })
            .collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::WordProblem => "word_problem",
            Self::Countdown => "countdown",
            Self::TwentyFour => "twenty_four",
            Self::KnightsAndKnaves => "knights_and_knaves",
            Self::Calendar => "calendar",
            Self::LogicGrid => "logic_grid",
            Self::Calculator => "calculator",
        }
    }

    fn problem(self, random: &mut Random, difficulty: i64) -> (String, Check) {
        match self {
            Self::Arithmetic => arithmetic(random, difficulty),
            Self::WordProblem => word_problem(random, difficulty),
            Self::Countdown => countdown(random, difficulty),
            Self::TwentyFour => twenty_four(random),
            Self::KnightsAndKnaves => puzzles::knights_and_knaves(random, difficulty),
            Self::Calendar => calendar::problem(random, difficulty),
            Self::LogicGrid => puzzles::logic_grid(random, difficulty),
            Self::Calculator => calculator(random, difficulty),
        }
    }
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

const PEOPLE: [&str; 6] = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"];
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
    let mut numbers = Vec::new();
    let mut target: i64 = random.between(2, 25);
    numbers.push(target);

    for _ in 0..(difficulty + 1).min(5) {
        let number = random.between(2, 12);
        target = match random.between(0, 2) {
            0 if target < 1_000 => target * number,
            1 if target > number => target - number,
            _ => target + number,
        };
        numbers.push(number);
    }
    random.shuffle(&mut numbers);

    let question = format!(
        "Use the numbers {} with +, -, * and / to get {target}. Each may be used at most once. Answer with the \
         calculation, such as (1 + 2) * 3.",
        listed(&numbers)
    );
    let check = Check::Calculation {
        numbers,
        target,
        all: false,
    };
    (question, check)
}

/// Sets of four numbers from which 24 can be calculated.
const TWENTY_FOURS: [[i64; 4]; 12] = [
    [1, 2, 3, 4],
    [2, 3, 4, 6],
    [4, 4, 10, 10],
    [3, 3, 8, 8],
    [1, 5, 5, 5],
    [2, 2, 6, 6],
    [4, 5, 6, 10],
    [1, 3, 4, 6],
    [2, 7, 8, 9],
    [3, 5, 7, 13],
    [5, 5, 9, 11],
    [6, 6, 6, 6],
];

fn twenty_four(random: &mut Random) -> (String, Check) {
    let mut numbers = random
        .choose(&TWENTY_FOURS)
        .unwrap_or([1, 2, 3, 4])
        .to_vec();
    random.shuffle(&mut numbers);

    let question = format!(
        "Use the numbers {} with +, -, * and / to get 24. Each must be used exactly once. Answer with the \
         calculation, such as (1 + 2 + 3) * 4.",
        listed(&numbers)
    );
    let check = Check::Calculation {
        numbers,
        target: 24,
        all: true,
    };
    (question, check)
}

fn calculator(random: &mut Random, difficulty: i64) -> (String, Check) {
    let most = 10_i64.pow(u32::try_from(difficulty.min(5)).unwrap_or(1) + 1);
    let (first, second) = (
        random.between(most / 10, most),
        random.between(most / 10, most),
    );
    let third = random.between(2, most);
    let value = first * second - third;

    let question = format!("What is {first} * {second} - {third}? Answer with the number.");
    (question, (value as f64).into())
}

/// Writes items as `1, 2 and 3`.
pub(crate) fn listed<T: ToString>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => items.concat(),
    }
}
