use super::mend::{Lines, Mender};
use crate::ask::Repair;

/// An object or list in a text of a model, rewritten as strict JSON.
///
/// Missing and extra commas, other quotes, missing quotes around keys and texts, comments, literals
/// of Python, unescaped characters, and brackets that aren't closed are corrected. Each correction
/// is reported.
///
/// ```
/// use cogwork_typed::ask::MendedJson;
///
/// let mended = MendedJson::read("{name: 'Ann', tall: True,} Done.", 1).unwrap();
/// assert_eq!(mended.json(), r#"{"name":"Ann","tall":true}"#);
/// assert_eq!(mended.length(), 26);
/// assert_eq!(mended.repairs()[0].to_string(), "line 1: put a text in quotes");
/// ```
#[derive(Debug, Clone)]
pub struct MendedJson {
    json: String,
    lines: Lines,
    repairs: Vec<Repair>,
    length: usize,
    doubt: Option<&'static str>,
    cut: Option<Cut>,
}

/// How a text ends inside an object or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// Every value is complete, only the brackets of objects are missing.
    BetweenKeys,
    /// A list may lack items, or a value was incomplete and is left out.
    InsideValue,
}

impl MendedJson {
    /// Reads the object or list at the start of `text`, which begins with a brace or a bracket.
    /// Returns `None` if there is none, or if it is nested too deeply. `line` is the line of the
    /// text in the reply, from 1.
    pub fn read(text: &str, line: usize) -> Option<Self> {
        Self::read_at(text, line, 0)
    }

    /// Does the same as [`read`](Self::read) for a text that begins within its line, after this number
    /// of bytes. The [columns](Repair::columns) of corrections count from the start of the line.
    pub fn read_at(text: &str, line: usize, column: usize) -> Option<Self> {
        let mut mender = Mender::new(text, line, column);
        let is_whole = mender.run();

        let is_followed = !mender.rest().trim().is_empty();
        if mender.closed_other && is_followed {
            mender.doubt.get_or_insert("closed a bracket");
        }

        let cut = if is_whole? {
            None
        } else {
            Some(mender.close())
        };

        Some(Self {
            json: mender.json,
            lines: mender.lines,
            repairs: mender.repairs,
            length: mender.at,
            doubt: mender.doubt,
            cut,
        })
    }

    /// Returns the JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the line of the original text, from 1, for an offset in the JSON.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines.at(offset)
    }

    /// Returns the corrections, in order. At most 100 are listed.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Returns the number of bytes of the text that were read.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the first correction whose result may not be what the model meant, for example a
    /// missing value that was read as null.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt
    }

    /// Returns how the text ends inside the object or list, or `None` if it doesn't.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }
}
