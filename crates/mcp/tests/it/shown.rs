//! Texts from paths are always shown safely.

use cogwork_mcp::Server;
use cogwork_text::testing::{Shown, texts};

#[test]
fn nothing_unsafe_is_shown() {
    let shown = Shown::default();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();

    for text in texts() {
        // A file isn't a folder.
        let data = file.join(text);
        shown.error(&Server::builder().with_data(data).open().unwrap_err());
    }

    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &[]);
}
