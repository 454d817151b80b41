//! Tables of what is given and what is expected.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used)]

/// Checks a table. Each of its rows is what is given, an arrow, and what is expected. Between bars
/// there are several of which the same is expected.
pub(crate) async fn check(table: &str, actual: impl AsyncFn(&str) -> String) {
    let lines = table.lines().map(str::trim);
    let expected: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();

    let mut found = Vec::new();
    for row in &expected {
        let (given, _) = row.split_once(" => ").unwrap();
        let mut told = Vec::new();
        for one in given.split(" | ") {
            told.push(actual(one).await);
        }
        told.dedup();
        found.push(format!("{given} => {}", told.join(" | ")));
    }

    let all = found.join("\n");
    assert!(found == expected, "the table is now:\n{all}\n\n");
}
