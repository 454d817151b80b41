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
        let start = self.strategy.start().index;
        for stage in self.strategy.stages() {
            let [open, close] = match stage {
                stage if stage.is_final => ["[[", "]]"],
                stage if stage.index == start => ["([", "])"],
                _ => ["[", "]"],
            };
            write!(
                f,
                "\n    s{}{open}\"{}\"{close}",
                stage.index,
                MermaidLabel(&stage.name)
            )?;
        }

        for stage in self.strategy.stages() {
            for next in &stage.next {
                write!(f, "\n    s{} --> s{next}", stage.index)?;
            }
        }

        Ok(())
    }
}
