//! The rule-based backend behind the examples.
