//! Recognizes YAML that takes long to parse.

/// Returns the first line, from 1, from which a parser may take quadratic time, or `None`.
///
/// `yaml_serde` reads the whole text before it returns the first value. For each token, it examines
/// all open brackets and levels, and it compares each directive with all others. So a text from
/// somebody else is checked for more than `max_levels` of them before it is parsed.
///
/// The check doesn't distinguish structure from text, so it may also refuse a text with many
/// brackets that aren't closed, or with very long indentation.
///
/// ```
/// use cogwork_text::expensive_yaml_line;
///
/// assert_eq!(expensive_yaml_line("a: [b, {c: d}]", 64), None);
/// assert_eq!(expensive_yaml_line(&format!("a: b\nc: {}", "[".repeat(65)), 64), Some(2));
/// ```
pub fn expensive_yaml_line(text: &str, max_levels: usize) -> Option<usize> {
    let mut open = 0_usize;
    let mut rare = 0_usize;

    let line = text.lines().position(|line| {
        let mut deepest = open;
        for bracket in line.matches(['[', '{', ']', '}']) {
            open = match bracket {
                "[" | "{" => open + 1,
                _ => open.saturating_sub(1),
            };
            // A line may open and close more brackets than are open at its end.
            deepest = deepest.max(open);
        }

        let start = line.len() - line.trim_start_matches([' ', '-', '?', '\t']).len();
        let start = line.get(..start).unwrap_or_default();
        let dashes = start.matches(['-', '?']).count();
        // A text may contain such lines, too.
        let is_rare = line.starts_with('%') || start.contains('?') || dashes > 1;
        rare += usize::from(is_rare);
        rare > max_levels || deepest > max_levels || start.len() + dashes > max_levels
    });
    line.map(|before| before + 1)
}
