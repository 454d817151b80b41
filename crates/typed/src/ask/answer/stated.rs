//! Answers that a text states in words.

use super::phrases::{contains_one_of, is_one_of, phrases, starts_with};

/// Returns the answer that a text states, if it states one: the last of
///
/// - `\boxed{…}`
/// - a line such as `Answer: …` or `**Final answer:** …`, with the label in one of several
///   languages, or the line below a label alone
/// - a sentence with `the answer is …`
///
/// A box counts before a line, and a line before a sentence. A box or a sentence doesn't count if it
/// is called into question or taken back, as in "if the answer is 5" or "Actually, it is 6".
///
/// ```
/// use cogwork_typed::ask::stated_answer;
///
/// assert_eq!(stated_answer("17 + 34 = 51. So the answer is **51 km**."), Some("51 km"));
/// assert_eq!(stated_answer(r"Thus $\boxed{\frac{1}{2}}$."), Some(r"\frac{1}{2}"));
/// assert_eq!(stated_answer("I cannot help with that."), None);
/// ```
pub fn stated_answer(text: &str) -> Option<&str> {
    boxed(text)
        .or_else(|| labelled(text))
        .or_else(|| in_sentence(text))
        .filter(|answer| !answer.is_empty())
}

/// Returns the content of the last `\boxed{…}`.
fn boxed(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once("\\boxed{")?;
    let mut depth = 1_u32;

    for (place, mark) in rest.char_indices() {
        match mark {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }

        if depth == 0 {
            let is_final = !is_corrected(rest.get(place..)?);
            return rest.get(..place).map(str::trim).filter(|_| is_final);
        }
    }

    None
}

/// Returns the value of the last line with a label, or the line below it.
fn labelled(text: &str) -> Option<&str> {
    let mut end = text.len();
    let value = text.lines().rev().find_map(|line| {
        let (name, value) = line.split_once([':', '：']).unwrap_or((line, ""));
        let below = text.get(end..).unwrap_or_default();
        // Where the line begins and the one before it ends.
        end = text.get(..end)?.rfind(line)?;
        if name.len() > 80 {
            return None;
        }

        let name = name.trim_matches(is_mark).to_lowercase();
        let is_label = is_one_of(&name, &phrases().labels);
        is_label.then(|| match unmarked(value) {
            "" => first_line(below),
            value => value,
        })
    })?;

    // As in `Final Answer: The final answer is 51. I hope it is correct.`
    in_sentence(value).or(Some(value))
}

/// Returns the first line with a text.
fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(unmarked);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// Returns what follows the last `the answer is`, up to the end of the sentence.
fn in_sentence(text: &str) -> Option<&str> {
    // ASCII only, so that places in the copy are places in the text.
    let folded = text.to_ascii_lowercase();
    let stated = phrases().stated.iter().filter_map(|opening| {
        let start = folded.rfind(opening)?;
        let is_whole = starts_with(folded.get(start..)?, opening);
        is_whole.then_some((start + opening.len(), start))
    });
    let (end, start) = stated.max()?;

    let rest = text.get(end..)?;
    if is_doubted(folded.get(..start)?) || is_corrected(rest) {
        return None;
    }

    let rest = rest.trim_start_matches([':', '：', ' ', '\n', '\t']);
    let sentence = sentence(rest);
    let answer = unmarked(sentence);
    let folded = answer.to_ascii_lowercase();
    let mut unstated = phrases().unstated.iter();
    let is_unstated = unstated.any(|word| starts_with(&folded, word));
    let after = rest.get(sentence.len()..)?;
    // As in `The answer is as follows:`
    if answer.ends_with([':', '：']) {
        return Some(first_line(after));
    }

    let is_question = sentence.ends_with('?') || after.starts_with(['?', '？']);
    (!is_unstated && !is_question).then_some(answer)
}

/// Returns whether a text ends as in `I doubt that the final` before `answer is`.
fn is_doubted(before: &str) -> bool {
    let fillers = [
        "the", "that", "this", "my", "your", "final", "correct", "right",
    ];
    let is_filler = |word: &&str| fillers.contains(word);
    let words = before.split_whitespace().rev().skip_while(is_filler);
    let mut words: Vec<&str> = words.take(2).collect();
    words.reverse();
    contains_one_of(&words.join(" "), &phrases().doubted)
}

fn is_corrected(after: &str) -> bool {
    contains_one_of(&after.to_ascii_lowercase(), &phrases().corrected)
}

/// Returns the text up to the end of its first sentence or line.
fn sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let is_end = |(at, mark): &(usize, char)| {
        let (before, after) = line.split_at(*at);
        match mark {
            '。' | '！' | '？' => true,
            '!' | '?' => after.get(1..).is_some_and(|after| after.starts_with(' ')),
            '.' => {
                after.get(1..).is_some_and(|after| after.starts_with(' '))
                    && !is_abbreviated(before, after)
            }
            _ => false,
        }
    };

    let end = line.char_indices().find(is_end);
    let end = end.map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or_default()
}

/// Returns whether a full stop between two texts belongs to the word before it, as in `Mr. Smith`,
/// `No. 5`, `U.S. dollars` or `J. K. Rowling`.
fn is_abbreviated(before: &str, after: &str) -> bool {
    let word = |text: &str| text.chars().count() == 1 && text.chars().all(char::is_uppercase);
    let mut words = before.rsplit([' ', '*']);
    let last = words.next().unwrap_or_default();
    let earlier = words.next().and_then(|earlier| earlier.strip_suffix('.'));
    let next = after.split(' ').nth(1).unwrap_or_default();

    let folded = last.to_lowercase();
    let is_initial =
        word(last) && (next.strip_suffix('.').is_some_and(word) || earlier.is_some_and(word));
    let is_number = folded == "no" && next.starts_with(|next: char| next.is_ascii_digit());
    let has_stops =
        last.contains('.') && last.chars().all(|part| part.is_alphabetic() || part == '.');
    is_initial || is_number || has_stops || is_one_of(&folded, &phrases().abbreviations)
}

/// Returns a text without the formatting around it and the full stop at its end.
fn unmarked(text: &str) -> &str {
    let text = text.trim().trim_matches(['*', '_', '`', ' ']);
    text.trim_end_matches(['.', '。'])
        .trim_end_matches(['*', '_', '`', ' '])
}

fn is_mark(mark: char) -> bool {
    mark.is_whitespace() || "*_`#>-".contains(mark)
}
