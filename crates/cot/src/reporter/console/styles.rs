//! The styles of the output.

use anstyle::{AnsiColor, Style};

/// The style of each kind of text. By default, all are plain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Styles {
    pub(super) heading: Style,
    pub(super) evaluation: Style,
    pub(super) faint: Style,
    pub(super) good: Style,
    pub(super) warning: Style,
}

impl Styles {
    pub(super) fn new(colored: bool) -> Self {
        if !colored {
            return Self::default();
        }

        Self {
            heading: AnsiColor::Cyan.on_default().bold(),
            evaluation: Style::new().italic(),
            faint: Style::new().dimmed(),
            good: AnsiColor::Green.on_default(),
            warning: AnsiColor::Yellow.on_default(),
        }
    }
}
