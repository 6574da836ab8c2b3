//! Generates the messages and the service from the `.proto`, without protoc, and keeps the descriptors for clients that read
//! them at run time.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let files = protox::compile(["payouts/v1/payouts.proto"], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("payouts.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(files)?;
    println!("cargo:rerun-if-changed=proto");
    Ok(())
}
