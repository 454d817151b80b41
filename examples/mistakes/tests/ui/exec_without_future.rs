//! Work that isn't async: the second closure must return a future.

use cogwork_flow::from_phases;

fn main() {
    let _ = from_phases(
        |n: &mut u32| *n,
        |n| Ok::<_, std::io::Error>(n + 1),
        |n, next| *n = next,
    );
}
