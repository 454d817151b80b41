//! Puzzles with exactly one solution, found by trying all of them.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::Check;
use crate::family::{PEOPLE, listed};
use crate::random::Random;

const ANIMALS: [&str; 5] = ["cat", "dog", "fish", "horse", "rabbit"];

type Name = &'static str;

/// What a person says about two others: that both are knaves, or that at least one is a knight.
struct Claim {
    speaker: Name,
    others: [Name; 2],
    both_knaves: bool,
}

impl Claim {
    /// Returns whether a knight would say this, or a knave wouldn't mean it.
    fn fits(&self, knights: &BTreeSet<Name>) -> bool {
        let both_knaves = !self.others.iter().any(|other| knights.contains(other));
        knights.contains(self.speaker) == (both_knaves == self.both_knaves)
    }

    fn written(&self) -> String {
        let (speaker, [first, second]) = (self.speaker, self.others);
        if self.both_knaves {
            format!("{speaker} says: \"{first} and {second} are both knaves.\"")
        } else {
            format!("{speaker} says: \"At least one of {first} and {second} is a knight.\"")
        }
    }
}

pub(crate) fn knights_and_knaves(random: &mut Random, difficulty: i64) -> (String, Check) {
    let people = first_of(&PEOPLE, 3 + difficulty / 4);
    let (claims, knights) = loop {
        let knights = people.iter().copied().filter(|_| random.between(0, 1) == 1);
        let knights: BTreeSet<_> = knights.collect();
        let claims: Vec<_> = people
            .iter()
            .map(|speaker| claim(random, &people, speaker, &knights))
            .collect();

        let all = people.iter().copied().powerset();
        let fitting = all.filter(|knights| {
            let knights = knights.iter().copied().collect();
            claims.iter().all(|claim| claim.fits(&knights))
        });
        if fitting.count() == 1 {
            break (claims, knights);
        }
    };

    let question = format!(
        "Knights always tell the truth, and knaves always lie. {} are each a knight or a knave. {} Who are the \
         knights? Answer with their names, or with `nobody`.",
        listed(&people),
        claims.iter().map(Claim::written).join(" ")
    );
    let mut named: Vec<_> = knights.into_iter().map(str::to_owned).collect();
    if named.is_empty() {
        named.push("nobody".to_owned());
    }
    (question, Check::Set(named))
}

/// Returns what a person could say about two others.
fn claim(random: &mut Random, people: &[Name], speaker: Name, knights: &BTreeSet<Name>) -> Claim {
    let others = people.iter().copied().filter(|other| *other != speaker);
    let pairs: Vec<_> = others.array_combinations().collect();
    let claim = Claim {
        speaker,
        others: random.choose(&pairs).unwrap_or([speaker; 2]),
        both_knaves: true,
    };

    Claim {
        both_knaves: claim.fits(knights),
        ..claim
    }
}

pub(crate) fn logic_grid(random: &mut Random, difficulty: i64) -> (String, Check) {
    let count = (3 + difficulty / 3).min(5);
    let (people, animals) = (first_of(&PEOPLE, count), first_of(&ANIMALS, count));
    let mut owned = animals.clone();
    random.shuffle(&mut owned);

    let pairs: Vec<_> = people.iter().copied().zip(owned).collect();
    let clues = clues(random, &pairs);
    let mut clues = clues
        .iter()
        .map(|(who, what)| format!("{who} doesn't have the {what}."));
    let (who, what) = random.choose(&pairs).unwrap_or_default();

    let animals: Vec<_> = animals.iter().map(|animal| format!("a {animal}")).collect();
    let question = format!(
        "{} have one animal each: {}. {} Which animal does {who} have? Answer with the animal.",
        listed(&people),
        listed(&animals),
        clues.join(" ")
    );
    (question, Check::Exact(what.to_owned()))
}

/// Returns pairs of a person and an animal of somebody else that leave exactly one assignment. None
/// of them can be left out.
fn clues(random: &mut Random, owned: &[(Name, Name)]) -> Vec<(Name, Name)> {
    let people = owned.iter().map(|(who, _)| *who);
    let animals: Vec<_> = owned.iter().map(|(_, what)| *what).collect();
    let pairs = people.clone().cartesian_product(animals.iter().copied());
    let mut clues: Vec<_> = pairs.filter(|pair| !owned.contains(pair)).collect();
    random.shuffle(&mut clues);

    for clue in clues.clone() {
        let others: Vec<_> = clues
            .iter()
            .copied()
            .filter(|other| *other != clue)
            .collect();
        let assignments = animals.iter().copied().permutations(animals.len());
        let fitting = assignments.filter(|animals| {
            let mut pairs = people.clone().zip(animals.iter().copied());
            !pairs.any(|pair| others.contains(&pair))
        });
        if fitting.count() == 1 {
            clues = others;
        }
    }
    clues
}

fn first_of(names: &[Name], count: i64) -> Vec<Name> {
    names.iter().copied().take(count as usize).collect()
}
