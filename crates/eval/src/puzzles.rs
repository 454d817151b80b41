//! Puzzles with exactly one solution, found by trying all of them.

use crate::Check;
use crate::family::listed;
use crate::random::Random;

const PEOPLE: [&str; 6] = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"];
const ANIMALS: [&str; 5] = ["cat", "dog", "fish", "horse", "rabbit"];

/// The number of puzzles that are tried until one has exactly one solution.
const TRIES: usize = 10_000;

/// What a person says about two others: that both are knaves, or that at least one is a knight.
#[derive(Clone, Copy)]
struct Claim {
    speaker: usize,
    first: usize,
    second: usize,
    both_knaves: bool,
}

impl Claim {
    /// Returns whether a knight would say this, or a knave wouldn't mean it. Bit n says whether
    /// person n is a knight.
    fn fits(self, knights: u32) -> bool {
        let is_knight = |person: usize| knights >> person & 1 == 1;
        let both_knaves = !is_knight(self.first) && !is_knight(self.second);
        is_knight(self.speaker) == (both_knaves == self.both_knaves)
    }

    fn written(self, people: &[&str]) -> Option<String> {
        let speaker = people.get(self.speaker)?;
        let (first, second) = (people.get(self.first)?, people.get(self.second)?);
        Some(match self.both_knaves {
            true => format!("{speaker} says: \"{first} and {second} are both knaves.\""),
            false => {
                format!("{speaker} says: \"At least one of {first} and {second} is a knight.\"")
            }
        })
    }
}

pub(crate) fn knights_and_knaves(random: &mut Random, difficulty: i64) -> (String, Check) {
    let count = 3 + usize::try_from(difficulty / 4).unwrap_or_default();
    let people: Vec<_> = PEOPLE.into_iter().take(count).collect();
    let (claims, knights) = claims(random, people.len());
    let said = claims.iter().filter_map(|claim| claim.written(&people));
    let said: Vec<_> = said.collect();

    let question = format!(
        "Knights always tell the truth, and knaves always lie. {} are each a knight or a knave. {} Who are the \
         knights? Answer with their names, or with `nobody`.",
        listed(&people),
        said.join(" ")
    );
    let named = (0..)
        .zip(people)
        .filter(|(person, _)| knights >> person & 1 == 1);
    let mut named: Vec<_> = named.map(|(_, name)| name.to_owned()).collect();
    if named.is_empty() {
        named.push("nobody".to_owned());
    }
    (question, Check::Set(named))
}

/// Returns claims that fit exactly one assignment, and that one.
fn claims(random: &mut Random, count: usize) -> (Vec<Claim>, u32) {
    let mut made = (Vec::new(), 0);
    for _ in 0..TRIES {
        let knights = u32::try_from(random.between(0, (1 << count) - 1)).unwrap_or_default();
        let claims: Vec<_> = (0..count)
            .map(|speaker| claim(random, count, speaker, knights))
            .collect();

        let fits = |all: &u32| claims.iter().all(|claim| claim.fits(*all));
        let solutions = (0..1_u32 << count).filter(fits).count();
        made = (claims, knights);
        if solutions == 1 {
            break;
        }
    }

    made
}

/// Returns what a person could say about two others.
fn claim(random: &mut Random, count: usize, speaker: usize, knights: u32) -> Claim {
    let mut others: Vec<_> = (0..count).filter(|other| *other != speaker).collect();
    random.shuffle(&mut others);
    let claim = Claim {
        speaker,
        first: others.first().copied().unwrap_or_default(),
        second: others.get(1).copied().unwrap_or_default(),
        both_knaves: true,
    };

    Claim {
        both_knaves: claim.fits(knights),
        ..claim
    }
}

pub(crate) fn logic_grid(random: &mut Random, difficulty: i64) -> (String, Check) {
    let count = if difficulty > 5 {
        5
    } else {
        3 + usize::try_from(difficulty / 3).unwrap_or_default()
    };
    let people: Vec<_> = PEOPLE.into_iter().take(count).collect();
    let animals: Vec<_> = ANIMALS.into_iter().take(count).collect();
    let mut owned: Vec<usize> = (0..count).collect();
    random.shuffle(&mut owned);

    let clues = clues(random, &owned);
    let written = clues.iter().filter_map(|(person, animal)| {
        Some(format!(
            "{} doesn't have the {}.",
            people.get(*person)?,
            animals.get(*animal)?
        ))
    });
    let written: Vec<_> = written.collect();

    let asked = random.between(0, count as i64 - 1);
    let asked = usize::try_from(asked).unwrap_or_default();
    let who = people.get(asked).copied().unwrap_or_default();
    let what = owned.get(asked).and_then(|animal| animals.get(*animal));
    let question = format!(
        "{} have one animal each: a {}. {} Which animal does {who} have? Answer with the animal.",
        listed(&people),
        listed(&animals)
            .replace(", ", ", a ")
            .replace(" and ", " and a "),
        written.join(" ")
    );
    (
        question,
        Check::Exact(what.copied().unwrap_or_default().to_owned()),
    )
}

/// Returns pairs of a person and an animal of somebody else that leave exactly one assignment. None
/// of them can be left out.
fn clues(random: &mut Random, owned: &[usize]) -> Vec<(usize, usize)> {
    let count = owned.len();
    let pairs = (0..count).flat_map(|person| (0..count).map(move |animal| (person, animal)));
    let mut clues: Vec<_> = pairs
        .filter(|(person, animal)| owned.get(*person) != Some(animal))
        .collect();
    random.shuffle(&mut clues);

    let all = permutations(count);
    let mut index = 0;
    while index < clues.len() {
        let left_out = clues.remove(index);
        let fits = |owned: &&Vec<usize>| {
            clues
                .iter()
                .all(|(person, animal)| owned.get(*person) != Some(animal))
        };
        if all.iter().filter(fits).count() > 1 {
            clues.insert(index, left_out);
            index += 1;
        }
    }

    clues
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    (0..count).fold(vec![Vec::new()], |shorter, next| {
        let longer = shorter.iter().flat_map(|one| {
            (0..=one.len()).map(move |place| {
                let mut longer = one.clone();
                longer.insert(place, next);
                longer
            })
        });
        longer.collect()
    })
}
