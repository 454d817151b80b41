//! The servers of tools that a file names. They are created when the file is loaded, and started with a run.

use std::path::{Path, PathBuf};
use std::process::Command;

use cogwork_thinking::SettingProblem;
use cogwork_tools::Tools;
use cogwork_tools::mcp::McpServer;

use super::{Loading, ServerSettings, Source};
use crate::settings::duration;

impl Loading<'_> {
    /// Returns the tools of the source with those of a server.
    pub(super) fn tools_with(&mut self, settings: ServerSettings) -> Result<Tools, SettingProblem> {
        let source = &self.source;
        let count = settings.tools.len();
        let unconnected = server(source, settings)?.unconnected();
        let of_server = unconnected.tools();
        // Names that models can't call are left out by the server.
        if of_server.len() != count {
            let problem = "a name is not valid with its prefix; expected at most 64 letters, digits, `_`, `-`, `.` and `/`";
            return Err(SettingProblem::new(problem).at("tools"));
        }

        // A flow that is only drawn starts no programs.
        if self.loader.connects {
            self.servers.push(unconnected);
        }
        let mut numbered = of_server.into_iter().enumerate();
        numbered.try_fold(source.tools.clone(), |tools, (index, tool)| {
            tools.with(tool).map_err(|error| {
                let problem = format!("{error}, or a `prefix` for this server");
                SettingProblem::new(problem).at(format!("tools[{index}]"))
            })
        })
    }
}

fn server(source: &Source, settings: ServerSettings) -> Result<McpServer, SettingProblem> {
    let server = match (&settings.command, &settings.url) {
        (Some(command), None) => by_command(source, command, &settings)?,
        (None, Some(url)) => by_url(url, &settings)?,
        _ => {
            return Err(SettingProblem::new(
                "expected either `command` or `url`, for a server that is started or one over HTTP",
            ));
        }
    };

    let mut server = server
        .with_name(settings.name)
        .with_only(settings.tools)
        .with_prefix(settings.prefix);
    if let Some(limit) = settings.timeout.and_then(duration) {
        server = server.with_timeout(limit);
    }
    if let Some(limit) = settings.start_timeout.and_then(duration) {
        server = server.with_start_timeout(limit);
    }
    Ok(server)
}

fn by_command(
    source: &Source,
    command: &str,
    settings: &ServerSettings,
) -> Result<McpServer, SettingProblem> {
    if settings.token.is_some() {
        let message = "a command gets no token; put it into `env`, or use `url`";
        return Err(SettingProblem::new(message).at("token"));
    }
    let is_variable = |(name, value): (&String, &String)| {
        !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
    };
    if !settings.env.iter().all(is_variable) {
        let message = "not an environment variable; expected a name without `=`, and a value";
        return Err(SettingProblem::new(message).at("env"));
    }

    let program = program(source, command).map_err(|problem| problem.at("command"))?;
    let mut command = Command::new(program);
    command.args(&settings.args).envs(&settings.env);
    // Servers of files expect paths relative to the file, wherever the program was started.
    if let Some(folder) = &source.folder {
        command.current_dir(folder.real_path().map_err(SettingProblem::new)?);
    }
    Ok(McpServer::command(&command))
}

fn by_url(url: &str, settings: &ServerSettings) -> Result<McpServer, SettingProblem> {
    if !settings.args.is_empty() || !settings.env.is_empty() {
        let problem =
            "a server over HTTP is not started; remove `args` and `env`, or use `command`";
        return Err(SettingProblem::new(problem).at("url"));
    }

    let server = McpServer::http(url);
    Ok(match &settings.token {
        Some(token) => server.with_token(token),
        None => server,
    })
}

/// Returns the path of a program in the folder of the file, and any other program as it is.
fn program(source: &Source, command: &str) -> Result<PathBuf, SettingProblem> {
    let path = Path::new(command);
    // A name is looked up in PATH by the system, as in a shell.
    if path.is_absolute() || path.components().count() == 1 && !command.starts_with('.') {
        return Ok(path.to_owned());
    }

    let Some(folder) = &source.folder else {
        let message = "this flow was not loaded from a file, so it cannot name files; expected a program in PATH or an absolute path";
        return Err(SettingProblem::new(message));
    };
    let beneath = folder.file_beneath(command);
    let path = beneath.and_then(|(folder, name)| Ok(folder.real_path()?.join(name)));
    match path.map_err(SettingProblem::new)? {
        path if path.is_file() => Ok(path),
        _ => {
            let message = "there is no such program in the folder of this file";
            Err(SettingProblem::new(message))
        }
    }
}
