//! An async block in `from_fn`, which takes a synchronous closure. Async work belongs into the second closure of
//! `from_phases`.

use cogwork_flow::{Flow, from_fn};

fn main() {
    let ask = from_fn(|n: &mut u32| {
        *n += 1;
        async { std::future::ready(()).await }
    });

    let _ = Flow::<u32>::builder("ask").start("ask").node("ask", ask);
}
