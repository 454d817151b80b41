//! Hostile texts, and assertions that nothing unsafe in them is shown. For tests.
//!
//! The test of a crate shows every type that displays untrusted text, with each of the [`texts`],
//! and then calls [`Shown::assert_complete`] to compare these types with the sources. If a type or
//! a variant is added later, the test fails until it is shown there too.

use std::any::type_name;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::fs;
use std::mem::discriminant;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::is_unsafe;

mod sources;
use sources::Displayed;

/// Returns texts with which a model, a server or a file may try to deceive a reader or break a
/// format.
pub fn texts() -> Vec<String> {
    let every_unsafe: String = ('\0'..=char::MAX)
        .filter(|character| is_unsafe(*character))
        .collect();

    let texts = [
        "\u{1b}[2J\u{1b}]0;title\u{7} escape sequences",
        "\u{9b}31m escape sequences of one character",
        "line\nend\r\nand\rcarriage\u{b}return\u{c}forged: line\u{85}next\u{2028}line\u{2029}paragraph",
        "\tta\tb\t",
        "\u{202e}gnp.exe \u{202a}a\u{202b}b\u{202c}c\u{202d}d",
        "\u{2066}a\u{2067}b\u{2068}c\u{2069}",
        "\u{61c}a\u{200e}b\u{200f}c",
        "in\u{ad}vi\u{200b}si\u{2060}ble\u{2063} \u{180e}\u{206a}\u{feff}",
        "\u{fff9}annotated\u{fffa}text\u{fffb}",
        "tagged\u{e0001}\u{e0041}\u{e007f}",
        "\0nul\u{8}backspace\u{7f}delete",
        "`back` \"double\" 'single' \\N <b>&amp;</b> #35; %%{init: {}}%% $$x$$ [a](b) | _c_ *d* ~e~ {f}",
        "1. a list\n- \u{1b}that is none",
        "",
        " ",
        "👩\u{200d}🚀 क\u{94d}\u{200d}ष ❤\u{fe0f} emoji and scripts",
    ];

    let long = "\u{1b}long \u{202e}".repeat(1_000);
    texts
        .into_iter()
        .map(str::to_owned)
        .chain([every_unsafe, long])
        .collect()
}

/// Asserts that a text contains nothing unsafe except line feeds and tabs.
///
/// # Panics
///
/// Panics if the text contains any other unsafe character.
#[track_caller]
pub fn assert_safe(shown: &str) {
    let found = shown
        .chars()
        .find(|character| is_unsafe(*character) && !matches!(character, '\n' | '\t'));

    assert!(found.is_none(), "{found:?} is in {shown:?}");
}

/// Asserts that a text is one line and contains nothing unsafe.
///
/// # Panics
///
/// Panics if the text has several lines or contains an unsafe character.
#[track_caller]
pub fn assert_safe_line(shown: &str) {
    let found = shown.chars().find(|character| is_unsafe(*character));

    assert!(found.is_none(), "{found:?} is in {shown:?}");
}

/// The types of a crate that were shown. Can be shared between threads.
#[derive(Debug, Default)]
pub struct Shown(Mutex<BTreeSet<String>>);

impl Shown {
    /// Shows a value whose `Display` is one line, and checks its `{:#}` and `Debug` as well.
    ///
    /// # Panics
    ///
    /// Panics if something unsafe is shown.
    #[track_caller]
    pub fn line<T: Display + Debug>(&self, value: &T) {
        assert_safe_line(&value.to_string());
        self.lines(value);
    }

    /// Shows a value whose `Display` may have several lines, and checks its `Debug` as well.
    ///
    /// # Panics
    ///
    /// Panics if something unsafe is shown.
    #[track_caller]
    pub fn lines<T: Display + Debug>(&self, value: &T) {
        let forms = [
            format!("{value}"),
            format!("{value:#}"),
            format!("{value:?}"),
            format!("{value:#?}"),
        ];
        for shown in forms {
            assert_safe(&shown);
        }

        let name = name_of::<T>();
        let variant = discriminant(value);
        self.names().extend([format!("{name}::{variant:?}"), name]);
    }

    /// Shows an error, whose `Debug` must be its sentence.
    ///
    /// # Panics
    ///
    /// Panics if something unsafe is shown, or if `Debug` differs from `{:#}`.
    #[track_caller]
    pub fn error<T: Error>(&self, error: &T) {
        self.line(error);

        let debug = format!("{error:?}");
        assert_eq!(debug, format!("{error:#}"), "use `debug_as_display!`");
    }

    fn names(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asserts that every public type with a `Display` in the sources of a crate was shown, in
    /// every variant.
    ///
    /// `manifest_dir` is the directory of the crate; `exempt` lists the types, and the variants as
    /// `Type::Variant`, that show no untrusted text.
    ///
    /// # Panics
    ///
    /// Panics if a type or variant wasn't shown, or was shown although it is exempt.
    #[track_caller]
    pub fn assert_complete(&self, manifest_dir: &str, exempt: &[&str]) {
        let sources = read_sources(&Path::new(manifest_dir).join("src"));
        let displayed = Displayed::in_sources(&sources);
        let exempt: BTreeSet<&str> = exempt.iter().copied().collect();
        let shown = self.names();

        let is_exempt = |name: &str| {
            let enumeration = name.split("::").next().unwrap_or_default();
            exempt.contains(name) || exempt.contains(enumeration)
        };
        let is_shown = |name: &str| {
            let by_variant = displayed.by_discriminant(name);
            shown.contains(name) || by_variant.is_some_and(|name| shown.contains(&name))
        };
        let missing: Vec<&String> = displayed
            .names()
            .filter(|name| !is_shown(name) && !is_exempt(name))
            .collect();

        assert!(
            missing.is_empty(),
            "no test shows these with hostile texts: {missing:?}"
        );

        let needless: Vec<&str> = exempt
            .into_iter()
            .filter(|name| !displayed.contains(name) || is_shown(name))
            .collect();
        assert!(needless.is_empty(), "these need no exemption: {needless:?}");
    }
}

/// Returns the name of a type without its path and parameters.
fn name_of<T>() -> String {
    let path = type_name::<T>().split('<').next().unwrap_or_default();

    path.rsplit("::").next().unwrap_or_default().to_owned()
}

/// Returns all Rust code in a directory as one text.
fn read_sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();

    entries
        .map(|entry| entry.path())
        .map(|path| match path.extension() {
            _ if path.is_dir() => read_sources(&path),
            Some(extension) if extension == "rs" => fs::read_to_string(&path).unwrap_or_default(),
            _ => String::new(),
        })
        .collect()
}
