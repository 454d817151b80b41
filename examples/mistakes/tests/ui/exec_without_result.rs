//! Work that cannot fail must still return a `Result`.

use cogwork_flow::from_phases;

fn main() {
    let _ = from_phases(|n: &mut u32| *n, async |n| n + 1, |n, next| *n = next);
}
