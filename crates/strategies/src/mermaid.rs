use cogwork_text::MermaidLabel;

use crate::Strategy;

impl Strategy {
    /// Returns the stages and edges as a Mermaid flowchart, without a newline at the end.
    ///
    /// The start stage is rounded, final stages have double borders, and the ids of the nodes are
    /// their positions in the table.
    pub fn mermaid(&self) -> String {
        let mut chart = "flowchart TD".to_owned();
        let stages = self.stages();
        let start = &self.start().name;

        for (index, stage) in stages.iter().enumerate() {
            let [open, close] = match stage {
                stage if stage.is_final => ["[[", "]]"],
                stage if stage.name == *start => ["([", "])"],
                _ => ["[", "]"],
            };
            let label = MermaidLabel(&stage.name);
            chart.push_str(&format!("\n    s{index}{open}\"{label}\"{close}"));
        }

        for (index, stage) in stages.iter().enumerate() {
            for next in &stage.next {
                let next = stages.iter().position(|stage| stage.name == *next);
                // Reading a table checks that the stages exist.
                let next = next.unwrap_or(index);
                chart.push_str(&format!("\n    s{index} --> s{next}"));
            }
        }

        chart
    }
}
