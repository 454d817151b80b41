use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path as FilePath;
use std::sync::Arc;

use cogwork_text::files::{Access, FileId, Folder, read_text};

use super::file_place::told;
use super::loading::{Assembled, Loading, OpenFile, Source};
use crate::check::check;
use crate::problem::{Found, Problems};
use crate::yaml::{self, Path};
use crate::{FileError, FileFlow, FileProblem};

/// The maximum nesting depth of files, including the first.
const MAX_FILES_DEEP: usize = 16;
/// The maximum number of files that are read for one flow. A file that is named twice is read
/// twice.
const MAX_FILES: usize = 100;
impl Loading<'_> {
    /// Loads the flow of a file.
    pub(crate) fn load_file(mut self, path: &FilePath) -> Result<FileFlow, FileError> {
        let flow = match self.first_file(path) {
            Ok(flow) => flow,
            Err(message) => {
                self.problem_of_file(path, message);
                None
            }
        };
        self.whole(flow)
    }

    /// Loads the flow in a text.
    pub(crate) fn load_text(mut self, name: &str, text: &str) -> Result<FileFlow, FileError> {
        let source = self.source(name, None);
        let flow = self.text(source, text);
        self.whole(flow)
    }

    fn whole(mut self, flow: Option<Assembled>) -> Result<FileFlow, FileError> {
        match flow {
            Some(Assembled { flow, answer }) if self.problems.is_empty() => Ok(FileFlow {
                flow,
                answer,
                secrets: self.secrets,
                has_models: self.has_models,
                #[cfg(feature = "mcp")]
                servers: self.servers,
            }),
            _ => {
                for problem in &mut self.problems {
                    problem.message = self.secrets.hide(&problem.message);
                }
                Err(FileError::new(self.problems))
            }
        }
    }

    fn problem_of_file(&mut self, path: &FilePath, message: String) {
        let file = path.display().to_string().into();
        self.problems.push(FileProblem {
            file,
            place: None,
            path: String::new(),
            message,
        });
    }

    /// Returns the flow of the first file, whose path may be a link.
    fn first_file(&mut self, path: &FilePath) -> Result<Option<Assembled>, String> {
        let (folder, name) = Folder::of_linked_file(path).map_err(|error| told(&error))?;
        self.file(&folder, &name, &path.display().to_string())
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
    ) -> Result<Option<Assembled>, String> {
        let file = folder
            .open_file(name, Access::Read)
            .map_err(|error| told(&error))?;
        let id = FileId::of(&file).map_err(|error| told(&error))?;
        let name = name.to_string_lossy().into_owned();
        self.check_nesting(id, &name)?;

        self.files += 1;
        let most = u64::try_from(yaml::MAX_BYTES).unwrap_or(u64::MAX);
        let text = read_text(&file, most).map_err(|error| told(&error))?;

        self.open.push(OpenFile { id, name });
        let source = self.source(shown, Some(folder.clone()));
        let flow = self.text(source, &text);
        self.open.pop();
        Ok(flow)
    }

    fn check_nesting(&self, id: FileId, name: &str) -> Result<(), String> {
        if self.open.iter().any(|file| file.id == id) {
            let way: Vec<_> = self
                .open
                .iter()
                .map(|file| file.name.as_str())
                .chain([name])
                .collect();

            let way = way.join(" → ");
            return Err(format!(
                "the file includes itself: {way}; remove the cycle of subflows"
            ));
        }

        if self.open.len() >= MAX_FILES_DEEP {
            return Err(format!(
                "files are nested deeper than {MAX_FILES_DEEP} levels; expected fewer"
            ));
        }

        if self.files >= MAX_FILES {
            return Err(format!(
                "more than {MAX_FILES} files are read for one flow; expected fewer"
            ));
        }

        Ok(())
    }

    fn source(&self, name: &str, folder: Option<Folder>) -> Source {
        let secrets = self.secrets.clone();
        let tools = self.loader.tools.clone();
        Source {
            name: name.into(),
            folder,
            tools: tools.with_secrets(move |text| secrets.hide(text)),
            has_unknown_tools: false,
        }
    }

    fn text(&mut self, mut source: Source, text: &str) -> Option<Assembled> {
        let mut found = Problems::default();
        let tree = yaml::read(text, &self.loader.environment, &self.secrets, &mut found);

        let flow = tree.and_then(|tree| {
            self.add_tools(&mut source, &tree, &mut found);
            let tools: Vec<&str> = source.tools.names().collect();
            let tools = (!source.has_unknown_tools).then_some(tools);
            check(&tree, &self.schema, tools.as_deref(), &mut found);
            self.flow(&source, &tree, &Path::default(), &mut found)
        });

        let flow = flow.filter(|_| found.is_empty());
        self.tell(&source, found);
        flow
    }

    /// Adds the problems of a text without duplicates.
    fn tell(&mut self, source: &Source, found: Problems) {
        let mut said = BTreeSet::new();
        for Found {
            place,
            path,
            message,
            ..
        } in found.0
        {
            let path = path.to_string();
            if said.insert((place, path.clone(), message.clone())) {
                self.problems.push(FileProblem {
                    file: Arc::clone(&source.name),
                    place: Some(place),
                    path,
                    message,
                });
            }
        }
    }
}
