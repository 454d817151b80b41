use super::budget::Budget;
use super::named_step::Attached;

/// What a run hands to every visit, down through subflows, items and branches.
pub(crate) struct Context<'j> {
    pub(crate) budget: Budget,
    /// Boxed, because most runs have none of it.
    pub(crate) attached: Option<Box<Attached<'j>>>,
}
