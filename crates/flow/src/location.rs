use std::fmt;

use cogwork_text::Name;

/// The names of a node and of the flows around it. After the end of a run, the node has no name.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) flow_path: Vec<String>,
    pub(crate) node: String,
}

impl Location {
    /// Makes this the location as seen from the flow around `place`. The name of the place is more
    /// specific than the name of the flow in it, and replaces it.
    pub(crate) fn put_inside(&mut self, place: Self) {
        let below = self.flow_path.drain(..).skip(1);
        let mut flow_path = place.flow_path;
        flow_path.push(place.node);
        flow_path.extend(below);

        self.flow_path = flow_path;
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, flow) in self.flow_path.iter().enumerate() {
            let before = if index == 0 { "flow `" } else { "/" };
            write!(f, "{before}{}", Name(flow))?;
        }

        f.write_str("`")?;
        if self.node.is_empty() {
            // The run has ended.
            return Ok(());
        }
        write!(f, ", node `{}`", Name(&self.node))
    }
}
