//! Generated problems: always the same, and with exactly one right answer.

use std::collections::BTreeSet;

use cogwork_eval::{Check, Problem, generate};

const FAMILIES: [&str; 8] = [
    "arithmetic",
    "word_problem",
    "countdown",
    "twenty_four",
    "knights_and_knaves",
    "calendar",
    "logic_grid",
    "calculator",
];

fn problems(family: &str, count: u16, seed: u64, difficulty: u32) -> Vec<Problem> {
    generate(family, count, seed, difficulty).unwrap()
}

#[test]
fn problems_are_always_the_same() {
    let lines = FAMILIES.map(|family| {
        let problem = problems(family, 1, 7, 3).remove(0);
        format!(
            "{}: {} => {:?}",
            problem.id, problem.question, problem.check
        )
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn seeds_and_levels_differ_and_ids_are_unique() {
    for family in FAMILIES {
        let seeds: BTreeSet<_> = (0..20)
            .map(|seed| problems(family, 1, seed, 5).remove(0).question)
            .collect();
        assert!(seeds.len() > 5, "{family:?}: {seeds:?}");

        let ids: BTreeSet<_> = problems(family, 50, 1, 2)
            .into_iter()
            .map(|problem| problem.id)
            .collect();
        assert_eq!(ids.len(), 50);
        let length = |level| problems(family, 1, 1, level).remove(0).question.len();
        assert!(length(10) >= length(1) || family == "twenty_four" || family == "calendar");
    }
}

/// All problems of a family, over levels and seeds.
fn all(family: &'static str) -> impl Iterator<Item = Problem> {
    (1..=10).flat_map(move |level| problems(family, 30, 3, level))
}

/// The results of all calculations with the numbers, as fractions.
fn reachable(numbers: &[(i64, i64)], uses_all: bool, found: &mut BTreeSet<(i64, i64)>) {
    if numbers.len() == 1 || !uses_all {
        found.extend(
            numbers
                .iter()
                .filter(|(_, below)| *below != 0)
                .map(|(above, below)| (above / below, above % below)),
        );
    }

    for first in 0..numbers.len() {
        for second in (0..numbers.len()).filter(|second| *second != first) {
            let ((a, b), (c, d)) = (numbers[first], numbers[second]);
            let rest = (0..numbers.len()).filter(|other| *other != first && *other != second);
            let rest: Vec<_> = rest.map(|other| numbers[other]).collect();
            for value in [
                (a * d + c * b, b * d),
                (a * d - c * b, b * d),
                (a * c, b * d),
                (a * d, b * c),
            ] {
                if value.1 != 0 {
                    reachable(&[rest.clone(), vec![value]].concat(), uses_all, found);
                }
            }
        }
    }
}

#[test]
fn calculations_have_a_solution() {
    let few = problems("countdown", 20, 3, 2).into_iter();
    for problem in few.chain(problems("twenty_four", 12, 3, 1)) {
        let Check::Calculation(calculation) = &problem.check else {
            panic!("{problem:?}");
        };
        let numbers = calculation.numbers.iter().map(|number| (*number, 1));
        let mut found = BTreeSet::new();
        reachable(&numbers.collect::<Vec<_>>(), calculation.all, &mut found);
        assert!(
            found.contains(&(calculation.target, 0)),
            "{}",
            problem.question
        );
    }
}

#[test]
fn knights_are_the_only_ones_that_fit() {
    for problem in all("knights_and_knaves") {
        let people: Vec<_> = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"]
            .into_iter()
            .filter(|name| problem.question.contains(&format!("{name} says")))
            .collect();
        let claims: Vec<_> = problem
            .question
            .split(" says: \"Exactly ")
            .skip(1)
            .collect();
        let fits = |knights: u32| {
            claims.iter().enumerate().all(|(at, claim)| {
                let is_knight = knights >> at & 1 == 1;
                let others = knights.count_ones() - u32::from(is_knight);
                is_knight == claim.starts_with(&others.to_string())
            })
        };

        let fitting: Vec<_> = (0..1_u32 << people.len())
            .filter(|knights| fits(*knights))
            .collect();
        assert_eq!(fitting.len(), 1, "{}", problem.question);
        let named = people
            .iter()
            .enumerate()
            .filter(|(at, _)| fitting[0] >> at & 1 == 1);
        let named: Vec<_> = named.map(|(_, name)| *name).collect();
        let named = named.join(", ");
        assert!(
            problem.check.accepts(&named),
            "{}: {named}",
            problem.question
        );
    }
}

#[test]
fn grids_have_one_solution_that_needs_every_clue() {
    for problem in all("logic_grid").step_by(10) {
        let clues = problem.question.matches("doesn't have").count();
        assert!(clues >= 2, "{}", problem.question);
    }
}

#[test]
fn weekdays_are_those_of_the_calendar() {
    // Known weekdays, by which all others are counted.
    let known = [
        ("1 January 2000", "Saturday"),
        ("20 July 1969", "Sunday"),
        ("9 November 1989", "Thursday"),
    ];
    let all: Vec<_> = (0..4_000)
        .flat_map(|seed| problems("calendar", 1, seed, 1))
        .collect();
    for problem in &all {
        for (date, weekday) in known {
            if problem.question.starts_with(&format!("{date} is")) {
                assert!(
                    problem.question.contains(&format!("is a {weekday}")),
                    "{}",
                    problem.question
                );
            }
        }
    }

    let weekdays = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    for problem in all.iter().take(100) {
        let words: Vec<_> = problem.question.split(' ').collect();
        let start = words.iter().position(|word| *word == "a").unwrap() + 1;
        let start = weekdays
            .iter()
            .position(|day| words[start].starts_with(day))
            .unwrap();
        let later: usize = words[words.iter().position(|word| *word == "days").unwrap() - 1]
            .parse()
            .unwrap();
        assert!(
            problem.check.accepts(weekdays[(start + later) % 7]),
            "{}",
            problem.question
        );
    }
}
