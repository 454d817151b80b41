use std::collections::HashMap;

/// The ids of the nodes of a flow, in order and by name.
pub(crate) struct NodeIds<'n> {
    in_order: Vec<&'n str>,
    /// The first node with each id.
    first: HashMap<&'n str, usize>,
}

impl<'n> NodeIds<'n> {
    pub(super) fn of(ids: impl IntoIterator<Item = &'n str>) -> Self {
        let in_order: Vec<&str> = ids.into_iter().collect();
        let mut first = HashMap::with_capacity(in_order.len());
        for (index, id) in in_order.iter().enumerate() {
            first.entry(*id).or_insert(index);
        }

        Self { in_order, first }
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.first.contains_key(id)
    }

    /// Returns the position of the first node with this id.
    pub(super) fn first(&self, id: &str) -> Option<usize> {
        self.first.get(id).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'n str> + Clone {
        self.in_order.iter().copied()
    }
}
