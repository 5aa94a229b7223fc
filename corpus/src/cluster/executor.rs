//! `isaforge-corpus executor`.

use std::net::TcpListener;
use std::sync::Arc;

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use isaforge_cli::output::say;

use super::codec::Codec;
use super::{address, config, failed, warn};
use crate::args::ExecutorArgs;
use crate::error::{Error, Result};
use crate::session::{self, Options};

/// The interval of heartbeats in seconds; a scheduler waits for at least three of them.
pub const HEARTBEAT: u64 = 1;

/// Works until the process ends.
///
/// # Errors
/// When it cannot listen, or the scheduler does not answer.
pub async fn run(args: ExecutorArgs) -> Result<()> {
    let scheduler = address(&args.scheduler)?;
    let own = address(&format!("{}:{}", args.bind, args.port))?;
    warn(own.ip());
    if let Err(error) = tokio::net::TcpStream::connect(scheduler).await {
        let help = "`isaforge-corpus scheduler` starts one";
        return Err(Error::usage(format!("no scheduler answers at {}: {error}", args.scheduler), help));
    }
    let taken = |error| Error::File { what: format!("cannot listen at {own}"), error };
    // Both listeners stay open until both ports are known, so that the ports differ.
    let (answers, orders) = (TcpListener::bind(own).map_err(taken)?, TcpListener::bind((own.ip(), 0)).map_err(taken)?);
    let (port, grpc_port) = (answers.local_addr().map_err(taken)?.port(), orders.local_addr().map_err(taken)?.port());
    drop((answers, orders));
    let failed_folder = |error| Error::File { what: "cannot make a temporary folder".to_owned(), error };
    let temporary = tempfile::tempdir().map_err(failed_folder)?;
    let work = args.work.unwrap_or_else(|| temporary.path().to_owned());
    let cores = args.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()));
    let state = session::state(config(&Options::default()), &Options::default())?;
    let spill = work.clone();
    let settings = ExecutorProcessConfig {
        bind_host: own.ip().to_string(),
        external_host: Some(own.ip().to_string()),
        port,
        grpc_port,
        scheduler_host: scheduler.ip().to_string(),
        scheduler_port: scheduler.port(),
        vcores: cores,
        work_dir: Some(work.display().to_string()),
        executor_heartbeat_interval_seconds: HEARTBEAT,
        override_config_producer: Some(Arc::new(|| config(&Options::default()))),
        override_runtime_producer: Some(Arc::new(move |_| {
            session::runtime(&Options::default()).with_temp_file_path(spill.clone()).build_arc()
        })),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        override_logical_codec: Some(Arc::new(Codec::default())),
        override_physical_codec: Some(Arc::new(Codec::default())),
        ..ExecutorProcessConfig::default()
    };
    say(&format!("executor at {}:{port} with {cores} cores, for the scheduler at {scheduler}", own.ip()));
    start_executor_process(Arc::new(settings)).await.map_err(failed("the executor ended"))
}
