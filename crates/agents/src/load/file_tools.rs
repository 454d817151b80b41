//! The tools that the nodes of a file can name.

use cogwork_tools::Tools;

use crate::SettingProblem;

/// The tools that the nodes of a file can name.
#[derive(Clone)]
pub(crate) struct FileTools {
    pub(super) tools: Tools,
    /// Whether the file names servers whose settings have problems, so that the names of their tools
    /// are unknown.
    pub(super) has_unknown: bool,
}

impl FileTools {
    pub(super) fn new(tools: Tools) -> Self {
        Self {
            tools,
            has_unknown: false,
        }
    }

    /// Returns the tools with these names.
    pub(super) fn only(
        &self,
        setting: &str,
        names: &[String],
    ) -> Result<Tools, Vec<SettingProblem>> {
        let mut known = Vec::new();
        let mut problems = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match self.tools.only([name]) {
                Ok(_) => known.push(name),
                Err(_) if self.has_unknown => {}
                Err(error) => {
                    let problem = SettingProblem::new(error.to_string());
                    problems.push(problem.at(format!("{setting}[{index}]")));
                }
            }
        }

        if !problems.is_empty() {
            return Err(problems);
        }
        let only = self.tools.only(known);
        only.map_err(|error| SettingProblem::new(error.to_string()).at(setting).into())
    }
}
