//! cogwork-backoff
