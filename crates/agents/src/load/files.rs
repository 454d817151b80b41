use std::ffi::OsStr;
use std::path::Path;

use cogwork_text::files::Folder;
use cogwork_thinking::SettingProblem;
use serde_json::Value as Json;
use sha2::Digest;

use super::{Assembled, Loading, Source};
use crate::check::check;
use crate::problems::Problems;
use crate::yaml::{self, MAX_BYTES};
use crate::{FileError, FileFlow, FileProblem};

/// The maximum nesting depth of files, including the first.
const MAX_FILES_DEEP: usize = 16;

/// The maximum number of files that are read for one flow. A file that is named twice is read
/// twice.
const MAX_FILES: usize = 100;

impl Loading<'_> {
    /// Loads the flow of a file, whose path may be a link.
    pub(crate) fn load_file(mut self, path: &Path) -> Result<FileFlow, FileError> {
        let shown = path.display().to_string();
        // A person may name a flow by a link; the files that it names itself may not be links.
        let opened = Folder::of_linked_file(path).map_err(SettingProblem::new);
        let flow = opened.and_then(|(folder, name)| self.file(&folder, &name, &shown));

        let flow = flow.unwrap_or_else(|problem| {
            self.problems
                .push(FileProblem::of_file(&shown, problem.message()));
            None
        });
        self.whole(flow)
    }

    /// Loads the flow in a text.
    pub(crate) fn load_text(mut self, name: &str, text: &str) -> Result<FileFlow, FileError> {
        let flow = self.text(name, None, text);
        self.whole(flow)
    }

    fn whole(mut self, flow: Option<Assembled>) -> Result<FileFlow, FileError> {
        match flow {
            Some(Assembled { flow, answer }) if self.problems.is_empty() => Ok(FileFlow {
                flow,
                answer,
                secrets: self.secrets,
                needs_journal: self.needs_journal,
                digest: self.digest.finalize().into(),
                names_files: self.names_files,
                #[cfg(feature = "mcp")]
                servers: self.servers,
            }),
            _ => {
                if self.problems.is_empty() {
                    // The fault of a custom node type, which has no place in the file.
                    let message = "a node type made no node; expected it to refuse its settings";
                    self.problems.push(FileProblem::of_file("", message));
                }
                // Here and not where they are found, because a variable that is read later may
                // have the value that an earlier message shows.
                for problem in &mut self.problems {
                    problem.message = self.secrets.hide(&problem.message);
                }
                Err(FileError::new(self.problems))
            }
        }
    }

    /// Returns the flow of a file in a folder, or reports its problems and returns `None`. Messages
    /// use the name `shown` for the file.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be read.
    pub(super) fn file(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        shown: &str,
    ) -> Result<Option<Assembled>, SettingProblem> {
        let path = folder.real_path().map_err(SettingProblem::new)?.join(name);
        self.check_nesting(&path)?;

        let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let text = folder.read_text_file(name, most);
        let text = text.map_err(SettingProblem::new)?;

        self.files += 1;
        self.open.push(path);
        let flow = self.text(shown, Some(folder.clone()), &text);
        self.open.pop();
        Ok(flow)
    }

    fn check_nesting(&self, path: &Path) -> Result<(), SettingProblem> {
        // By the real path, so that a link can't hide a cycle.
        if self.open.iter().any(|open| open == path) {
            let message = "the file includes itself, perhaps by way of others; remove the cycle";
            return Err(SettingProblem::new(message));
        }
        // Each level takes some of the stack.
        if self.open.len() >= MAX_FILES_DEEP {
            let message =
                format!("files are nested deeper than {MAX_FILES_DEEP} levels; expected fewer");
            return Err(SettingProblem::new(message));
        }
        // Files that each name the next twice would be read 2^n times.
        if self.files >= MAX_FILES {
            let message =
                format!("more than {MAX_FILES} files are read for one flow; expected fewer");
            return Err(SettingProblem::new(message));
        }

        Ok(())
    }

    fn text(&mut self, name: &str, folder: Option<Folder>, text: &str) -> Option<Assembled> {
        // Tools may repeat what they were given in their results.
        let secrets = self.secrets.clone();
        let tools = self.loader.tools.clone();
        let source = Source {
            folder,
            tools: tools.with_secrets(move |text| secrets.hide(text)),
            problems: Problems::of(name),
            ..Source::default()
        };
        let outer = std::mem::replace(&mut self.source, source);

        let flow = self.checked(text);
        let Source { problems, .. } = std::mem::replace(&mut self.source, outer);
        let flow = flow.filter(|_| problems.found.is_empty());
        self.problems.extend(problems.found);
        flow
    }

    fn checked(&mut self, text: &str) -> Option<Assembled> {
        let environment = &self.loader.environment;
        let value = yaml::read(text, environment, &self.secrets, &mut self.source.problems)?;
        let mut digested = value.clone();
        remove_keys(&mut digested);
        self.digest.update(digested.to_string());

        check(&value, &self.schema, &mut self.source.problems);
        self.add_tools(&value);
        self.flow(&value, "")
    }
}

/// Removes the keys of servers. A new key is no other flow, and a digest of it must not be shown.
fn remove_keys(value: &mut Json) {
    match value {
        Json::Object(settings) => {
            settings.remove("api_key");
            settings.values_mut().for_each(remove_keys);
        }
        Json::Array(items) => items.iter_mut().for_each(remove_keys),
        _ => {}
    }
}
