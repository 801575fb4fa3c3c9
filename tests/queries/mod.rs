//! Query kinds and their policies, compared with exact answers.

mod agreement;
mod attributes;
mod contains;
mod contract;
mod corpus;
mod degenerate;
mod few;
mod lists;
mod masks;
mod peers;
mod properties;
mod seeds;
mod transmittance;
