//! Reads JSON and YAML as models write it.
//!
//! Reading never fails. It results in a tree, what was corrected on the way, and at most one doubt:
//! a place that may mean something else, so that the tree can't be used. What a strict parser reads
//! in another way, or not at all, is always reported.

pub(crate) mod json;
mod line;
pub(crate) mod lines;
mod quoted;
mod witness;
pub(crate) mod yaml;

use crate::ask::{Repair, RepairKind};

use crate::tree::Tree;

/// The maximum nesting of lists and objects.
pub(crate) const MAX_LEVELS: usize = 72;

/// The maximum number of repairs that are reported.
pub(crate) const MAX_REPAIRS: usize = 100;

/// A value, and how it was read.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) notes: Notes,
    /// The number of bytes that were read.
    pub(crate) end: usize,
    pub(crate) is_yaml: bool,
    /// Whether a bracket or a fence ends it.
    pub(crate) is_closed: bool,
    /// Whether a list begins before the value or ends after it.
    pub(crate) is_in_list: bool,
    /// Whether the search for values ended with it, so that others may follow.
    pub(crate) is_surplus: bool,
}

impl Parsed {
    fn new(tree: Tree, notes: Notes, end: usize) -> Self {
        Self {
            tree,
            notes,
            end,
            is_yaml: false,
            is_closed: true,
            is_in_list: false,
            is_surplus: false,
        }
    }

    /// Returns whether it has several meanings or isn't whole.
    pub(crate) fn is_broken(&self) -> bool {
        self.notes.doubt.is_some() || self.notes.is_cut
    }

    /// Returns the value if it is the whole text.
    pub(crate) fn whole(self, text: &str) -> Option<Self> {
        (self.end >= text.len() && !self.is_broken()).then_some(self)
    }
}

/// What is to be said about a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    pub(crate) repairs: Vec<Repair>,
    /// The line of the first place that may mean something else, and what is there.
    pub(crate) doubt: Option<(usize, String)>,
    /// Whether the text ends inside the value.
    pub(crate) is_cut: bool,
}

impl Notes {
    pub(crate) fn repair(&mut self, kind: RepairKind, line: usize, what: impl Into<String>) {
        if self.repairs.len() < MAX_REPAIRS {
            self.repairs.push(Repair::new(kind, line, what));
        }
    }

    pub(crate) fn doubt(&mut self, line: usize, what: impl Into<String>) {
        self.doubt.get_or_insert_with(|| (line, what.into()));
    }

    /// Takes over what is to be said about a part.
    fn absorb(&mut self, part: Self) {
        let room = MAX_REPAIRS.saturating_sub(self.repairs.len());
        self.repairs.extend(part.repairs.into_iter().take(room));
        self.doubt = self.doubt.take().or(part.doubt);
        self.is_cut |= part.is_cut;
    }
}
