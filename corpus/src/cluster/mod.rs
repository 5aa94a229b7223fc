//! Queries on several machines: a scheduler distributes their parts to executors.
//!
//! - [`codec`]: serialisation of the instruction table and of functions on programs
//! - [`scheduler`], [`executor`]: the two long-running commands
//!
//! There is no encryption and no authentication: whoever reaches a port can read whatever the process can. By default,
//! only addresses of this machine are used.

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

/// The settings of sessions whose plans are sent to other machines.
pub fn config(options: &Options) -> SessionConfig {
    let config = SessionConfig::new_with_ballista();
    let config = session::settle(config, options);
    config
        .with_ballista_logical_extension_codec(Arc::new(Codec::default()))
        .with_ballista_physical_extension_codec(Arc::new(Codec::default()))
}

/// A session whose queries are computed by the executors of a scheduler.
///
/// # Errors
/// When the scheduler does not answer.
pub async fn context(scheduler: &str, options: &Options) -> Result<SessionContext> {
    let address = address(scheduler)?;
    if let Err(error) = tokio::net::TcpStream::connect(address).await {
        let help = "`isaforge-corpus scheduler` starts one";
        return Err(Error::usage(format!("no scheduler answers at {scheduler}: {error}"), help));
    }
    let state = session::state(config(options), options)?;
    Ok(SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await?)
}

/// Resolves `HOST:PORT` to an address.
fn address(given: &str) -> Result<SocketAddr> {
    let wrong = |reason: String| Error::usage(format!("`{given}` is not an address: {reason}"), "write HOST:PORT");
    let mut found = given.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    found.next().ok_or_else(|| wrong("unknown host".to_owned()))
}

/// Warns about listening on an address that other machines can reach.
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
