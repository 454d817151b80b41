use super::budget::Budget;
use super::named_step::Attached;

/// The part of a run that every visit gets.
pub(crate) struct Context<'j> {
    pub(crate) budget: Budget,
    /// Boxed, because most runs have none of it.
    pub(crate) attached: Option<Box<Attached<'j>>>,
}
