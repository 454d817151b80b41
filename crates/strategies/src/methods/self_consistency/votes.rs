//! The votes of the paths.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::Answer;

/// The counted votes.
pub(super) struct Votes {
    /// The paths that gave an answer, with their answers.
    pub(super) answers: Vec<(String, String)>,
    /// How many paths finished without an answer.
    pub(super) lost: usize,
    /// The answers, the one with the most votes first.
    groups: Vec<Group>,
}

/// Paths that gave the same answer.
struct Group {
    /// The answer in the words of the first path.
    answer: String,
    paths: Vec<String>,
}

impl Votes {
    /// Counts `answers`. Answers with the same `form` are equal.
    pub(super) fn count(
        answers: Vec<(String, String)>,
        lost: usize,
        form: &dyn Fn(&str) -> String,
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();

        for (path, answer) in &answers {
            let place = *places.entry(form(answer)).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.paths.push(path.clone()),
                None => groups.push(Group {
                    answer: answer.clone(),
                    paths: vec![path.clone()],
                }),
            }
        }

        // The sort is stable, so of groups of the same size the earliest path wins.
        groups.sort_by_key(|group| Reverse(group.paths.len()));
        Self {
            answers,
            lost,
            groups,
        }
    }

    /// Returns the answer with the most votes, and their share.
    pub(super) fn answer(&self) -> Option<Answer> {
        if self.of_winner() == 0 {
            return None;
        }

        #[expect(
            clippy::cast_precision_loss,
            reason = "there are at most a hundred paths"
        )]
        let agreement = self.of_winner() as f64 / self.finished() as f64;
        Some(Answer {
            text: self.winner().to_owned(),
            confidence: Some(agreement),
        })
    }

    /// Returns the answer with the most votes; empty if there is none.
    fn winner(&self) -> &str {
        self.groups
            .first()
            .map_or("", |group| group.answer.as_str())
    }

    /// Returns how many paths gave the winning answer.
    fn of_winner(&self) -> usize {
        self.groups.first().map_or(0, |group| group.paths.len())
    }

    /// Returns how many paths finished, with an answer or without.
    pub(super) fn finished(&self) -> usize {
        self.answers.len() + self.lost
    }

    /// Returns the paths with an answer, those with the winning answer first.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.groups
            .iter()
            .flat_map(|group| group.paths.iter().map(String::as_str))
    }

    /// Returns how many of `paths` gave an answer, as a text.
    pub(super) fn collection(&self, paths: usize) -> String {
        let mut text = format!("{} of {paths} paths gave an answer.", self.answers.len());
        if self.lost > 0 {
            text.push_str(&format!(" Lost: {}.", self.lost));
        }

        let not_needed = paths.saturating_sub(self.finished());
        if not_needed > 0 {
            text.push_str(&format!(" Not needed any more: {not_needed}."));
        }

        text
    }

    /// Returns the answers and their paths, as a text.
    pub(super) fn analysis(&self) -> String {
        let said = |group: &Group| {
            let paths = group.paths.join(", ");
            format!("{}: {} ({paths})", group.answer, group.paths.len())
        };
        self.groups.iter().map(said).collect::<Vec<_>>().join("; ")
    }

    /// Returns the winning answer and its votes, as a text.
    pub(super) fn selection(&self) -> String {
        let winner = self.winner();
        let votes = self.of_winner();
        let finished = self.finished();

        let equal = self
            .groups
            .iter()
            .filter(|group| group.paths.len() == votes)
            .count();

        let tie = if equal > 1 {
            format!("; {equal} answers have as many, and this one came on the earliest path")
        } else {
            String::new()
        };

        format!("{winner}, with {votes} of {finished} votes{tie}.")
    }
}

/// Returns whether `open` unfinished paths can no longer change the majority of the answers so far,
/// given in their common form.
pub(super) fn is_decided(forms: impl Iterator<Item = String>, open: usize) -> bool {
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    for form in forms {
        *votes.entry(form).or_default() += 1;
    }

    let mut votes: Vec<usize> = votes.into_values().collect();
    votes.sort_unstable_by_key(|votes| Reverse(*votes));
    let mut votes = votes.into_iter();
    let first = votes.next().unwrap_or(0);
    let second = votes.next().unwrap_or(0);

    // A tie would be decided by the order in which paths finish, so the lead must be out of reach.
    first > second + open
}
