//! Plans are data: read one, find the next step, change it, compare it, draw it.
//!
//! ```text
//! 2 of 4 steps done; next is 2.2: Book a room
//!
//! - [Done] Choose a place: Lisbon
//! - [Pending] Book the trip
//!   - [Verification Needed] Book the train: 14:05, seat 61 (strike announced)
//!   - [Pending] Book a room
//!     - [Done] Compare prices: Casa Azul is best
//!     - [Pending] Pay
//! - [Pending] Pack
//! - [Pending] Conclusion
//!
//! changed: 2.1 Done → Verification Needed: Book the train
//! changed: 2.1 mark strike announced: Book the train
//! changed: 2.2 broken into 2 sub-steps: Book a room
//! changed: 4 added: Conclusion
//!
//! flowchart TD
//!     s1["1 Choose a place: Lisbon"]:::done
//!     s2["2 Book the trip"]:::pending
//!     s1 --> s2
//!     s2_1["2.1 Book the train: 14:05, seat 61 (strike announced)"]:::verification_needed
//!     s2 -.-> s2_1
//!     s2_2["2.2 Book a room"]:::pending
//!     s2_1 --> s2_2
//!     s2_2_1["2.2.1 Compare prices: Casa Azul is best"]:::done
//!     s2_2 -.-> s2_2_1
//!     s2_2_2["2.2.2 Pay"]:::pending
//!     s2_2_1 --> s2_2_2
//!     s3["3 Pack"]:::pending
//!     s2 --> s3
//!     s4["4 Conclusion"]:::pending
//!     s3 --> s4
//!     classDef pending stroke-dasharray:4
//!     classDef done fill:#d3f2d9,stroke:#2e7d32,color:#000
//!     classDef verification_needed fill:#fff3cd,stroke:#b26a00,color:#000
//!
//! unread: .[0].status: unknown variant `Packed`, expected one of `In Progress`, `Pending`, `in_progress`, `Completed`, `Done`, `Finished`, `completed`, `Needs Verification`, `Verification Needed` at line 2 column 11
//! ```

use std::error::Error;

use cogwork::plan::{Plan, Status, Step, format_plan};

const PLAN: &str = "
- description: Choose a place
  status: Done
  result: Lisbon
- description: Book the trip
  status: Pending
  sub_steps:
    - description: Book the train
      status: Done
      result: 14:05, seat 61
    - description: Book a room
      status: Pending
- description: Pack
  status: Pending
";

pub fn main() -> Result<(), Box<dyn Error>> {
    let mut plan: Plan = serde_yaml::from_str(PLAN)?;
    let before = plan.clone();

    let (path, step) = plan.first_pending().ok_or("nothing left to do")?;
    println!(
        "{}; next is {path}: {}\n",
        plan.progress(),
        step.description
    );

    // The room turns out to require two tasks, and the train is in doubt.
    let room = plan.get_mut(&path).ok_or("no such step")?;
    room.sub_steps = vec![
        Step::done("Compare prices", "Casa Azul is best"),
        Step::pending("Pay"),
    ];
    let trip = plan.steps_mut().get_mut(1).ok_or("no such step")?;
    let train = trip.sub_steps.first_mut().ok_or("no such step")?;
    train.status = Status::VerificationNeeded;
    train.mark = Some("strike announced".to_owned());
    plan.steps_mut().push(Step::pending("Conclusion"));

    println!("{}\n", format_plan(&plan));
    for change in plan.changes_since(&before) {
        println!("changed: {change}");
    }

    println!("\n{}", plan.mermaid());

    let error = serde_yaml::from_str::<Plan>("- description: Pack\n  status: Packed").err();
    println!(
        "\nunread: {}",
        error.map(|error| error.to_string()).unwrap_or_default()
    );
    Ok(())
}
