//! Wraps text by the width at which it is displayed, with hanging indents.

use anstyle::Style;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

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
        .flat_map(|line| wrapped(&line.replace('\t', "    "), width))
        .collect()
}

fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(hanging_indent(line).min(width / 2));
    let options = options(width).subsequent_indent(&indent);

    textwrap::wrap(line, options)
        .into_iter()
        .map(|line| line.into_owned())
        .collect()
}

fn options<'a>(width: usize) -> Options<'a> {
    Options::new(width.max(MIN_COLUMNS))
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Returns the column of the text of a line: after the blanks, and after the sign of a list.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start();
    let indent = line.len() - text.len();

    let digits = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let has_number = (1..4).contains(&(text.len() - digits.len()));
    let after_number = digits
        .strip_prefix(['.', ')'])
        .filter(|_| has_number)
        .map(|after| (text, after));

    let after_sign = text
        .strip_prefix(['-', '*', '•'])
        .map(|after| (text, after));
    let item = after_number.or(after_sign).and_then(|(text, after)| {
        let item = after.strip_prefix(' ')?;
        let sign = text.strip_suffix(item)?;
        Some(textwrap::core::display_width(sign))
    });

    indent + item.unwrap_or(0)
}

/// A text in one line, parts of which have styles.
#[derive(Default)]
pub(super) struct Styled {
    text: String,
    /// The style of each part, and where the part ends.
    parts: Vec<(Style, usize)>,
}

impl Styled {
    pub(super) fn push(&mut self, style: Style, text: &str) {
        self.text.push_str(text);
        self.parts.push((style, self.text.len()));
    }

    /// Returns the lines, wrapped. Every style ends in its line.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let Some(width) = width else {
            return vec![self.between(0, self.text.len())];
        };

        let mut from = 0;
        let mut lines = Vec::new();

        for line in textwrap::wrap(&self.text, options(width)) {
            // Only blanks are removed between lines.
            let rest = self.text.get(from..).unwrap_or_default();
            let begin = from + rest.find(&*line).unwrap_or(0);

            from = begin + line.len();
            lines.push(self.between(begin, from));
        }

        lines
    }

    fn between(&self, from: usize, to: usize) -> String {
        let mut begin = 0;
        let mut line = String::new();

        for (style, end) in &self.parts {
            let part = self.text.get(begin.max(from)..(*end).min(to));

            if let Some(part) = part.filter(|part| !part.is_empty()) {
                line.push_str(&format!("{style}{part}{style:#}"));
            }
            begin = *end;
        }

        line
    }
}
