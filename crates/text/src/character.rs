/// Returns whether a character is unsafe to show, because it affects how the text around it is
/// displayed, or is itself invisible.
///
/// | characters | why |
/// |---|---|
/// | control characters (C0, DEL, C1) | move the cursor, ring the bell, begin escape sequences |
/// | line and paragraph separators (U+2028, U+2029) | end a line in some programs |
/// | bidirectional marks, embeddings, overrides and isolates | reorder the text around them |
/// | tag characters, and invisible or deprecated format characters | hide text, or make two texts look alike |
///
/// Line breaks and tabs are control characters too; [`MultiLine`](crate::MultiLine) keeps them.
/// Joiners and variation selectors are safe, because emoji and several scripts need them; see
/// [`is_invisible`].
///
/// ```
/// use cogwork_text::is_unsafe;
///
/// assert!(['\u{1b}', '\n', '\u{2028}', '\u{202e}', '\u{feff}'].into_iter().all(is_unsafe));
/// assert!(!['a', 'é', '思', '👩', '\u{200d}'].into_iter().any(is_unsafe));
/// ```
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' // soft hyphen
            | '\u{61c}' // Arabic letter mark
            | '\u{17b4}'..='\u{17b5}' // Khmer inherent vowels
            | '\u{180e}' // Mongolian vowel separator
            | '\u{200b}' // zero-width space
            | '\u{200e}'..='\u{200f}' // left-to-right and right-to-left marks
            | '\u{2028}'..='\u{2029}' // separators
            | '\u{202a}'..='\u{202e}' // embeddings and overrides
            | '\u{2060}'..='\u{206f}' // word joiner, invisible operators, isolates, deprecated controls
            | '\u{feff}' // byte order mark
            | '\u{fff0}'..='\u{fffb}' // reserved, and interlinear annotations
            | '\u{1bca0}'..='\u{1bca3}' // shorthand controls
            | '\u{1d173}'..='\u{1d17a}' // musical controls
            | '\u{e0000}'..='\u{e00ff}' // tags
            | '\u{e01f0}'..='\u{e0fff}' // reserved
        )
}

/// Returns whether a character has no visible form: an [unsafe](is_unsafe) character, a joiner, a
/// variation selector or a filler.
///
/// The last three are valid in prose, but could make two names look alike.
pub fn is_invisible(character: char) -> bool {
    is_unsafe(character)
        || matches!(
            character,
            '\u{34f}' // combining grapheme joiner
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{180b}'..='\u{180d}' | '\u{180f}' // Mongolian variation selectors
            | '\u{200c}'..='\u{200d}' // zero-width joiner and non-joiner
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' // variation selectors
        )
}

/// Returns the character, or U+FFFD if it is [unsafe](is_unsafe).
///
/// Use this in code that processes text character by character. The adapters of this crate process
/// whole texts.
pub fn replace_unsafe(character: char) -> char {
    if is_unsafe(character) {
        char::REPLACEMENT_CHARACTER
    } else {
        character
    }
}
