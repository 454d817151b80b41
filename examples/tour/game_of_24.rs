//! A tree of thoughts for the game of 24: make 24 from four numbers, each used once. The model
//! behind the client proposes operations and estimates how close the numbers are to 24, which is
//! only exact for the last two. The search has to do the rest. The answers are checked.
//!
//! ```text
//! 4 9 10 13
//!   beam of 3    (13 - 9) * (10 - 4)      right (65 calls, 56 branches, 54 given up)
//!   depth first  (13 - 9) * (10 - 4)      right (20 calls, 15 branches, 14 given up)
//!   best first   (13 - 9) * (10 - 4)      right (20 calls, 15 branches, 14 given up)
//! 1 2 4 7
//!   beam of 3    2 * (4 + (1 + 7))        right (71 calls, 62 branches, 60 given up)
//!   depth first  2 * (4 + (1 + 7))        right (27 calls, 22 branches, 20 given up)
//!   best first   2 * (4 + (1 + 7))        right (27 calls, 22 branches, 20 given up)
//! 5 5 5 1
//!   beam of 3    (5 - (1 / 5)) * 5        right (82 calls, 72 branches, 71 given up)
//!   depth first  (5 - (1 / 5)) * 5        right (74 calls, 65 branches, 64 given up)
//!   best first   (5 - (1 / 5)) * 5        right (74 calls, 65 branches, 64 given up)
//! 3 3 8 8
//!   beam of 3    8 / (3 - (8 / 3))        right (173 calls, 157 branches, 156 given up)
//!   depth first  8 / (3 - (8 / 3))        right (165 calls, 150 branches, 149 given up)
//!   best first   8 / (3 - (8 / 3))        right (165 calls, 150 branches, 149 given up)
//! 1 1 1 1
//!   beam of 3    none found                     (19 calls, 15 branches, 14 given up)
//!   depth first  none found                     (19 calls, 15 branches, 14 given up)
//!   best first   none found                     (19 calls, 15 branches, 14 given up)
//! ```
//!
//! `cargo run --example tour -- game_of_24 2 3 5 12` takes another puzzle.

use std::error::Error;

use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
use cogwork::strategies::methods::{Search, TreeOfThoughts};
use cogwork::strategies::session::BranchStatus;
use cogwork::strategies::{Solved, Solver};
use cogwork::typed::ask::Limits;
use num_rational::Rational64;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(2).collect();
    let puzzles = match given.is_empty() {
        true => ["4 9 10 13", "1 2 4 7", "5 5 5 1", "3 3 8 8", "1 1 1 1"]
            .map(String::from)
            .to_vec(),
        false => vec![given.join(" ")],
    };

    let tree = TreeOfThoughts {
        approaches: 20,
        proposals: 20,
        depth: 2,
        ..TreeOfThoughts::default()
    };
    let searches = [
        ("beam of 3", Search::BreadthFirst { beam_width: 3 }),
        ("depth first", Search::DepthFirst),
        ("best first", Search::BestFirst),
    ];

    for puzzle in puzzles {
        println!("{puzzle}");
        for (name, search) in searches {
            let budget = Limits::default()
                .with_calls(2_000)
                .with_thoughts(5_000)
                .with_tokens(u64::MAX);
            let solver = Solver::new(
                Player,
                TreeOfThoughts {
                    search,
                    ..tree.clone()
                },
            )
            .with_limits(budget);
            let solved = solver.solve(format!("Make 24 of {puzzle}.")).await?;
            println!("  {name:<12} {}", told(&puzzle, &solved));
        }
    }

    Ok(())
}

fn told(puzzle: &str, solved: &Solved) -> String {
    let branches = solved.trace().session().branches();
    let pruned = branches
        .iter()
        .filter(|branch| branch.status() == BranchStatus::Pruned)
        .count();
    let cost = format!(
        "{} calls, {} branches, {pruned} given up",
        solved.spent().calls,
        branches.len() - 1
    );

    match solved.answer().filter(|_| solved.is_answered()) {
        Some(answer) => {
            format!(
                "{answer:<24} {} ({cost})",
                if is_right(puzzle, answer) {
                    "right"
                } else {
                    "WRONG"
                }
            )
        }
        None => format!("{:<30} ({cost})", "none found"),
    }
}

/// The model.
pub(crate) struct Player;

#[async_trait]
impl LlmClient for Player {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned())
            .unwrap_or_default();

        let puzzle = asked.lines().nth(1).unwrap_or_default();
        let numbers = numbers(puzzle.trim_start_matches("Make 24 of"));
        let steps: Vec<&str> = asked
            .lines()
            .filter_map(|line| line.split_once(". ")?.1.split_once(" (left"))
            .map(|(step, _)| step)
            .collect();

        let left = asked
            .lines()
            .rev()
            .find_map(|line| line.split_once("(left: "));
        let left = left.map_or(numbers.clone(), |(_, left)| self::numbers(left));

        Ok(ChatResponse::new(if asked.contains("\napproaches: ") {
            let approach = |step: &Step| serde_json::json!({"id": step.operation, "description": step.to_string(), "promise": promise(&step.left)});
            format!(
                "approaches: {}",
                steps_from(&left)
                    .iter()
                    .map(approach)
                    .collect::<serde_json::Value>()
            )
        } else if asked.contains("\nproposals: ") {
            let steps: Vec<_> = steps_from(&left)
                .iter()
                .map(|step| format!("\n- {step}"))
                .collect();
            format!(
                "proposals: {}",
                if steps.is_empty() {
                    "none".to_owned()
                } else {
                    steps.concat()
                }
            )
        } else if asked.contains("\nevaluation_score: ") {
            let solved = left == [Rational64::from(24)];
            format!("evaluation_score: {}\nsolved: {solved}", promise(&left))
        } else {
            format!("answer: {}", expression(&numbers, &steps))
        }))
    }
}

/// An operation and the numbers that remain after it.
struct Step {
    operation: String,
    value: Rational64,
    left: Vec<Rational64>,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left: Vec<_> = self.left.iter().map(ToString::to_string).collect();
        write!(
            f,
            "{} = {} (left: {})",
            self.operation,
            self.value,
            left.join(", ")
        )
    }
}

fn numbers(text: &str) -> Vec<Rational64> {
    let words =
        text.split(|letter: char| !letter.is_ascii_digit() && letter != '/' && letter != '-');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Returns every operation on two of the numbers, the most promising first.
fn steps_from(numbers: &[Rational64]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (place, a) in numbers.iter().enumerate() {
        for (other, b) in numbers
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place)
        {
            let rest: Vec<Rational64> = numbers
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != place && *at != other)
                .map(|(_, n)| *n)
                .collect();
            for sign in ['+', '-', '*', '/'] {
                let Some(value) = apply(*a, sign, *b) else {
                    continue;
                };

                // The order of a sum or a product makes no difference.
                if "+*".contains(sign) && place > other {
                    continue;
                }

                let mut left = rest.clone();
                left.push(value);
                left.sort_unstable();

                if steps.iter().all(|step| step.left != left) {
                    steps.push(Step {
                        operation: format!("{a} {sign} {b}"),
                        value,
                        left,
                    });
                }
            }
        }
    }

    steps.sort_by(|one, other| promise(&other.left).total_cmp(&promise(&one.left)));
    steps
}

fn apply(a: Rational64, sign: char, b: Rational64) -> Option<Rational64> {
    match sign {
        '+' => Some(a + b),
        '-' => Some(a - b),
        '*' => Some(a * b),
        _ => (b != Rational64::from(0)).then(|| a / b),
    }
}

/// Returns a score from 0 to 10. It is exact for one or two numbers, and an estimate for more.
fn promise(left: &[Rational64]) -> f64 {
    let goal = Rational64::from(24);
    match left {
        [last] => {
            if *last == goal {
                10.0
            } else {
                0.0
            }
        }
        [a, b] => {
            let pairs = [(a, b), (b, a)];
            let reaches = |sign| {
                pairs
                    .iter()
                    .any(|(a, b)| apply(**a, sign, **b) == Some(goal))
            };

            if ['+', '-', '*', '/'].into_iter().any(reaches) {
                9.0
            } else {
                0.0
            }
        }
        more => {
            let near = |value: &Rational64| 1.0 / (1.0 + distance(*value));
            let sum: Rational64 = more.iter().sum();
            let product: Rational64 = more.iter().product();
            let divides = more.iter().filter(|n| {
                n.is_integer() && **n > Rational64::from(1) && (goal / **n).is_integer()
            });
            let guess = 3.0 + divides.count() as f64 + near(&sum) + near(&product);

            (guess.min(8.0) * 100.0).round() / 100.0
        }
    }
}

fn distance(value: Rational64) -> f64 {
    let difference = value - Rational64::from(24);
    (*difference.numer() as f64 / *difference.denom() as f64).abs()
}

/// Returns the steps, combined into one expression.
fn expression(numbers: &[Rational64], steps: &[&str]) -> String {
    let mut parts: Vec<(Rational64, String)> = numbers
        .iter()
        .map(|number| (*number, number.to_string()))
        .collect();
    for step in steps {
        let mut words = step.split(' ');
        let (Some(a), Some(sign), Some(b)) = (words.next(), words.next(), words.next()) else {
            continue;
        };

        let mut take = |number: &str| {
            let number: Rational64 = number.parse().ok()?;
            parts
                .iter()
                .position(|(value, _)| *value == number)
                .map(|place| parts.swap_remove(place))
        };

        let (Some((a, left)), Some((b, right))) = (take(a), take(b)) else {
            continue;
        };

        let Some(value) = sign.chars().next().and_then(|sign| apply(a, sign, b)) else {
            continue;
        };

        parts.push((value, format!("({left} {sign} {right})")));
    }

    let whole = parts.pop().map(|(_, whole)| whole).unwrap_or_default();
    whole
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(&whole)
        .to_owned()
}

/// Returns whether an expression uses exactly the numbers of the puzzle and is 24, calculated
/// independently.
fn is_right(puzzle: &str, answer: &str) -> bool {
    let sorted = |text: &str| {
        let words = text
            .split(|letter: char| !letter.is_ascii_digit())
            .filter(|word| !word.is_empty());
        let mut numbers: Vec<String> = words.map(str::to_owned).collect();
        numbers.sort_unstable();

        numbers
    };

    let letters: Vec<char> = answer.chars().filter(|letter| *letter != ' ').collect();
    sorted(puzzle) == sorted(answer) && value(&letters) == Some(Rational64::from(24))
}

/// Returns the value of an expression, which is split at its last operator of the lowest rank
/// outside of parentheses.
fn value(letters: &[char]) -> Option<Rational64> {
    for signs in ["+-", "*/"] {
        let mut depth = 0_i32;
        for (place, letter) in letters.iter().enumerate().rev() {
            match letter {
                ')' => depth += 1,
                '(' => depth -= 1,
                sign if depth == 0 && place > 0 && signs.contains(*sign) => {
                    return apply(
                        value(letters.get(..place)?)?,
                        *sign,
                        value(letters.get(place + 1..)?)?,
                    );
                }
                _ => {}
            }
        }
    }

    match letters {
        ['(', inside @ .., ')'] => value(inside),
        digits => digits.iter().collect::<String>().parse().ok(),
    }
}
