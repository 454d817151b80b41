//! The game of 24: make 24 of four numbers, each used once. The model knows nothing but the messages
//! that it gets. It is only sure about two numbers, so the tree has to search.

use std::collections::BTreeSet;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
use cogwork_strategies::methods::{Search, TreeOfThoughts};
use cogwork_strategies::session::BranchStatus;
use cogwork_strategies::{EndReason, Solver, Solving};
use cogwork_typed::ask::Limits;
use serde_json::{Value, json};

use super::wires::BROAD;

/// The model. A step of it says what is left, as in `left: (13 - 9), 4, 10`.
struct Player;

#[async_trait]
impl LlmClient for Player {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request.messages().last().map_or("", |last| last.text());
        let mut lines = asked.lines().rev();
        let left = lines.find_map(|line| Some(line.split_once("left: ")?.1));
        let left = left.unwrap_or_default();

        let reply = if asked.contains("\napproaches: ") {
            let approach = |left: String| json!({"id": left, "description": format!("left: {left}"), "promise": promise(&left)});
            let approaches: Value = moves(left).into_iter().map(approach).collect();
            format!("approaches: {approaches}")
        } else if asked.contains("\nproposals: ") {
            let proposals = moves(left).into_iter();
            let proposals: String = proposals.map(|left| format!("\n- left: {left}")).collect();
            format!("proposals:{proposals}")
        } else if asked.contains("\nevaluation_score: ") {
            let solved = is_24(left);
            format!("evaluation_score: {}\nsolved: {solved}", promise(left))
        } else {
            format!("answer: {left}")
        };
        Ok(ChatResponse::new(reply))
    }
}

/// Returns what can be left after one operation.
fn moves(left: &str) -> BTreeSet<String> {
    let left: Vec<&str> = left.split(", ").collect();
    let mut moves = BTreeSet::new();
    for (one, a) in left.iter().enumerate() {
        for (other, b) in left.iter().enumerate().filter(|(other, _)| *other != one) {
            let rest = (0..).zip(&left);
            let rest = rest.filter(|(place, _)| *place != one && *place != other);
            let rest: String = rest.map(|(_, number)| format!(", {number}")).collect();
            moves.extend(["+", "-", "*", "/"].map(|sign| format!("({a} {sign} {b}){rest}")));
        }
    }
    moves
}

/// Scores what is left, exactly only if it is one number or two.
fn promise(left: &str) -> usize {
    match left.split(", ").count() {
        1 | 2 if is_24(left) || moves(left).iter().any(|left| is_24(left)) => 10,
        1 | 2 => 0,
        _ => {
            let values = left.split(", ").filter_map(value);
            let divides = |(a, b): &(i64, i64)| *a != 0 && 24 * b % a == 0;
            3 + values.filter(divides).count()
        }
    }
}

fn is_24(expression: &str) -> bool {
    value(expression).is_some_and(|(numerator, denominator)| numerator == 24 * denominator)
}

/// Returns the exact value of an expression such as `(8 / (3 - 1))`, as a fraction.
fn value(expression: &str) -> Option<(i64, i64)> {
    let inside = expression.strip_prefix('(');
    let Some(inside) = inside.and_then(|inside| inside.strip_suffix(')')) else {
        return Some((expression.parse().ok()?, 1));
    };

    let mut depth = 0;
    let end = inside.find(|sign| {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        depth == 0 && sign == ' '
    });
    let (left, rest) = inside.split_at(end?);
    let (sign, right) = rest.trim_start().split_once(' ')?;
    let ((a, b), (c, d)) = (value(left)?, value(right)?);
    match sign {
        "+" => Some((a * d + c * b, b * d)),
        "-" => Some((a * d - c * b, b * d)),
        "*" => Some((a * c, b * d)),
        _ => (c != 0).then_some((a * d, b * c)),
    }
}

async fn played(puzzle: &str, search: Search) -> Solving {
    let tree = TreeOfThoughts {
        search,
        approaches: 20,
        proposals: 20,
        depth: 2,
        ..TreeOfThoughts::default()
    };
    let limits = Limits::default().with_calls(1_000).with_thoughts(5_000);
    let solver = Solver::new(Player, tree).with_limits(limits);
    let problem = format!("Make 24 of what is left: {puzzle}");
    solver.solve(problem).await.unwrap()
}

fn numbers(text: &str) -> Vec<&str> {
    let words = text.split(|sign: char| !sign.is_ascii_digit());
    let mut numbers: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn the_tree_finds_24_past_dead_ends() {
    let puzzles = ["4, 9, 10, 13", "1, 2, 4, 7", "5, 5, 5, 1", "3, 3, 8, 8"];
    for puzzle in puzzles {
        for search in [BROAD, Search::DepthFirst, Search::BestFirst] {
            let solved = played(puzzle, search).await;
            let answer = solved.answer().unwrap_or_default();
            assert!(
                solved.is_answered(),
                "{puzzle}, {search:?}: {}",
                solved.end().unwrap()
            );
            assert!(is_24(answer), "{puzzle}: {answer}");
            assert_eq!(numbers(answer), numbers(puzzle));
            if puzzle == "3, 3, 8, 8" {
                // Only 8 / (3 - 8 / 3) is 24, which begins with a fraction.
                let branches = solved.session().branches().iter();
                let pruned = branches.filter(|branch| branch.status == BranchStatus::Pruned);
                assert!(pruned.count() > 20);
            }
        }
    }
}

#[tokio::test]
async fn the_tree_gives_up_if_24_cannot_be_made() {
    let solved = played("1, 1, 1, 1", Search::DepthFirst).await;
    assert!(matches!(solved.end().unwrap(), EndReason::GaveUp { .. }));
}
