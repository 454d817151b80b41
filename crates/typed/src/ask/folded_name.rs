/// Returns a name in the form in which its spellings are compared: in lower case, and without marks
/// around it and what separates its words. So `**In Transit**` and `in_transit` are equal, and so are
/// `itemCount.` and `Item-Count`.
///
/// Signs that distinguish names stay, such as those of `<5` and `>5`, `-1` and `1`, `C` and `C++`,
/// `1-5` and `15`. A name that consists of separators only is empty.
pub(crate) fn folded_name(name: &str) -> String {
    let name = name.trim_end_matches(|mark: char| mark == '.' || is_around(mark));
    let mut folded = String::with_capacity(name.len());
    let mut separator = None;

    for character in name.trim_start_matches(is_around).chars() {
        if is_separator(character) {
            separator = Some(character);
            continue;
        }

        let follows_number = folded.chars().last().is_none_or(char::is_numeric);
        let is_in_number = follows_number && character.is_numeric();
        if let Some(separator) = separator.take().filter(|_| is_in_number) {
            folded.push(separator);
        }
        folded.extend(character.to_lowercase());
    }

    folded
}

/// Returns whether a character is put around a name for emphasis.
fn is_around(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’')
}

fn is_separator(character: char) -> bool {
    let is_punctuation = matches!(
        character,
        '_' | '-' | '.' | ',' | ';' | ':' | '!' | '?' | '/' | '&' | '(' | ')' | '[' | ']'
    );
    is_punctuation || is_around(character)
}
