//! cogwork-cot
