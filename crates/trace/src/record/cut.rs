use std::collections::BTreeMap;

/// The texts of an object that were cut: the name of each field, and the number of bytes of the
/// whole text.
pub type CutTexts = BTreeMap<String, u64>;
