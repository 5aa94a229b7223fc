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

/// What a line of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Label,
    Instruction,
    /// An instruction at which diverged threads reconverge.
    Reconverges,
    Invalid,
    /// How often the block was executed.
    Count,
    /// In place of lines that are left out.
    More,
}

#[derive(Debug)]
struct Line {
    text: String,
    kind: Kind,
}

impl Drawing<'_> {
    /// The share of each block; empty without a profile.
    fn shares(&self) -> Vec<f64> {
        let Some(profile) = self.profile else { return Vec::new() };
        let all = profile.threads(0..profile.times.len()).max(1.0);
        self.graph.blocks.iter().map(|block| profile.threads(block.entries.clone()) / all).collect()
    }

    /// A line with the block's share, the number of warps that executed it, and their average number of lanes.
    fn counts(&self, block: usize, shares: &[f64]) -> Option<Line> {
        let profile = self.profile?;
        let entries = self.graph.blocks[block].entries.clone();
        let Times { warps, threads } = profile.times.get(entries.start).copied().unwrap_or_default();
        if warps == 0 {
            return Some(Line { text: "never executed".to_owned(), kind: Kind::Count });
        }
        let lanes = threads as f64 / warps as f64;
        let text = format!("{:.1} % · {warps} × {lanes:.1} lanes", shares.get(block)? * 100.0);
        Some(Line { text, kind: Kind::Count })
    }

    /// The lines of a block: its label, then its instructions, with labels as branch targets.
    fn lines(&self, block: usize) -> Vec<Line> {
        let program = self.program;
        let entries = self.graph.blocks[block].entries.clone();
        let label = program.labels.get(&entries.start).map(|label| (format!("{label}:"), Kind::Label));
        let texts = entries.map(|index| match &program.entries[index].instruction {
            Ok(instruction) => {
                let to = program.target_label(instruction).map_or(String::new(), |to| format!(" → {to}"));
                let kind = if instruction.flow.reconverges { Kind::Reconverges } else { Kind::Instruction };
                (instruction.text.replace(" | ", "\n  ") + &to, kind)
            }
            Err(reason) => (format!("? {reason}"), Kind::Invalid),
        });
        let lines = |(text, kind): (String, Kind)| {
            text.lines().map(|line| Line { text: line.to_owned(), kind }).collect::<Vec<_>>()
        };
        label.into_iter().chain(texts).flat_map(lines).collect()
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
