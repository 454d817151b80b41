//! The names of what is in the database.

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::settings::Settings;

/// The names in the database.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) schema: String,
    server: String,
}

impl Names {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            schema: settings.schema.clone(),
            server: server(&settings.config),
        }
    }

    /// Returns the location of the runs, for messages. It doesn't contain the password.
    pub(super) fn place(&self) -> String {
        format!("{}, schema {}", self.server, self.schema)
    }

    /// Returns the quoted name of the schema.
    pub(super) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }

    /// Replaces `@.` with the quoted name of the schema and a dot.
    pub(super) fn sql(&self, text: &str) -> String {
        text.replace("@.", &format!("{}.", self.quoted_schema()))
    }

    /// Returns the number of the advisory lock for creating the tables.
    pub(super) fn lock(&self) -> i64 {
        hash(format!("cogwork {}", self.schema).as_bytes()).cast_signed()
    }

    /// Returns the name of the channel for notifications.
    pub(super) fn channel(&self) -> String {
        format!("cogwork_{:016x}", hash(self.schema.as_bytes()))
    }
}

fn server(config: &Config) -> String {
    let database = config.get_dbname().or(config.get_user());
    let database = database.unwrap_or("postgres");
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<_> = hosts.collect();

    format!("database {database} on {}", hosts.join(", "))
}

/// Returns the FNV-1a hash of a text. Unlike the hashes of the standard library, it is the same on every
/// machine and in every version.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
