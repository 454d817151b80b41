//! Generated problems: always the same, and with exactly one right answer.

use std::collections::BTreeSet;

use cogwork_eval::{Check, Problem, generate};

const FAMILIES: &str = "arithmetic word_problem countdown twenty_four knights_and_knaves calendar logic_grid calculator";

fn problems(family: &str, count: u16, seed: u64, difficulty: u32) -> Vec<Problem> {
    generate(family, count, seed, difficulty).unwrap()
}

#[test]
fn problems_are_always_the_same() {
    let lines = FAMILIES.split(' ').map(|family| {
        let problem = problems(family, 1, 7, 3).remove(0);
        let (id, question) = (problem.id, problem.question);
        format!("{id}: {question} => {:?}", problem.check)
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn seeds_and_levels_differ_and_ids_are_unique() {
    for family in FAMILIES.split(' ') {
        let of_seed = |seed| problems(family, 1, seed, 5).remove(0).question;
        let seeds: BTreeSet<_> = (0..20).map(of_seed).collect();
        assert!(seeds.len() > 5, "{family:?}: {seeds:?}");

        let many = problems(family, 50, 1, 2).into_iter();
        let ids: BTreeSet<_> = many.map(|problem| problem.id).collect();
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
        let whole = numbers.iter().filter(|(_, below)| *below != 0);
        found.extend(whole.map(|(above, below)| (above / below, above % below)));
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
        let is_found = found.contains(&(calculation.target, 0));
        assert!(is_found, "{}", problem.question);
    }
}

#[test]
fn knights_are_the_only_ones_that_fit() {
    for problem in all("knights_and_knaves") {
        let question = &problem.question;
        let people = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"].into_iter();
        let speakers = people.filter(|name| question.contains(&format!("{name} says")));
        let people: Vec<_> = speakers.collect();
        let claims: Vec<_> = question.split(" says: \"Exactly ").skip(1).collect();
        let fits = |knights: u32| {
            claims.iter().enumerate().all(|(at, claim)| {
                let is_knight = knights >> at & 1 == 1;
                let others = knights.count_ones() - u32::from(is_knight);
                is_knight == claim.starts_with(&others.to_string())
            })
        };

        let mut fitting = 0..1_u32 << people.len();
        let knights = fitting.find(|knights| fits(*knights)).unwrap();
        assert_eq!(fitting.find(|knights| fits(*knights)), None, "{question}");
        let named = people.iter().enumerate();
        let named = named.filter(|(at, _)| knights >> at & 1 == 1);
        let named: Vec<_> = named.map(|(_, name)| *name).collect();
        assert!(problem.check.accepts(&named.join(", ")), "{question}");
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
    let all = (0..4_000).flat_map(|seed| problems("calendar", 1, seed, 1));
    let all: Vec<_> = all.collect();
    for question in all.iter().map(|problem| &problem.question) {
        for (date, weekday) in known {
            let is_asked = question.starts_with(&format!("{date} is"));
            let is_right = question.contains(&format!("is a {weekday}"));
            assert!(!is_asked || is_right, "{question}");
        }
    }

    let weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";
    let weekdays: Vec<_> = weekdays.split(' ').collect();
    for problem in all.iter().take(100) {
        let words: Vec<_> = problem.question.split(' ').collect();
        let place = |wanted| words.iter().position(|word| *word == wanted).unwrap();
        let begin = words[place("a") + 1];
        let mut days = weekdays.iter();
        let start = days.position(|day| begin.starts_with(day)).unwrap();
        let later: usize = words[place("days") - 1].parse().unwrap();
        let expected = weekdays[(start + later) % 7];
        assert!(problem.check.accepts(expected), "{}", problem.question);
    }
}
