//! Files of vectors.
//!
//! A file holds groups of cases: for each group its name, the inputs of its cases (bytes, all of the same length) and
//! their answers, some in full and the others as 32-bit hashes. Byte n of all inputs of a group is stored together, as
//! are hashes and answers, since similar data compress better. The whole file is deflated.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::effect::{Effect, number, put_number};

/// The expected effect of a case.
#[derive(Clone, Debug)]
pub enum Answer {
    Full(Effect),
    Hash(u32),
}

/// The cases of an instruction or a variant of it.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub name: String,
    pub inputs: Vec<Vec<u8>>,
    pub answers: Vec<Answer>,
}

const MAGIC: &[u8; 8] = b"witness1";

/// Encodes groups as the bytes of a file.
pub fn write(groups: &[Group]) -> Vec<u8> {
    let mut bytes = vec![];
    put_number(&mut bytes, groups.len() as u32);
    for group in groups {
        put_number(&mut bytes, group.name.len() as u32);
        bytes.extend(group.name.as_bytes());
        put_number(&mut bytes, group.inputs.len() as u32);
        let length = group.inputs.iter().map(Vec::len).max().unwrap_or(0);
        put_number(&mut bytes, length as u32);
        for at in 0..length {
            bytes.extend(group.inputs.iter().map(|input| input.get(at).copied().unwrap_or(0)));
        }
        for part in group.answers.chunks(8) {
            let full = |answer: &Answer| u8::from(matches!(answer, Answer::Full(_)));
            bytes.push(part.iter().enumerate().fold(0, |bits, (at, answer)| bits | full(answer) << at));
        }
        for answer in &group.answers {
            if let Answer::Hash(hash) = answer {
                bytes.extend(hash.to_le_bytes());
            }
        }
        for answer in &group.answers {
            if let Answer::Full(effect) = answer {
                let effect = effect.to_bytes();
                put_number(&mut bytes, effect.len() as u32);
                bytes.extend(effect);
            }
        }
    }
    let mut encoder = DeflateEncoder::new(MAGIC.to_vec(), Compression::best());
    encoder.write_all(&bytes).and_then(|()| encoder.finish()).expect("writing to a vector does not fail")
}

/// Decodes what [`write`] encodes.
pub fn read(file: &[u8]) -> Option<Vec<Group>> {
    let mut bytes = vec![];
    DeflateDecoder::new(file.strip_prefix(MAGIC)?).read_to_end(&mut bytes).ok()?;
    let mut bytes = &bytes[..];
    let groups = number(&mut bytes)?;
    let groups = (0..groups).map(|_| read_group(&mut bytes)).collect::<Option<Vec<_>>>()?;
    bytes.is_empty().then_some(groups)
}

fn read_group(bytes: &mut &[u8]) -> Option<Group> {
    let length = number(bytes)? as usize;
    let name = String::from_utf8(take(bytes, length)?.to_vec()).ok()?;
    let (count, length) = (number(bytes)? as usize, number(bytes)? as usize);
    let planes = take(bytes, count.checked_mul(length)?)?;
    let inputs = (0..count).map(|case| (0..length).map(|at| planes[at * count + case]).collect()).collect();
    let flags = take(bytes, count.div_ceil(8))?;
    let is_full = |case: usize| flags[case / 8] >> (case % 8) & 1 != 0;
    let mut answers = Vec::with_capacity(count);
    for case in 0..count {
        let hash = if is_full(case) { [0; 4] } else { take(bytes, 4)?.try_into().ok()? };
        answers.push(Answer::Hash(u32::from_le_bytes(hash)));
    }
    for (_, answer) in answers.iter_mut().enumerate().filter(|(case, _)| is_full(*case)) {
        let length = number(bytes)? as usize;
        *answer = Answer::Full(Effect::from_bytes(take(bytes, length)?)?);
    }
    Some(Group { name, inputs, answers })
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}
