//! A process that loses a lease without noticing, and takes the run again.

use crate::model::Guard;
use crate::process::Process;
use crate::protocol::Held;
use crate::world::{Scale, World};

const SCALE: Scale = Scale {
    workers: 1,
    runs: 1,
    steps: 1,
    limits: None,
};

#[tokio::test(start_paused = true)]
async fn the_earlier_execution_is_interrupted() {
    let world = World::new(1, SCALE, Guard::FULL);
    let process = Process::start(&world, "again".to_owned());

    let first = process.keep(Held { key: 1, fence: 2 });
    let watch = first.watch();
    let second = process.keep(Held { key: 1, fence: 4 });

    assert!(watch.lost.is_cancelled());
    assert!(!second.watch().lost.is_cancelled());
}
