//! Compares the calls that were made with those on record.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::Result;
use crate::flow::Story;
use crate::place::Record;
use crate::witness::{Made, Witness};

pub(crate) struct Tally {
    witness: Witness,
    /// What was on record at any time, by run.
    seen: HashMap<String, Record>,
    /// What is on record in the end.
    records: HashMap<String, Record>,
    /// What was on record, or was used, and isn't on record in the end.
    lost: Vec<String>,
}

impl Tally {
    pub(crate) fn new(witness: Witness) -> Self {
        Self {
            witness,
            seen: HashMap::new(),
            records: HashMap::new(),
            lost: Vec::new(),
        }
    }

    /// Returns the number of steps of a run that are on record, those inside of a step not counted.
    pub(crate) fn steps(&self, run: &str) -> u64 {
        let seen = self.seen.get(run).into_iter().flatten();
        let numbers = seen.filter_map(|(step, _)| {
            let number = step.split_once('#')?.1;
            let end = number.find(|character: char| !character.is_ascii_digit());
            number.get(..end.unwrap_or(number.len()))?.parse().ok()
        });
        numbers.max().unwrap_or_default()
    }

    /// Takes note of what is on record. It has to be there in the end: a server that was just started
    /// may not show all of it.
    pub(crate) fn look(&mut self, run: &str, now: Record) {
        let seen = self.seen.entry(run.to_owned()).or_default();
        for (step, made) in now {
            seen.entry(step).or_insert(made);
        }
    }

    /// Checks how a run ended: as one that nobody killed, and with the outcomes that are on record.
    pub(crate) fn ended(
        &mut self,
        run: &str,
        story: &Story,
        undisturbed: &Story,
        record: Record,
    ) -> Result<()> {
        if steps(story) != steps(undisturbed) || story.number != undisturbed.number {
            return Err(format!("{run} ended differently from a run that nobody killed").into());
        }

        let seen = self.seen.get(run).into_iter().flatten();
        let expected = seen.map(|(_, made)| made).chain(&story.used);
        let lost = expected.filter(|made| record.get(made.step()) != Some(*made));
        self.lost
            .extend(lost.map(|made| format!("{} was on record, or was used", made.key)));
        self.records.insert(run.to_owned(), record);
        Ok(())
    }

    /// Prints the result. Returns whether no call was made twice, and none was lost.
    ///
    /// A call that was in progress at a kill is made again, since its outcome isn't on record. It is
    /// made twice only if it begins anew after the call that is on record. An outcome is lost if it was
    /// on record, or if another call began with it, and something else is on record in the end.
    pub(crate) fn print(mut self, kills: u64) -> Result<bool> {
        let calls = self.witness.calls()?;
        let order = calls.iter().enumerate();
        let order: HashMap<u64, usize> = order.map(|(index, call)| (call.made, index)).collect();

        let mut twice = Vec::new();
        let nothing = Record::new();
        for (index, call) in calls.iter().enumerate() {
            let key = format!("{}:{}", call.run, call.step);
            let record = self.records.get(&call.run).unwrap_or(&nothing);
            let recorded = record.get(&call.step);
            match recorded.map(|made| order.get(&made.made)) {
                Some(Some(recorded)) if *recorded < index => twice.push(key),
                Some(Some(_)) => {}
                Some(None) => self
                    .lost
                    .push(format!("{key} is on record and was never made")),
                None => self.lost.push(format!("{key} isn't on record")),
            }

            let is_known = |after| record.values().any(|made| made.made == after);
            if let Some(after) = call.after.filter(|after| !is_known(*after)) {
                let call = format!("{}:{} began with {after}", call.run, call.step);
                self.lost.push(call);
            }
        }

        let keys: HashSet<_> = calls.iter().map(|call| (&call.run, &call.step)).collect();
        let again = calls.len() - keys.len() - twice.len();
        println!("calls: {}, in progress at a kill: {again}", calls.len());
        for problem in twice.iter().chain(&self.lost).take(20) {
            eprintln!("twice or lost: {problem}");
        }

        let (twice, lost) = (twice.len(), self.lost.len());
        println!(
            "kills: {kills}, recorded calls: {}, made twice: {twice}, lost: {lost}",
            keys.len()
        );
        Ok(twice == 0 && lost == 0)
    }
}

/// Returns the calls whose outcomes are in a story. A fork has those of another run.
fn steps(story: &Story) -> BTreeSet<&str> {
    story.used.iter().map(Made::step).collect()
}
