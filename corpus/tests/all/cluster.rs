use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use datafusion::execution::FunctionRegistry;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::SessionContext;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use isaforge_corpus::cluster::codec::Codec;

use crate::support::{command, fine, refused, session, shaders};

const TIMEOUT: &str = "8";

/// A scheduler and its executors, which are killed with it.
pub struct Cluster {
    pub address: String,
    scheduler: Child,
    executors: Vec<Child>,
}

/// Starts a process with additional environment variables.
fn start(arguments: &[&str], variables: &[(&str, String)]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"));
    child
        .args(arguments)
        .envs(variables.iter().cloned())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

impl Cluster {
    fn new(executors: usize) -> Cluster {
        Cluster::with(executors, &[])
    }

    /// A cluster whose processes have additional environment variables.
    pub fn with(executors: usize, variables: &[(&str, String)]) -> Cluster {
        let (address, scheduler) = Cluster::anywhere(variables);
        let work = |_| start(&["executor", "--scheduler", &address, "--cores", "1"], variables);
        let executors = (0..executors).map(work).collect();
        let mut cluster = Cluster { address, scheduler, executors };
        cluster.wait();
        cluster
    }

    /// A scheduler on a free address. If another process takes the address first, the scheduler ends and another one is
    /// tried.
    fn anywhere(variables: &[(&str, String)]) -> (String, Child) {
        loop {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
            if let Some(scheduler) = Cluster::schedule(&address, variables) {
                return (address, scheduler);
            }
        }
    }

    /// A scheduler on a given address; `None` if it cannot listen there.
    fn schedule(address: &str, variables: &[(&str, String)]) -> Option<Child> {
        let mut scheduler = start(&["scheduler", "--bind", address, "--executor-timeout", TIMEOUT], variables);
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < Duration::from_secs(60), "the scheduler does not listen");
            std::thread::sleep(Duration::from_millis(50));
            if scheduler.try_wait().unwrap().is_some() {
                return None;
            }
            if std::net::TcpStream::connect(address).is_ok() {
                return Some(scheduler);
            }
        }
    }

    /// Waits until a query is answered.
    fn wait(&mut self) {
        let started = Instant::now();
        while !self.ask("SELECT count(*) FROM programs").1 {
            assert!(started.elapsed() < Duration::from_secs(120), "nobody answers");
        }
    }

    /// The answer, and whether the query succeeded.
    fn ask(&self, sql: &str) -> (String, bool) {
        let output = command(&["query", shaders(), sql, "--format", "csv", "--remote", &self.address]);
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Held so that cluster tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Waits until no other cluster test is running.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A query that takes some seconds, in several parts.
const SLOW: &str = "SELECT count(*), sum(isa_pressure(code)) FROM programs CROSS JOIN (SELECT unnest(range(0, 12)))";

fn embedded(sql: &str) -> String {
    fine(&["query", shaders(), sql, "--format", "csv"]).0
}

#[test]
fn executors_give_the_answers_of_one_process() {
    let _alone = alone();
    let cluster = Cluster::new(2);
    for sql in [
        "SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC, 1",
        "SELECT program, pc, text FROM instructions WHERE mnemonic LIKE 'FMA%' AND pc < 64 ORDER BY hash, pc, program LIMIT 50",
        "SELECT count(*) FROM instructions WHERE hash < '8' AND flow = 'end'",
        "SELECT register, count(*) FROM (SELECT unnest(src) AS register FROM instructions) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20",
        "SELECT sum(isa_count(code, 'FMA.f32', 'clamp_0_1')), max(isa_pressure(code)) FROM programs",
        "SELECT h['mnemonic'] AS m, sum(h['count']) FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs) GROUP BY 1 ORDER BY 1",
        "SELECT f.mnemonic FROM forms f LEFT ANTI JOIN (SELECT DISTINCT opcode FROM instructions) i ON i.opcode = f.opcode ORDER BY 1",
        "SELECT count(*) FROM instructions WHERE array_has(modifiers, 'reconverge')",
    ] {
        let expected = embedded(sql);
        assert_eq!(fine(&["query", shaders(), sql, "--format", "csv", "--partitions", "2"]).0, expected, "{sql}");
        assert_eq!(cluster.ask(sql), (expected, true), "{sql}");
    }
    let said =
        refused(&["query", shaders(), "SELECT isa_count(code, 'X') FROM programs", "--remote", &cluster.address], 2);
    assert!(said.contains("there is no form `X`"), "{said}");
}

#[test]
fn an_executor_that_dies_in_a_query_changes_no_answer() {
    let _alone = alone();
    let expected = embedded(SLOW);
    for signal in ["KILL", "TERM"] {
        let mut cluster = Cluster::new(2);
        let started = Instant::now();
        let answer = std::thread::scope(|scope| {
            let asked = scope.spawn(|| cluster.ask(SLOW));
            std::thread::sleep(Duration::from_millis(700));
            let id = cluster.executors[1].id().to_string();
            Command::new("kill").args(["-s", signal, &id]).status().unwrap();
            asked.join().unwrap()
        });
        assert_eq!(answer, (expected.clone(), true), "{signal}");
        assert!(started.elapsed() < Duration::from_secs(120), "{signal}: {:?}", started.elapsed());
        // The remaining executor continues.
        cluster.wait();
    }
}

#[test]
fn without_any_executor_a_query_ends_with_an_error() {
    let _alone = alone();
    let mut cluster = Cluster::new(2);
    let started = Instant::now();
    let status = std::thread::scope(|scope| {
        let address = cluster.address.clone();
        let asked = scope.spawn(move || command(&["query", shaders(), SLOW, "--remote", &address]));
        std::thread::sleep(Duration::from_millis(500));
        for executor in &mut cluster.executors {
            executor.kill().unwrap();
        }
        asked.join().unwrap()
    });
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    assert_eq!(status.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

#[test]
fn a_scheduler_that_nobody_works_for_says_so() {
    let _alone = alone();
    let (address, scheduler) = Cluster::anywhere(&[]);
    let cluster = Cluster { address, scheduler, executors: Vec::new() };
    let started = Instant::now();
    let said = refused(&["query", shaders(), "SELECT count(*) FROM programs", "--remote", &cluster.address], 2);
    assert!(said.contains("no executor works for the scheduler"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_scheduler_that_comes_back_finds_its_executors() {
    let _alone = alone();
    let mut cluster = Cluster::new(1);
    cluster.scheduler.kill().unwrap();
    cluster.scheduler.wait().unwrap();
    let said = refused(&["query", shaders(), "SELECT 1", "--remote", &cluster.address], 2);
    assert!(said.contains("no scheduler answers"), "{said}");
    cluster.scheduler = Cluster::schedule(&cluster.address, &[]).expect("its address is free again");
    cluster.wait();
    let sql = "SELECT count(*) FROM instructions";
    assert_eq!(cluster.ask(sql), (embedded(sql), true));
}

#[test]
fn an_address_of_other_machines_comes_with_a_warning() {
    let free = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"))
        .args(["scheduler", "--bind", &format!("0.0.0.0:{free}")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap());
    while !said.contains("scheduler at") {
        assert!(std::io::BufRead::read_line(&mut lines, &mut said).unwrap() > 0, "{said}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains("Let only machines that you trust reach it."), "{said}");
    assert!(refused(&["scheduler", "--bind", "nowhere"], 2).contains("write HOST:PORT"));
    assert!(refused(&["executor", "--scheduler", "127.0.0.1:1"], 2).contains("no scheduler answers"));
}

/// The plan node that decodes instructions.
fn instructions(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    if plan.name() == "InstructionsExec" {
        return Some(Arc::clone(plan));
    }
    plan.children().into_iter().find_map(instructions)
}

#[tokio::test]
async fn plans_tables_and_functions_travel_whole_and_cut_messages_are_refused() {
    let context = session(shaders(), 2).await;
    let sql = "SELECT pc, text FROM instructions WHERE mnemonic LIKE 'FMA%' AND opcode > 3 AND program <> 'x'";
    let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let node = instructions(&plan).expect("the plan decodes");
    let (codec, converter) = (Codec::default(), DefaultPhysicalProtoConverter {});
    let elsewhere = SessionContext::new().task_ctx();
    let mut message = Vec::new();
    PhysicalExtensionCodec::try_encode(&codec, Arc::clone(&node), &mut message, &converter).unwrap();
    let inputs: Vec<_> = node.children().into_iter().cloned().collect();
    let decode = |message: &[u8]| PhysicalExtensionCodec::try_decode(&codec, message, &inputs, &elsewhere, &converter);
    let shown = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(true).to_string();
    assert_eq!(shown(&decode(&message).unwrap()), shown(&node));
    for length in 0..message.len() {
        assert!(decode(&message[..length]).is_err(), "{length} of {} bytes", message.len());
    }
    for at in (0..message.len()).step_by(7) {
        let mut other = message.clone();
        other[at] ^= 0x5a;
        // Damaged messages may be rejected or accepted, but must not panic.
        let _ = decode(&other);
    }
    let function = context.udf("isa_count").unwrap();
    let mut message = Vec::new();
    PhysicalExtensionCodec::try_encode_udf(&codec, &function, &mut message).unwrap();
    assert_eq!(*PhysicalExtensionCodec::try_decode_udf(&codec, "isa_count", &message).unwrap(), *function);
    assert!(LogicalExtensionCodec::try_decode_udf(&codec, "isa_other", &message).is_err());
    for length in 0..message.len() {
        assert!(LogicalExtensionCodec::try_decode_udf(&codec, "isa_count", &message[..length]).is_err());
    }
    let table = context.table_provider("instructions").await.unwrap();
    let (name, mut message) = ("instructions".into(), Vec::new());
    codec.try_encode_table_provider(&name, Arc::clone(&table), &mut message).unwrap();
    let decode = |message: &[u8]| codec.try_decode_table_provider(message, &name, table.schema(), &elsewhere);
    let found = decode(&message).unwrap();
    assert_eq!(found.schema(), table.schema());
    for length in 0..message.len() {
        assert!(decode(&message[..length]).is_err(), "{length}");
    }
}
