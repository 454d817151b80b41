//! Agreement with the scorers of reasoning-gym, where it is installed.

use std::process::Command;

use serde_json::Value;

use crate::support::Project;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/reasoning-gym");

/// Kinds whose answers are numbers, words, choices and calculations.
const KINDS: [&str; 8] = [
    "chain_sum",
    "gsm_symbolic",
    "countdown",
    "puzzle24",
    "calendar_arithmetic",
    "family_relationships",
    "zebra_puzzles",
    "syllogism",
];

#[test]
#[ignore = "installs reasoning-gym from PyPI"]
fn checks_agree_with_reasoning_gym() {
    for kind in KINDS {
        let made = Command::new(SCRIPT)
            .args(["--scored", kind, "20", "7"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");

        let lines: Vec<Value> = String::from_utf8(made.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let problems: Vec<_> = lines
            .iter()
            .map(|line| line["problem"].to_string())
            .collect();
        let project = Project::new(
            "problems: [{file: gym.jsonl}]\narms: [{name: a, config: {provider: rules, rules: [], else: b}}]\n",
        );
        project.write("gym.jsonl", &problems.join("\n"));

        for (line, problem) in lines.iter().zip(&project.suite().problems) {
            for candidate in line["candidates"].as_array().unwrap() {
                let answer = candidate["answer"].as_str().unwrap();
                let is_right = candidate["score"].as_f64() == Some(1.0);
                assert_eq!(
                    problem.check.accepts(answer),
                    is_right,
                    "{kind}: {answer:?} for {problem:?}"
                );
            }
        }
    }
}
