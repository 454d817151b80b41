use cogwork_text::{is_invisible, is_unsafe, replace_unsafe};

fn all() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

#[test]
fn each_kind_of_unsafe_character_is_known() {
    let control = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
    let separators = '\u{2028}'..='\u{2029}';
    let bidirectional = ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter();
    let overrides = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
    let invisible = ['\u{ad}', '\u{180e}', '\u{200b}', '\u{feff}'].into_iter();
    let operators = ('\u{2060}'..='\u{2064}')
        .chain('\u{206a}'..='\u{206f}')
        .chain('\u{fff9}'..='\u{fffb}');
    let tags = '\u{e0000}'..='\u{e007f}';

    let expected = control
        .chain(separators)
        .chain(bidirectional)
        .chain(overrides);
    for character in expected.chain(invisible).chain(operators).chain(tags) {
        assert!(is_unsafe(character), "{character:?}");
        assert_eq!(replace_unsafe(character), '\u{fffd}');
    }
}

#[test]
fn what_scripts_and_emoji_need_is_safe_but_invisible() {
    for character in ['\u{200c}', '\u{200d}', '\u{fe0f}', '\u{e0100}', '\u{180b}'] {
        assert!(
            !is_unsafe(character) && is_invisible(character),
            "{character:?}"
        );
        assert_eq!(replace_unsafe(character), character);
    }
}

#[test]
fn whatever_can_be_seen_is_kept() {
    for character in "aé思😀 \u{301}ا\u{5d0}\u{e000}\u{fffc}\u{fffd}\u{a0}\u{3000}".chars() {
        assert!(!is_invisible(character), "{character:?}");
    }
    assert!(
        all()
            .filter(|character| is_invisible(*character))
            .all(|character| !character.is_alphanumeric()
                || matches!(character, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'))
    );
}

/// Errors derive `Debug`, which must therefore be safe by itself.
#[test]
fn the_debug_of_a_text_is_safe() {
    for character in all().filter(|character| is_unsafe(*character)) {
        let debug = format!("{:?}", format!("a{character}b"));
        assert!(!debug.chars().any(is_unsafe), "{debug}");
    }
}
