//! Answers, damaged as models damage them, and what they write around them.

/// A generator of random numbers that are the same for each run.
pub(crate) struct Random(u64);

const TEXTS: [&str; 30] = [
    "",
    "a",
    "Ann Lee",
    "it's",
    "so: it goes",
    "- no",
    "3",
    "1,234",
    "null",
    "yes",
    "true",
    "N/A",
    "[1]",
    "{a}",
    "a\"b",
    "\"quoted\"",
    "'q'",
    "a, b",
    "x #1",
    "…",
    "two\nlines",
    "C:\\dir",
    "é 😀",
    "50%",
    "http://x.y/z",
    "key: value\nother: 1",
    "1. one\n2. two",
    " a ",
    "```",
    "a | b",
];

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns `true` once in so many times.
    pub(crate) fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn integer(&mut self) -> i32 {
        self.below(20_000) as i32 - 10_000
    }

    pub(crate) fn number(&mut self) -> f64 {
        f64::from(self.integer()) / 100.0
    }

    pub(crate) fn text(&mut self) -> String {
        match self.below(3) {
            0 => TEXTS[self.below(TEXTS.len())].to_owned(),
            1 => self.words(),
            _ => {
                let signs = [
                    'a', 'b', ' ', '"', '\'', ',', ':', '[', ']', '{', '}', '-', '#', '\n', '\\',
                    '1',
                ];
                let length = self.below(10);
                (0..length)
                    .map(|_| signs[self.below(signs.len())])
                    .collect()
            }
        }
    }

    pub(crate) fn word(&mut self) -> String {
        let words = ["tree", "sum", "Oslo", "x1", "id", "note", "total", "a_b"];
        words[self.below(words.len())].to_owned()
    }

    fn words(&mut self) -> String {
        let count = 1 + self.below(6);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(4);
        (0..count).map(|_| item(self)).collect()
    }
}

/// The number of kinds of damage, of which the first one is none.
pub(crate) const DAMAGES: usize = 19;

/// The number of frames, of which the first one is none. From the seventh on, the reply is incomplete
/// or has other values.
pub(crate) const FRAMES: usize = 9;

/// Returns what a model writes around an answer.
pub(crate) fn framed(block: &str, frame: usize) -> String {
    match frame {
        0 => block.to_owned(),
        1 => format!("```json\n{block}\n```"),
        2 => format!("```\n{block}\n```\nAnything else?"),
        3 => format!("Sure, here it is:\n\n{block}\n\nI hope this helps!"),
        4 => format!("<think>\nLet me see: {{\"a\": 1}}\n</think>\n\n{block}"),
        5 => format!("I think it is this.\n```yaml\n{block}\n```\nDone."),
        6 => format!("```json\n{block}"),
        7 => format!("Here it is: {block}"),
        _ => format!("{block}\n\nSources: [1], [2]"),
    }
}

/// The places of brackets, commas, colons and quotes outside of texts.
fn structural(block: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut is_in_text = false;
    let mut is_escaped = false;
    for (at, sign) in block.char_indices() {
        let is_quote = sign == '"' && !is_escaped;
        if is_quote || (!is_in_text && "{}[],:-".contains(sign)) {
            places.push(at);
        }
        is_in_text ^= is_quote;
        is_escaped = sign == '\\' && !is_escaped;
    }
    places
}

pub(crate) fn replaced(text: &str, range: std::ops::Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// Replaces one of the places of a part.
fn replaced_one(block: &str, part: &str, by: &str, random: &mut Random) -> String {
    let places: Vec<usize> = block.match_indices(part).map(|(at, _)| at).collect();
    match places.get(random.below(places.len())) {
        Some(at) => replaced(block, *at..at + part.len(), by),
        None => block.to_owned(),
    }
}

/// Damages a line, if there is one for which `change` has another one.
fn changed_line(
    block: &str,
    random: &mut Random,
    change: impl Fn(&str) -> Option<String>,
) -> String {
    let mut lines: Vec<String> = block.lines().map(str::to_owned).collect();
    let places: Vec<usize> = (0..lines.len())
        .filter(|at| change(&lines[*at]).is_some())
        .collect();
    if let Some(at) = places.get(random.below(places.len())) {
        lines[*at] = change(&lines[*at]).unwrap();
    }
    lines.join("\n")
}

pub(crate) fn damaged(block: &str, damage: usize, random: &mut Random) -> String {
    let places = structural(block);
    let place = places.get(random.below(places.len())).copied();
    let is_key = |line: &str| line.trim_start().starts_with('"') && line.contains("\":");

    match (damage, place) {
        // Cut off.
        (1 | 2, _) => {
            let ends: Vec<usize> = block.char_indices().map(|(at, _)| at).collect();
            block[..ends.get(random.below(ends.len())).copied().unwrap_or(0)].to_owned()
        }
        (3..=5, Some(at)) => replaced(block, at..at + 1, ""),
        (6, Some(at)) => replaced(block, at..at, &block[at..=at]),
        (7, _) => replaced_one(block, "}", ",}", random),
        (8, _) => replaced_one(block, "\n", " // so\n", random),
        (9, _) => replaced_one(block, "\n", " # so\n", random),
        (10, _) => block
            .replace(": true", ": True")
            .replace(": false", ": False")
            .replace(": null", ": None"),
        (11, _) => block.replace('"', "'"),
        // Keys without quotes, or in another case.
        (12, _) => changed_line(block, random, |line| {
            is_key(line).then(|| line.replacen('"', "", 2))
        }),
        (13, _) => changed_line(block, random, |line| {
            let (key, value) = line.split_once("\":").filter(|_| is_key(line))?;
            Some(format!(
                "{}\":{value}",
                key.replace('_', " ").to_uppercase()
            ))
        }),
        // Something is left out.
        (14, _) => replaced_one(block, ",", ", ...,", random),
        (15, _) => format!("{{\"result\": {block}}}"),
        // Lists in numbers, and lines in other columns.
        (16, _) => changed_line(block, random, |line| {
            line.trim_start()
                .starts_with("- ")
                .then(|| line.replacen("- ", "1. ", 1))
        }),
        (17, _) => changed_line(block, random, |line| Some(format!("  {line}"))),
        (18, _) => changed_line(block, random, |line| {
            line.strip_prefix("  ").map(str::to_owned)
        }),
        _ => block.to_owned(),
    }
}
