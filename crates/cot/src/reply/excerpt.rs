//! The lines of a reply around a problem.

use cogwork_text::replace_unsafe;
use cogwork_typed::AnswerProblem;

/// The number of lines that are shown before the one with the problem.
const LINES_BEFORE: usize = 2;
/// The maximum number of characters of a line that are shown.
const LINE_WIDTH: usize = 100;

/// Returns what is wrong with a reply, followed by the line with the problem and those before it.
pub(crate) fn with_excerpt(problem: &AnswerProblem, reply: &str) -> String {
    let line = problem.line();
    // A fault often shows a line after it was made.
    let from = line.saturating_sub(LINES_BEFORE).max(1);
    let lines = (1..=line).zip(reply.split('\n')).skip(from - 1);

    let lines = lines.map(|(number, content)| {
        let content: String = content.chars().take(LINE_WIDTH).map(shown).collect();
        format!("\n{number:>4} | {}", content.trim_end())
    });
    let excerpt: String = lines.collect();
    format!("{problem}{}", excerpt.trim_end())
}

/// Shows each character of an excerpt as one character.
fn shown(character: char) -> char {
    if character.is_whitespace() {
        ' '
    } else {
        replace_unsafe(character)
    }
}
