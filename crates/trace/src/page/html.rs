//! The page as HTML.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cogwork_text::Escaped;
use sha2::{Digest, Sha256};

use super::assets;
use crate::Header;

/// Writes the page with a record, which is JSON that cannot end its element.
pub(super) fn write(header: &Header, record: &str, mut target: impl Write) -> io::Result<()> {
    let script = assets::script();
    let style = assets::style();
    // The browser accepts only texts with these digests, so nothing may be added to them later.
    let policy = policy(&script, &style);
    let title = title(header);

    // Only the template is searched, because a record may contain `{{title}}` as well.
    let mut rest = assets::PAGE;
    while let Some((before, name, after)) = next_slot(rest) {
        let value = match name {
            "policy" => policy.as_str(),
            "title" => title.as_str(),
            "style" => style.as_str(),
            "script" => script.as_str(),
            "record" => record,
            _ => "",
        };
        target.write_all(before.as_bytes())?;
        target.write_all(value.as_bytes())?;
        rest = after;
    }

    target.write_all(rest.as_bytes())?;
    target.flush()
}

/// Splits a template at its next slot, such as `{{title}}`.
fn next_slot(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// Returns a policy that allows the script and the style of the page, and nothing else.
fn policy(script: &str, style: &str) -> String {
    let script = digest(script);
    let style = digest(style);

    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}

fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

fn title(header: &Header) -> String {
    let title = format!(
        "{} · {}",
        Escaped::new(&header.flow),
        Escaped::new(&header.run)
    );
    // This first, since the others add the same character.
    let title = title.replace('&', "&amp;");
    title.replace('<', "&lt;").replace('>', "&gt;")
}
