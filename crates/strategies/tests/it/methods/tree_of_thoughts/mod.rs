//! Tree of thoughts: approaches as branches that are developed, scored, followed or pruned.

mod endings;
mod random;
mod search;
mod worth;

use cogwork_strategies::TreeOfThoughts;

const PROBLEM: &str = "Plan an evening for six.";

const TWO: &str = r#"approaches: [{"id": "A", "description": "cook", "promise": 5}, {"id": "B", "description": "go out", "promise": 8}]"#;

fn judged(score: u32, solved: bool) -> String {
    format!("thought: I judge.\nevaluation_score: {score}\nsolved: {solved}")
}

fn small() -> TreeOfThoughts {
    TreeOfThoughts {
        approaches: 2,
        proposals: 2,
        depth: 2,
        ..TreeOfThoughts::default()
    }
}
