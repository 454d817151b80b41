use secrecy::{ExposeSecret, SecretString};

use crate::harmless::harmless;

/// A shorter value is no secret, or one that cannot be told from a common word, and hiding it
/// would riddle a text with holes. In bytes.
pub(super) const SHORTEST_SECRET: usize = 8;

/// The longest part of an answer's body that an error keeps, in characters.
const BODY: usize = 500;
/// The longest part of a server's words in an error's own line, in characters.
const LINE: usize = 300;
/// From how many characters on the beginning of a secret is hidden, where the text ends within it.
const PART: usize = 4;
/// How far into a page its title is looked for, in bytes.
const HEAD: usize = 8 * 1024;
const MASK: &str = "[redacted]";
const CUT: char = '…';

/// What must never be shown, and so the door through which every word of a server goes.
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self(secrets.into_iter().filter(|secret| !secret.expose_secret().is_empty()).collect())
    }

    /// A cut of an answer's body: its lines kept, nothing in it that a terminal would obey. Of an
    /// HTML page only the title: the rest is markup, and says no more.
    pub(super) fn body(&self, bytes: &[u8]) -> String {
        let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes));
        if is_html(&head) {
            return match title(&head) {
                Some(title) => format!("an HTML page titled \"{}\"", self.line(title)),
                None => "an HTML page without a title".to_owned(),
            };
        }
        self.cut(&String::from_utf8_lossy(bytes), BODY, true)
    }

    /// A server's words as a part of one line.
    pub(crate) fn line(&self, text: &str) -> String {
        self.cut(text.trim(), LINE, false)
    }

    /// A setting as a part of one line. A key like `http` is left in it: there it is a word of
    /// the address.
    pub(super) fn setting(&self, text: &str) -> String {
        let long = |secret: &&SecretString| secret.expose_secret().len() >= SHORTEST_SECRET;
        Self(self.0.iter().filter(long).cloned().collect()).line(text)
    }

    /// Masks while it cuts: a cut made first could leave the half of a secret, and a mask over
    /// the whole text would read megabytes to show a few lines.
    fn cut(&self, text: &str, limit: usize, lines: bool) -> String {
        let (mut cut, mut width, mut rest) = (String::new(), 0, text);
        while let Some(next) = rest.chars().next() {
            let hidden = self.0.iter().find_map(|secret| spelt(rest, secret.expose_secret()));
            let taken = hidden.unwrap_or(next.len_utf8());
            width += if hidden.is_some() { MASK.len() } else { 1 };
            if width >= limit {
                cut.push(CUT);
                break;
            }
            match hidden {
                Some(_) => cut.push_str(MASK),
                None => cut.push(harmless(next, lines)),
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
        cut
    }
}

/// Whether a body is a page for people, as proxies and wrong addresses answer. XML is not: some
/// gateways report their failures in it.
pub(super) fn is_html(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<') && !text.starts_with("<?xml")
}

/// What is between `<title>` and `</title>`, if anything.
fn title(page: &str) -> Option<&str> {
    // Keeps every byte in its place, so that places found here hold in the page.
    let lower = page.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let start = tag + lower.get(tag..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    page.get(start..end).filter(|title| !title.trim().is_empty())
}

/// How many bytes at the start of `text` spell `secret`, each character as it is or escaped in
/// the way of JSON, HTML or URLs: servers echo a header in whatever encoding their answer has.
/// Case is passed over, as a host name comes in small letters.
fn spelt(text: &str, secret: &str) -> Option<usize> {
    if text.get(..secret.len()).is_some_and(|start| start.eq_ignore_ascii_case(secret)) {
        return Some(secret.len());
    }
    let mut rest = text;
    for (position, wanted) in secret.chars().enumerate() {
        if rest.is_empty() && position >= PART {
            break;
        }
        let (lower, upper) = (wanted.to_ascii_lowercase(), wanted.to_ascii_uppercase());
        rest = strip(rest, lower).or_else(|| strip(rest, upper))?;
    }
    Some(text.len() - rest.len())
}

/// `text` without `wanted` at its start, in whatever way it is written there.
fn strip(text: &str, wanted: char) -> Option<&str> {
    let code = u32::from(wanted);
    let strip_form = |text: &'_ str, form: &str| -> Option<usize> {
        text.get(..form.len()).filter(|start| start.eq_ignore_ascii_case(form)).map(str::len)
    };
    let length = match text.chars().next()? {
        '\\' => {
            // JSON within JSON doubles its backslashes.
            let escaped = text.trim_start_matches('\\');
            let slashes = text.len() - escaped.len();
            // A `u` there begins the long form of any character.
            let is_short = escaped.starts_with(wanted) && !matches!(wanted, 'u' | 'U');
            let form = if is_short { wanted.to_string() } else { format!("u{code:04x}") };
            strip_form(escaped, &form).map(|length| slashes + length)
        }
        '%' => strip_form(text, &format!("%{code:02x}")),
        '&' => {
            let named = match wanted {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&apos;",
                _ => "",
            };
            let forms = [named, &format!("&#{code};"), &format!("&#x{code:x};"), &format!("&#0{code};")];
            forms.iter().filter(|form| !form.is_empty()).find_map(|form| strip_form(text, form))
        }
        _ => None,
    };
    match length {
        Some(length) => text.get(length..),
        None => text.strip_prefix(wanted),
    }
}
