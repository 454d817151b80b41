//! Problems in words: what is read, and what is left alone.

use crate::support;

use support::{answer, solve, text};

#[test]
fn words_for_arithmetic() {
    for (problem, expected) in [
        ("Please calculate 12 divided by 5.", "12 / 5 = 2.4."),
        ("compute 6 times 7", "6 * 7 = 42."),
        ("What is 15 percent of 80?", "15% of 80 = 12."),
        ("minus 5 plus 2", "-5 + 2 = -3."),
        (
            "My teacher wants to know what 17 + 4 makes, by tomorrow.",
            "17 + 4 = 21.",
        ),
        ("2 + 3 =", "2 + 3 = 5."),
        ("2 + 3 = ?", "2 + 3 = 5."),
    ] {
        assert_eq!(answer(problem), expected, "{problem}");
    }
}

#[test]
fn stories() {
    for (problem, expected) in [
        (
            "A train goes 60 km/h for 2.5 h. How far does it go?",
            "The distance is 150 km: 60 * 2.5 = 150.",
        ),
        (
            "If a train goes 60 km/h for 2.5 h, how far does it get?",
            "The distance is 150 km: 60 * 2.5 = 150.",
        ),
        (
            "A car drives at 80 kilometres per hour for 45 minutes. How far?",
            "The distance is 60 km: 80 * (45 / 60) = 60.",
        ),
        (
            "A train goes 60km/h for 2 hours and 30 minutes.",
            "The distance is 150 km: 60 * (2 + 30 / 60) = 150.",
        ),
        (
            "A train goes 60 km/h for 2.5 h, then 80 km/h for 1 h. How far does it go?",
            "The distance is 230 km: 60 * 2.5 + 80 * 1 = 230.",
        ),
    ] {
        assert_eq!(answer(problem), expected, "{problem}");
    }
}

#[test]
fn stories_that_need_more_are_left_alone() {
    for problem in [
        "Two trains 300 km apart go 60 km/h and 90 km/h towards each other. When do they meet?",
        "A train goes 60 km/h for 2 h and 80 km/h for 1 h. What is its average speed?",
        "A train goes 60 km/h for 2 h. How long does it take?",
        "A train goes 60 km/h for two hours. How far?",
        "A train with 5 cars goes 60 km/h for 2 h. How far?",
        "A car goes 60 mph for 2 h and 50 km/h for 1 h. How far?",
        "Ann has 5 apples, buys 3 more and gives away 2. How many does she have?",
        "3 pens cost 6. What do 5 pens cost?",
        "A farmer has 17 sheep; all but 9 run away. How many are left?",
    ] {
        assert!(
            answer(problem).starts_with("I cannot answer this problem: "),
            "{}",
            text(&solve(problem))
        );
    }
}
