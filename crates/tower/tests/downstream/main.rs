//! The client's side, over real HTTP on the loopback: which key goes out, in each try, and when nothing does.

mod bank;
mod handler;
mod keys;
mod lapse;
