//! Work in a closure that holds something of one thread across an await.

use std::rc::Rc;

use cogwork_flow::from_phases;

fn main() {
    let _ = from_phases(
        |n: &mut u32| *n,
        async |n| {
            let shared = Rc::new(n);
            std::future::ready(()).await;
            Ok::<_, std::io::Error>(*shared + 1)
        },
        |n, next| *n = next,
    );
}
