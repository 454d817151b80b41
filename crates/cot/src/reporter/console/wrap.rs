//! Wraps text by the width at which it is displayed, with hanging indents.

use textwrap::{Options, WordSplitter, WrapAlgorithm};

/// The maximum width of the text on a terminal, in columns. Longer lines are hard to read.
pub(super) const MAX_COLUMNS: usize = 100;

/// The columns that are left for text at any depth of a tree. Very narrow terminals wrap the rest.
const MIN_COLUMNS: usize = 16;

/// Returns the lines of a text, wrapped. A wrapped line of a list continues below its text.
///
/// Without a width, lines are only broken where the text has line breaks.
pub(super) fn lines(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return text.split('\n').map(str::to_owned).collect();
    };

    text.split('\n')
        // The width of a tab depends on its column.
        .map(|line| line.replace('\t', "    "))
        // Half of the width is left to the text, however far it is indented.
        .flat_map(|line| wrapped(&line, width, hanging_indent(&line).min(width / 2)))
        .collect()
}

fn wrapped(line: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    let options = Options::new(width.max(MIN_COLUMNS))
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_splitter(WordSplitter::NoHyphenation)
        .subsequent_indent(&indent);

    let lines = textwrap::wrap(line, options);
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Returns the column of the text of a line: after the blanks, and after the sign of a list.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start();
    let blanks = line.len() - text.len();

    match text.split_once(' ') {
        Some((sign, _)) if is_list_sign(sign) => blanks + sign.chars().count() + 1,
        _ => blanks,
    }
}

fn is_list_sign(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());

    matches!(word, "-" | "*" | "•") || (is_number && (1..4).contains(&number.len()))
}

/// Returns the lines of a line with styles, wrapped. Every style ends in its line, and begins again
/// in the next one.
pub(super) fn styled_lines(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return vec![line.to_owned()];
    };
    let mut open = String::new();

    let in_style = |line: String| {
        let mut line = format!("{open}{line}");
        let last = line.rsplit_once(ESCAPE);

        open = match last.and_then(|(_, last)| last.split_once('m')) {
            Some((code, _)) if code != "0" => format!("{ESCAPE}{code}m"),
            _ => String::new(),
        };
        // The guides at the beginning of the next line have another style.
        if !open.is_empty() {
            line += "\u{1b}[0m";
        }
        line
    };

    wrapped(line, width, 0).into_iter().map(in_style).collect()
}

/// The beginning of the code of a style.
const ESCAPE: &str = "\u{1b}[";
