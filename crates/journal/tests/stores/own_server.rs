//! A PostgreSQL server of a single test, which may be killed.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server with its own data. It is stopped when this is dropped.
pub(crate) struct OwnServer {
    home: tempfile::TempDir,
}

impl OwnServer {
    /// Starts a server with a command of the script.
    pub(crate) fn start(command: &[&OsStr]) -> Self {
        // Whoever runs the server must be able to reach the folder.
        let home = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();

        let server = Self { home };
        server.script(command);
        server
    }

    /// The folder of its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder().join("socket")
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("server")
    }

    /// Runs a command of the script on this server.
    pub(crate) fn script(&self, command: &[&OsStr]) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let done = Command::new(root.join("scripts/local-postgres"))
            .env("COGWORK_POSTGRES_HOME", self.folder())
            .args(command)
            .output()
            .unwrap();

        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(
            done.status.success() || std::thread::panicking(),
            "{errors}"
        );
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.script(&["stop".as_ref()]);
    }
}
