use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use cogwork_text::{Escaped, Mask};

use super::process::copy;

/// A server of tools that speaks the Model Context Protocol, and its limits.
///
/// See the [module documentation](super) for an example.
#[derive(Clone)]
pub struct McpServer {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) prefix: String,
    pub(super) only: Option<Vec<String>>,
    pub(super) timeout: Duration,
    pub(super) start_timeout: Duration,
    /// Hides the token.
    pub(super) mask: Mask,
}

/// Where a server is.
#[derive(Clone)]
pub(super) enum Place {
    Command(Arc<Command>),
    #[cfg(feature = "mcp-http")]
    Http(super::http::Address),
}

impl McpServer {
    /// Creates a server that is started as a child process, with the arguments, the environment
    /// variables and the working directory of this command. A program without a path is looked up in
    /// `PATH`. On Windows, add the extension of scripts: `npx.cmd`. Only these four are taken from the
    /// command; everything else, such as `env_clear`, `uid` or `pre_exec`, is not applied.
    ///
    /// Besides the variables that are set for the command, the server inherits only those that
    /// programs need in general, such as `PATH`, `HOME`, `USER`, `LANG` and `TMPDIR`, and none with a
    /// key or a proxy. Standard input and output are used for the messages.
    ///
    /// The name of the server is that of the program.
    pub fn command(command: &Command) -> Self {
        // The folder of a program says little, and may be private.
        let program = command.get_program();
        let name = Path::new(program).file_stem().unwrap_or(program);
        let name = name.to_string_lossy().into_owned();

        Self::new(name, Place::Command(Arc::new(copy(command))))
    }

    /// Creates a server that is reached over HTTP (the transport "streamable HTTP"), for example at
    /// `https://example.com/mcp`. For `https://`, one of the features `rustls` and `native-tls` is
    /// needed. Redirects are not followed.
    ///
    /// The name of the server is its host.
    #[cfg(feature = "mcp-http")]
    pub fn http(url: impl Into<String>) -> Self {
        let address = super::http::Address::new(url.into());
        Self::new(address.host(), Place::Http(address))
    }

    fn new(name: String, place: Place) -> Self {
        Self {
            name,
            place,
            prefix: String::new(),
            only: None,
            timeout: Duration::from_secs(30),
            start_timeout: Duration::from_secs(60),
            mask: Mask::new(),
        }
    }

    /// Sets the name in errors. The default is the name of the program, or the host.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the token that is sent as `Authorization: Bearer …`. The default is none. A server that
    /// is started by a command has none.
    #[cfg(feature = "mcp-http")]
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        if let Place::Http(address) = &mut self.place {
            let token = token.into();
            self.mask = Mask::new().with_value(&token, "[token]");
            address.token = Some(token.into());
        }
        self
    }

    /// Sets the tools that may be used, by their names at the server. By default, all of them may.
    ///
    /// A list also protects from tools that the server adds later.
    #[must_use]
    pub fn with_only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets a prefix for the names of the tools, so that the tools of several servers have
    /// different names. The default is none.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the timeout of a call. The default is 30 seconds, like that of
    /// [`Tools`](crate::Tools::with_timeout); the shorter of the two applies.
    ///
    /// The call is cancelled at the server.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets the timeout for the start of the server, including the list of its tools. The default
    /// is 60 seconds, because `npx` may have to download a package first. If a call starts the server
    /// again, the [timeout of the call](Self::with_timeout) includes the start.
    #[must_use]
    pub fn with_start_timeout(mut self, limit: Duration) -> Self {
        self.start_timeout = limit;
        self
    }
}

impl fmt::Debug for McpServer {
    /// Omits the command and the token, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &format_args!("{}", Escaped::new(&self.name)))
            .finish_non_exhaustive()
    }
}
