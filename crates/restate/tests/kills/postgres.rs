//! A PostgreSQL server that is killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cogwork_flow::Backoff;
use cogwork_journal::{PostgresStore, StoreError};
use tempfile::TempDir;

use crate::Result;
use crate::witness::random;

/// Leases are short, because workers die often here, and runs may be interrupted any number of times.
pub(crate) fn store(url: &str) -> std::result::Result<PostgresStore, StoreError> {
    let retries = Backoff::of::<1_000>()
        .with_first(Duration::from_millis(50))
        .with_ceiling(Duration::from_millis(200));
    let store = PostgresStore::new(url)?
        .with_lease(Duration::from_millis(400))
        .with_max_connections(4)
        .with_retries(retries);
    Ok(store)
}

/// The server, with its data in a temporary folder. It is stopped when this is dropped.
pub(crate) struct Server {
    home: TempDir,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start() -> Result<Self> {
        let home = TempDir::with_prefix("cw")?;

        // The server doesn't run as root, and its user has to reach the folder.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o711))?;
        }

        let mut server = Self {
            home,
            url: String::new(),
        };
        let printed = server.script("start")?;
        let url = printed.split('\'').nth(1).ok_or("no connection string")?;
        url.clone_into(&mut server.url);
        Ok(server)
    }

    /// Kills the server, and starts it again after a while.
    pub(crate) fn kill(&self) -> Result<()> {
        self.script("kill")?;
        std::thread::sleep(Duration::from_millis(random() % 300));
        self.script("start").map(drop)
    }

    fn script(&self, command: &str) -> Result<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/local-postgres");
        let output = Command::new(script)
            .arg(command)
            .env("COGWORK_POSTGRES_HOME", self.home.path().join("pg"))
            .stderr(Stdio::piped())
            .output()?;

        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script("stop"));
    }
}
