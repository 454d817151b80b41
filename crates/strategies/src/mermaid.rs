use std::fmt;

use cogwork_text::MermaidLabel;

use crate::Strategy;

/// A strategy as a Mermaid flowchart, made by [`Strategy::mermaid`]; no line break at the end.
///
/// The start is rounded, final stages have double sides. Nodes are named by their place in the table.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct StrategyMermaid<'a> {
    strategy: &'a Strategy,
}

impl<'a> StrategyMermaid<'a> {
    pub(crate) fn new(strategy: &'a Strategy) -> Self {
        Self { strategy }
    }
}

impl fmt::Display for StrategyMermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD")?;
        let start = self.strategy.start().index;
        for stage in self.strategy.stages() {
            let (open, close) = match stage {
                stage if stage.is_final => ("[[", "]]"),
                stage if stage.index == start => ("([", "])"),
                _ => ("[", "]"),
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
