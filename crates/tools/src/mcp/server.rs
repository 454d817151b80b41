use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork_text::Escaped;

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
}

/// Where a server is.
#[derive(Clone)]
pub(super) enum Place {
    Command(CommandLine),
    #[cfg(feature = "mcp-http")]
    Http(super::http::Address),
}

/// A command that starts a server.
#[derive(Clone)]
pub(super) struct CommandLine {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) folder: Option<PathBuf>,
}

impl McpServer {
    /// Creates a server that is started as a child process, without a shell. A program without a
    /// path is looked up in `PATH`. On Windows, add the extension of scripts: `npx.cmd`.
    ///
    /// The name of the server is that of the program.
    pub fn command(program: impl Into<OsString>) -> Self {
        let program = program.into();
        // The folder of a program says little, and may be private.
        let name = Path::new(&program).file_stem().unwrap_or(&program);
        let name = name.to_string_lossy().into_owned();

        Self::new(
            name,
            Place::Command(CommandLine {
                program,
                args: Vec::new(),
                env: Vec::new(),
                folder: None,
            }),
        )
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
        }
    }

    /// Sets the name in errors. The default is the name of the program, or the host.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the arguments of the command. The default is none. Servers over HTTP have none.
    #[must_use]
    pub fn with_args<A: Into<OsString>>(self, args: impl IntoIterator<Item = A>) -> Self {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        self.with_command_line(|command| command.args = args)
    }

    /// Sets an environment variable of the command. By default, the command inherits only the
    /// variables that programs need in general, such as `PATH`, `HOME`, `USER`, `LANG` and `TMPDIR`,
    /// and none with a key or a proxy. Servers over HTTP have none.
    #[must_use]
    pub fn with_env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let variable = (name.into(), value.into());
        self.with_command_line(|command| command.env.push(variable))
    }

    /// Sets the working directory of the command. The default is that of the program. Servers over
    /// HTTP have none.
    #[must_use]
    pub fn with_folder(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.with_command_line(|command| command.folder = Some(folder))
    }

    fn with_command_line(mut self, set: impl FnOnce(&mut CommandLine)) -> Self {
        match &mut self.place {
            Place::Command(command) => set(command),
            #[cfg(feature = "mcp-http")]
            Place::Http(_) => {}
        }
        self
    }

    /// Sets the token that is sent as `Authorization: Bearer …`. The default is none. A server that
    /// is started by a command has none.
    #[cfg(feature = "mcp-http")]
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        if let Place::Http(address) = &mut self.place {
            address.token = Some(token.into().into());
        }
        self
    }

    /// Removes the token from a problem.
    pub(super) fn without_token(&self, problem: String) -> String {
        match &self.place {
            Place::Command(_) => problem,
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => address.without_token(&problem),
        }
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
    /// Omits the arguments, the environment and the token, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("McpServer");
        debug.field("name", &self.name);

        match &self.place {
            Place::Command(command) => {
                let program = Path::new(&command.program).display();
                debug.field("program", &format_args!("{}", Escaped::new(program)));
            }
            #[cfg(feature = "mcp-http")]
            Place::Http(_) => {}
        }

        debug.finish_non_exhaustive()
    }
}
