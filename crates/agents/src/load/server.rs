//! A server of tools from its settings.

use cogwork_text::files::Folder;
use cogwork_tools::mcp::McpServer;

use super::file_place::told;
use super::loading::Source;
use crate::SettingProblem;
use crate::servers::ServerSettings;
use crate::settings::duration;

/// Returns the server that the settings describe, which is not started.
pub(super) fn server(
    source: &Source,
    settings: ServerSettings,
) -> Result<McpServer, SettingProblem> {
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
        let problem = "a command gets no token; put it into `env`, or use `url`";
        return Err(SettingProblem::new(problem).at("token"));
    }

    let program =
        program(source, command).map_err(|problem| SettingProblem::new(problem).at("command"))?;
    let mut server = McpServer::command(program).with_args(&settings.args);
    for (name, value) in &settings.env {
        let is_valid = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        if !is_valid {
            let problem = "not an environment variable; expected a name without `=`, and a value";
            return Err(SettingProblem::new(problem).at("env"));
        }
        server = server.with_env(name, value);
    }

    match folder(source, settings.folder.as_deref()) {
        Ok(Some(folder)) => Ok(server.with_folder(folder)),
        Ok(None) => Ok(server),
        Err(problem) => Err(SettingProblem::new(problem).at("folder")),
    }
}

fn by_url(url: &str, settings: &ServerSettings) -> Result<McpServer, SettingProblem> {
    let of_commands = [
        ("args", settings.args.is_empty()),
        ("env", settings.env.is_empty()),
        ("folder", settings.folder.is_none()),
    ];
    if let Some((name, _)) = of_commands.iter().find(|(_, is_unset)| !is_unset) {
        let problem = "a server over HTTP is not started; remove this, or use `command`";
        return Err(SettingProblem::new(problem).at(*name));
    }

    let server = McpServer::http(url);
    Ok(match &settings.token {
        Some(token) => server.with_token(token),
        None => server,
    })
}

/// Returns the path of a program in the folder of the file, and any other program as it is.
fn program(source: &Source, command: &str) -> Result<std::path::PathBuf, String> {
    let path = std::path::Path::new(command);
    if path.is_absolute() || path.components().count() == 1 && !command.starts_with('.') {
        return Ok(path.to_owned());
    }

    let (folder, name) = base(source)?
        .file_beneath(command)
        .map_err(|error| told(&error))?;
    let path = folder.real_path().map_err(|error| told(&error))?.join(name);
    if !path.is_file() {
        return Err("there is no such program in the folder of this file".to_owned());
    }
    Ok(path)
}

/// Returns the working directory: by default, the folder of the file, or `None` for a text that is
/// not from a file.
fn folder(source: &Source, folder: Option<&str>) -> Result<Option<std::path::PathBuf>, String> {
    let folder = match (folder, &source.folder) {
        (None, None) => return Ok(None),
        (None, Some(base)) => base.clone(),
        (Some(folder), _) => base(source)?
            .beneath(folder)
            .map_err(|error| told(&error))?,
    };
    folder.real_path().map(Some).map_err(|error| told(&error))
}

fn base(source: &Source) -> Result<&Folder, String> {
    source.folder.as_ref().ok_or_else(|| {
        "this flow was not loaded from a file, so it cannot name files; expected a program in PATH or an absolute path"
            .to_owned()
    })
}
