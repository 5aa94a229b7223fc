//! `isaforge-corpus scheduler`.

use std::sync::{Arc, OnceLock};

use ballista_scheduler::cluster::{BallistaCluster, ClusterState};
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::error::DataFusionError;
use isaforge_cli::output::say;

use super::codec::Codec;
use super::executor::HEARTBEAT;
use super::{address, config, failed, warn};
use crate::args::SchedulerArgs;
use crate::error::{Error, Result};
use crate::session::{self, Options};

/// Serves until the process ends.
///
/// # Errors
/// When it cannot listen on the address.
pub async fn run(args: SchedulerArgs) -> Result<()> {
    let address = address(&args.bind)?;
    warn(address.ip());
    // A port that is already in use is reported before anything starts.
    let taken = |error| Error::File { what: format!("cannot listen at {}", args.bind), error };
    drop(std::net::TcpListener::bind(address).map_err(taken)?);
    let timeout = args.executor_timeout.max(3 * HEARTBEAT);
    // Filled in below. Without a limit, Ballista lets a query wait indefinitely for the first executor.
    let executors: Arc<OnceLock<Arc<dyn ClusterState>>> = Arc::default();
    let known = Arc::clone(&executors);
    let settings = SchedulerConfig {
        bind_host: address.ip().to_string(),
        external_host: address.ip().to_string(),
        bind_port: address.port(),
        executor_timeout_seconds: timeout,
        expire_dead_executor_interval_seconds: HEARTBEAT,
        no_executors_grace_period_seconds: timeout,
        override_config_producer: Some(Arc::new(|| config(&Options::default()))),
        override_session_builder: Some(Arc::new(move |config| {
            if known.get().is_some_and(|state| state.executor_heartbeats().is_empty()) {
                let help = format!("`isaforge-corpus executor --scheduler {address}` starts one");
                let message = format!("no executor works for the scheduler at {address}; {help}");
                return Err(DataFusionError::Configuration(message));
            }
            session::state(config, &Options::default())
        })),
        override_logical_codec: Some(Arc::new(Codec::default())),
        override_physical_codec: Some(Arc::new(Codec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&settings).await.map_err(failed("cannot start the scheduler"))?;
    // It is empty until this point.
    let _ = executors.set(cluster.cluster_state());
    say(&format!("scheduler at {address}; start executors with `isaforge-corpus executor --scheduler {address}`"));
    start_server(cluster, address, Arc::new(settings)).await.map_err(failed("the scheduler ended"))
}
