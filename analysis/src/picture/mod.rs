//! Pictures of a program: its control flow ([`svg`], [`dot`] for Graphviz), and where it spends its time ([`flame`]).

pub mod dot;
pub mod flame;
pub mod svg;

use crate::graph::{Block, Graph};
use crate::profile::{Profile, Times};
use crate::program::Program;

/// The maximum number of blocks in a picture: the time of the layout grows faster than linearly.
pub const MOST_BLOCKS: usize = 400;

/// A program to draw.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'p> {
    /// The program.
    pub program: &'p Program<'p>,
    /// Its control flow.
    pub graph: &'p Graph,
    /// How often its instructions were executed. Blocks are coloured by it and show their share.
    pub profile: Option<&'p Profile>,
}

impl Drawing<'_> {
    /// How hot a block is: 0 if no thread executed it, 1 for the hottest one. `None` without a profile.
    fn heat(&self, block: usize) -> Option<f64> {
        let profile = self.profile?;
        let share = |block: &Block| profile.share(block.entries.clone());
        let most = self.graph.blocks.iter().map(share).fold(0.0, f64::max);
        Some(if most == 0.0 { 0.0 } else { share(&self.graph.blocks[block]) / most })
    }

    /// A line with the block's share, the number of warps that executed it, and their average number of lanes.
    fn counts(&self, block: usize) -> Option<String> {
        let profile = self.profile?;
        let entries = self.graph.blocks[block].entries.clone();
        let Times { warps, threads } = profile.times.get(entries.start).copied().unwrap_or_default();
        if warps == 0 {
            return Some("never executed".to_owned());
        }
        let lanes = threads as f64 / warps as f64;
        Some(format!("{:.1} % · {warps} × {lanes:.1} lanes", profile.share(entries) * 100.0))
    }

    /// The lines of a block: its label, then its instructions, with labels as branch targets.
    fn lines(&self, block: usize) -> Vec<String> {
        let program = self.program;
        let entries = self.graph.blocks[block].entries.clone();
        let label = program.labels.get(&entries.start).map(|label| format!("{label}:"));
        let texts = entries.map(|index| match &program.entries[index].instruction {
            Ok(instruction) => {
                let to = instruction.flow.target.and_then(|target| program.labels.get(&program.place(target)?));
                match to {
                    Some(to) => format!("{} → {to}", instruction.text.replace(" | ", "\n  ")),
                    None => instruction.text.replace(" | ", "\n  "),
                }
            }
            Err(reason) => format!("? {reason}"),
        });
        let all: Vec<String> = label.into_iter().chain(texts).collect();
        all.iter().flat_map(|text| text.lines().map(str::to_owned)).collect()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
