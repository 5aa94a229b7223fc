//! More than one machine: the same queries, computed by executors that a scheduler hands parts to.
//!
//! - [`codec`]: how the table of instructions and the functions of programs travel
//! - [`scheduler`], [`executor`]: the two long-running commands
//!
//! Nothing here is encrypted and nobody is asked who they are: whoever reaches a port can read what the process can. The
//! addresses are those of this machine unless others are given.

pub mod codec;
pub mod executor;
pub mod scheduler;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::prelude::{SessionConfig, SessionContext};
use isaforge_cli::output::say;
use isaforge_cli::paint::{HELP, paint};

use self::codec::Codec;
use crate::error::{Error, Result};
use crate::session::{self, Options};

/// The settings of sessions whose plans travel.
pub fn config(options: &Options) -> SessionConfig {
    let config = SessionConfig::new_with_ballista();
    let config = session::settle(config, options);
    config
        .with_ballista_logical_extension_codec(Arc::new(Codec::default()))
        .with_ballista_physical_extension_codec(Arc::new(Codec::default()))
}

/// A session whose queries a scheduler's executors compute.
///
/// # Errors
/// When nobody answers at the address.
pub async fn context(scheduler: &str, options: &Options) -> Result<SessionContext> {
    let address = address(scheduler)?;
    if let Err(error) = tokio::net::TcpStream::connect(address).await {
        let help = "`isaforge-corpus scheduler` starts one";
        return Err(Error::usage(format!("no scheduler answers at {scheduler}: {error}"), help));
    }
    let state = session::state(config(options), options)?;
    Ok(SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await?)
}

/// The address that a `HOST:PORT` stands for.
fn address(given: &str) -> Result<SocketAddr> {
    let wrong = |reason: String| Error::usage(format!("`{given}` is no address: {reason}"), "write HOST:PORT");
    let mut found = given.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    found.next().ok_or_else(|| wrong("the host is not known".to_owned()))
}

/// Says what it means to listen at an address that is not only this machine's.
fn warn(address: IpAddr) {
    if !address.is_loopback() {
        say(&format!(
            "{}: {address} is reached from other machines. Nothing is encrypted, and whoever reaches it can run queries, which \
             read files and stores with your rights. Let only machines that you trust reach it.",
            paint(HELP, "warning")
        ));
    }
}

fn failed(what: &str) -> impl FnOnce(ballista_core::error::BallistaError) -> Error + use<'_> {
    move |error| Error::usage(format!("{what}: {error}"), "")
}
