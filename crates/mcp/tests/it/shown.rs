//! Texts from paths are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
pub(crate) mod hostile;

use cogwork_mcp::Server;
use hostile::{assert_error_is_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();

    for text in texts() {
        // A file isn't a folder.
        let data = file.join(text);
        assert_error_is_safe(&Server::builder().with_data(data).open().unwrap_err());
    }
}
