//! Evaluations that are killed, with real processes.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::Project;

const FOLDER: &str = "EVAL_TEST_FOLDER";

/// What the tests make of it: the usual number of kills, or as many as a long test wants.
fn kills() -> usize {
    let is_long = std::env::var_os("COGWORK_LONG_TESTS").is_some();
    if is_long { 100 } else { 5 }
}

const SUITE: &str = "
problems: [{generate: arithmetic, count: 40}]
arms:
  - {name: one, config: {provider: rules, rules: [], else: '7'}}
  - {name: two, config: {provider: rules, rules: [], else: '8', thinking: {type: reflection, config: {reflection_prompt: Again.}}}}
";

/// No test, but what the processes run that the tests start.
#[tokio::test]
async fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = std::path::Path::new(&folder);
    let suite =
        cogwork_eval::Suite::load(folder.join("suite.yaml"), &cogwork_agents::Loader::new())
            .unwrap();
    let store = cogwork_journal::Store::files(folder.join("runs"));
    cogwork_eval::Evaluation::new(suite, store)
        .run()
        .await
        .unwrap();
}

#[tokio::test]
async fn a_killed_evaluation_makes_the_same_table() {
    let expected = Project::new(SUITE).table().await;
    let project = Project::new(SUITE);

    for kill in 0..kills() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::child"])
            .env(FOLDER, project.path(""))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + 7 * (kill as u64 % 17)));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    let before = project.evaluation();
    let table = before.run().await.unwrap();
    for (arm, expected) in table.arms.iter().zip(&expected.arms) {
        let told = |arm: &cogwork_eval::ArmResult| {
            let runs = arm.runs.iter();
            let runs = runs.map(|run| (run.run.clone(), run.answer.clone(), run.right));
            runs.collect::<Vec<_>>()
        };
        assert_eq!(told(arm), told(expected));
        // A call whose reply wasn't used before the kill has been paid for, too.
        assert!(arm.numbers["calls"] >= expected.numbers["calls"]);
        assert_eq!(arm.accuracy, expected.accuracy);
    }

    // Nothing that is on record is asked for again.
    let calls = project.calls();
    project.table().await;
    assert_eq!(project.calls(), calls);
}
