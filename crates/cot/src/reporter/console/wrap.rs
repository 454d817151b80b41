//! Wraps text by the width at which it is displayed, with hanging indents.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

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
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation)
        .subsequent_indent(&indent);

    let lines = textwrap::wrap(line, options);
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Returns the parts of a line between which it may be broken: after blanks, after the slashes of an
/// address, and after Chinese characters. A part that is still too long is broken anywhere.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let has_address = line.contains("://");
    let may_break = move |before: char, after: char| match before {
        _ if after == ' ' => false,
        ' ' => true,
        '/' => has_address && after != '/',
        '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}' => !NOT_FIRST.contains(after),
        _ => false,
    };

    let pairs = line.char_indices().zip(line.chars().skip(1));
    let breaks = pairs.filter(move |((_, before), after)| may_break(*before, *after));
    let ends = breaks.map(|((at, before), _)| at + before.len_utf8());

    let mut start = 0;
    Box::new(ends.chain([line.len()]).filter_map(move |end| {
        let word = line.get(start..end).map(Word::from);
        start = end;
        word
    }))
}

/// The marks with which no line in Chinese begins.
const NOT_FIRST: &str = "，。、；：？！）」』】》”’…,.;:?!)]";

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
