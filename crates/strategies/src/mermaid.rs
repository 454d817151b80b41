use std::fmt;

use cogwork_text::MermaidLabel;

use crate::Strategy;

/// A strategy as a Mermaid flowchart, without a newline at the end.
///
/// Returned by [`Strategy::mermaid`]. The start stage is rounded, final stages have double borders,
/// and the ids of the nodes are their positions in the table.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct StrategyMermaid<'a> {
    strategy: &'a Strategy,
}

impl Strategy {
    /// Returns the stages and edges as a Mermaid flowchart.
    pub fn mermaid(&self) -> StrategyMermaid<'_> {
        StrategyMermaid { strategy: self }
    }
}

impl fmt::Display for StrategyMermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD")?;
        let stages = self.strategy.stages();
        let start = self.strategy.start().name();
        for (index, stage) in stages.iter().enumerate() {
            let [open, close] = match stage {
                stage if stage.is_final => ["[[", "]]"],
                stage if stage.name == start => ["([", "])"],
                _ => ["[", "]"],
            };
            let label = MermaidLabel(&stage.name);
            write!(f, "\n    s{index}{open}\"{label}\"{close}")?;
        }

        for (index, stage) in stages.iter().enumerate() {
            for next in &stage.next {
                let next = stages.iter().position(|stage| stage.name == *next);
                let next = next.unwrap_or(index);
                write!(f, "\n    s{index} --> s{next}")?;
            }
        }

        Ok(())
    }
}
