//! Pictures of a program: its control flow ([`svg`], [`dot`] for Graphviz), and where it spends its time ([`flame`]).

pub mod dot;
pub mod flame;
pub mod svg;

use crate::graph::Graph;
use crate::profile::{Profile, Times};
use crate::program::Program;

/// The maximum number of blocks in a picture: the time of the layout grows faster than linearly.
pub const MAX_BLOCKS: usize = 400;

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
    /// The share of each block; empty without a profile.
    fn shares(&self) -> Vec<f64> {
        let Some(profile) = self.profile else { return Vec::new() };
        let all = profile.threads(0..profile.times.len()).max(1.0);
        self.graph.blocks.iter().map(|block| profile.threads(block.entries.clone()) / all).collect()
    }

    /// A line with the block's share, the number of warps that executed it, and their average number of lanes.
    fn counts(&self, block: usize, shares: &[f64]) -> Option<String> {
        let profile = self.profile?;
        let entries = self.graph.blocks[block].entries.clone();
        let Times { warps, threads } = profile.times.get(entries.start).copied().unwrap_or_default();
        if warps == 0 {
            return Some("never executed".to_owned());
        }
        let lanes = threads as f64 / warps as f64;
        Some(format!("{:.1} % · {warps} × {lanes:.1} lanes", shares.get(block)? * 100.0))
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

/// How hot each block is: 0 if no thread executed it, 1 for the hottest one.
fn heat(shares: &[f64]) -> Vec<f64> {
    let most = shares.iter().copied().fold(0.0, f64::max);
    shares.iter().map(|share| if most == 0.0 { 0.0 } else { share / most }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
