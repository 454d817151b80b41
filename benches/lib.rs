//! Benches only; run `cargo bench -p cogwork-benches`.
