//! Query kinds and their policies, compared with exact answers.

mod agreement;
mod attributes;
mod climb;
mod contains;
mod contract;
mod corner_cases;
mod corpus;
mod default_precision;
mod degenerate;
mod few;
mod invalid;
mod lists;
mod lists_on_gpus;
mod masks;
mod one_ray;
mod peer_cases;
mod peers;
mod properties;
mod seeds;
mod starts;
mod transmittance;
