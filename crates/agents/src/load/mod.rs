//! From a file to a flow: read, checked against the schema, made node by node, wired.

mod flow;
mod making;
mod wiring;

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

pub(crate) use flow::Assembled;
pub use making::Making;

use crate::check::check;
use crate::memory::Store;
use crate::problem::{Found, Problems};
use crate::yaml::{self, Path, Secrets};
use crate::{FileError, FileFlow, FileProblem, Loader};

/// How many files may stand inside one another, the first counted.
const MAX_FILES_DEEP: usize = 16;
/// How often files are read for one flow: a file that is named twice is read twice.
const MAX_FILES: usize = 100;
/// The nodes of a flow, with those of all its subflows.
const MAX_NODES: usize = 2_000;

/// One load: of a file, and of those it names.
pub(crate) struct Loading<'l> {
    loader: &'l Loader,
    secrets: Secrets,
    problems: Vec<FileProblem>,
    /// The files that are being read, the outermost first.
    open: Vec<PathBuf>,
    files: usize,
    nodes: usize,
    /// The memories that several agents may share.
    stores: HashMap<String, Arc<Store>>,
}

/// Where a text comes from.
#[derive(Clone)]
pub(crate) struct Source {
    /// As people named it.
    name: Arc<str>,
    /// Where the files lie that it may name; nothing for a text that is no file.
    folder: Option<PathBuf>,
}

impl<'l> Loading<'l> {
    pub(crate) fn new(loader: &'l Loader) -> Self {
        Self {
            loader,
            secrets: Secrets::default(),
            problems: Vec::new(),
            open: Vec::new(),
            files: 0,
            nodes: 0,
            stores: HashMap::new(),
        }
    }

    /// The flow of a file, or all that is wrong with it.
    pub(crate) fn load_file(mut self, path: &FilePath) -> Result<FileFlow, FileError> {
        let flow = match self.file(path, &path.display().to_string()) {
            Ok(flow) => flow,
            Err(message) => {
                self.problem_of_file(path, message);
                None
            }
        };
        self.whole(flow)
    }

    /// The flow of a text, or all that is wrong with it.
    pub(crate) fn load_text(mut self, name: &str, text: &str) -> Result<FileFlow, FileError> {
        let flow = self.text(&Source { name: name.into(), folder: None }, text);
        self.whole(flow)
    }

    fn whole(self, flow: Option<Assembled>) -> Result<FileFlow, FileError> {
        match flow {
            Some(Assembled { flow, answer }) if self.problems.is_empty() => {
                Ok(FileFlow::new(flow, answer, self.secrets))
            }
            _ => Err(FileError::new(self.problems, &self.secrets)),
        }
    }

    fn problem_of_file(&mut self, path: &FilePath, message: String) {
        let file = path.display().to_string().into();
        self.problems.push(FileProblem { file, place: None, path: String::new(), message });
    }

    /// The flow of a file; nothing if it has problems, which are then told; what keeps the file from being read.
    fn file(&mut self, path: &FilePath, name: &str) -> Result<Option<Assembled>, String> {
        let real = path.canonicalize().map_err(|error| format!("the file cannot be read: {error}"))?;
        if self.open.contains(&real) {
            let way: Vec<_> = self.open.iter().chain([&real]).map(|file| base_name(file)).collect();
            return Err(format!(
                "the file is a part of itself: {}; expected subflows without a circle",
                way.join(" → ")
            ));
        } else if self.open.len() >= MAX_FILES_DEEP {
            return Err(format!("more than {MAX_FILES_DEEP} files stand inside one another; expected fewer"));
        } else if self.files >= MAX_FILES {
            return Err(format!("more than {MAX_FILES} files are read for one flow; expected fewer"));
        }
        self.files += 1;
        let text = read_text(&real)?;
        let folder = real.parent().map(FilePath::to_path_buf);
        self.open.push(real);
        let flow = self.text(&Source { name: name.into(), folder }, &text);
        self.open.pop();
        Ok(flow)
    }

    fn text(&mut self, source: &Source, text: &str) -> Option<Assembled> {
        let mut found = Problems::default();
        let tree = yaml::read(text, self.loader.environment(), &mut self.secrets, &mut found);
        let flow = tree.and_then(|tree| {
            let schema = self.loader.schema();
            check(&tree, schema, schema, &Path::default(), &mut found);
            self.flow(source, &tree, &Path::default(), &mut found)
        });
        let flow = flow.filter(|_| found.is_empty());
        self.tell(source, found);
        flow
    }

    /// Adds what is wrong with a text, each thing once.
    fn tell(&mut self, source: &Source, found: Problems) {
        let mut said = BTreeSet::new();
        for Found { place, path, message, .. } in found {
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

fn base_name(path: &FilePath) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A text of bounded size from a file; what is no file, such as a pipe or a device, is not opened.
fn read_text(path: &FilePath) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("the file cannot be read: {error}");
    if !path.metadata().map_err(wrong)?.is_file() {
        return Err("this is no file; expected one with the text of a flow".to_owned());
    }
    let most = u64::try_from(yaml::MAX_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(wrong)?;
    if bytes.len() > yaml::MAX_BYTES {
        return Err(format!("the file has more than {most} bytes; expected fewer"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(before).filter(|byte| **byte == b'\n').count() + 1;
        format!("the file is no UTF-8 in line {line}; expected text")
    })
}
