//! A closure in place of a node.

use cogwork_flow::Flow;

fn main() {
    let _ = Flow::<u32>::builder("count").node("add", |n: &mut u32| *n += 1);
}
