//! cogwork-plan
