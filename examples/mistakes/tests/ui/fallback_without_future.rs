//! A fallback that isn't async.

use cogwork_flow::{Node, from_phases};

fn main() {
    let ask = from_phases(
        |n: &mut u32| *n,
        async |n| Ok::<_, std::io::Error>(n + 1),
        |n, next| *n = next,
    );
    let _ = ask.fallback(|n, _| Ok(n));
}
