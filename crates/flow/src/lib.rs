//! cogwork-flow
