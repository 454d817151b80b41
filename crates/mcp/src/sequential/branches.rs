use serde::{Deserialize, Serialize};

/// The names of the branches of a session.
///
/// If there are too many, the one whose last thought is the oldest is dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Branches(Vec<Branch>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Branch {
    id: String,
    /// The number of thoughts in the session when its last one was added.
    last: u64,
}

/// The bounds of what is kept of branches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) branches: usize,
    /// The sum of the lengths of their names.
    pub(super) bytes: usize,
}

impl Branches {
    /// Records a thought of a branch.
    pub(super) fn record(&mut self, id: &str, thought: u64, bounds: Bounds) {
        if let Some(branch) = self.0.iter_mut().find(|branch| branch.id == id) {
            branch.last = thought;
            return;
        }

        self.0.push(Branch {
            id: id.to_owned(),
            last: thought,
        });
        while self.exceed(bounds) {
            self.drop_oldest();
        }
    }

    fn exceed(&self, bounds: Bounds) -> bool {
        let bytes: usize = self.0.iter().map(|branch| branch.id.len()).sum();
        self.0.len() > 1 && (self.0.len() > bounds.branches || bytes > bounds.bytes)
    }

    fn drop_oldest(&mut self) {
        let oldest = self.0.iter().map(|branch| branch.last).min();
        self.0.retain(|branch| Some(branch.last) != oldest);
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|branch| branch.id == id)
    }

    /// Returns the names in the order of the keys of an object in JavaScript: whole numbers first,
    /// and then the others from the first to the last that was added.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.0.iter().map(|branch| &branch.id).collect();
        names.sort_by_key(|name| index(name).unwrap_or(u32::MAX));
        names.into_iter().cloned().collect()
    }
}

/// Returns the number that a name is, if JavaScript uses it as an index.
fn index(name: &str) -> Option<u32> {
    let number: u32 = name.parse().ok()?;
    let is_index = number < u32::MAX && number.to_string() == name;
    is_index.then_some(number)
}
