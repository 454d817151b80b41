/// The character, or what stands in for one that would move a cursor, ring a bell, start an
/// escape sequence or turn the direction of writing. With `lines`, line ends stay.
pub(crate) fn harmless(character: char, lines: bool) -> char {
    match character {
        '\n' if lines => '\n',
        '\n' | '\r' | '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}
