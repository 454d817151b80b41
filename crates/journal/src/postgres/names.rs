//! The names of what is in the database.

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::settings::Settings;
use crate::name::hash;

/// The names in the database.
#[derive(Debug, Clone)]
pub(super) struct Names {
    schema: String,
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
    pub(super) fn schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }

    /// Replaces `@.` with the quoted name of the schema and a dot.
    pub(super) fn sql(&self, text: &str) -> String {
        text.replace("@.", &format!("{}.", self.schema()))
    }

    /// Returns the number of the advisory lock for changes of the tables.
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
