//! Lakes in an S3 store: moto's mock of it, where that is installed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cluster::{Cluster, alone};
use crate::support::{fine, project, shaders};

struct Mock {
    child: Child,
    port: u16,
}

impl Mock {
    /// Starts the mock; `None` if it is not installed.
    fn new() -> Option<Mock> {
        let given = std::env::var("MOTO_SERVER").ok();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut start = Command::new(given.as_deref().unwrap_or("moto_server"));
        start.args(["-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = match (start.spawn(), given) {
            (Ok(child), _) => child,
            (Err(error), Some(given)) => panic!("{given}: {error}"),
            (Err(_), None) => return None,
        };
        let mock = Mock { child, port };
        let started = Instant::now();
        // A successful response means that the bucket was created.
        while !mock.put("/corpus", &[]) {
            assert!(started.elapsed() < Duration::from_secs(120), "the mock does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(mock)
    }

    fn put(&self, path: &str, content: &[u8]) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let (port, length) = (self.port, content.len());
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let mut answer = String::new();
        stream.write_all(&[head.as_bytes(), content].concat()).is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }

    /// The environment variables with the address and the credentials of the store.
    fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ACCESS_KEY_ID", "nobody".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "nothing".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    fn command(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"));
        command.args(arguments).envs(self.variables()).output().unwrap()
    }

    #[track_caller]
    fn fine(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_lake_in_s3_gives_the_answers_of_one_on_disk() {
    let Some(mock) = Mock::new() else {
        eprintln!("NOT RUN: there is no moto_server; `pip install 'moto[server,s3]'` brings it");
        return;
    };
    let path = project("tests/data/valhall/shaders.tsv.gz");
    let import = ["import", "--isa", "valhall", path.to_str().unwrap(), "-o", "s3://corpus/lakes/one"];
    mock.fine(&import);
    mock.fine(&import);
    for sql in [
        "SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC, 1",
        "SELECT count(*), sum(words), min(hash) FROM programs",
        "SELECT count(*) FROM forms",
    ] {
        let expected = fine(&["query", shaders(), sql, "--format", "csv"]).0;
        assert_eq!(mock.fine(&["query", "s3://corpus/lakes/one", sql, "--format", "csv"]), expected, "{sql}");
    }
    // Two executors, configured by the same variables, read it as well.
    let _alone = alone();
    let cluster = Cluster::with(2, &mock.variables());
    for sql in [
        "SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC, 1",
        "SELECT sum(isa_pressure(code)) FROM programs",
    ] {
        let expected = fine(&["query", shaders(), sql, "--format", "csv"]).0;
        let asked = ["query", "s3://corpus/lakes/one", sql, "--format", "csv", "--remote", &cluster.address];
        assert_eq!(mock.fine(&asked), expected, "{sql}");
    }
    let output = mock.command(&["query", "s3://corpus/none", "SELECT 1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a lake"));
    // An unrelated file in the store is detected, too.
    let forms = std::fs::read(format!("{}/forms/valhall.parquet", shaders())).unwrap();
    assert!(mock.put("/corpus/lakes/one/programs/other.parquet", &forms));
    let output = mock.command(&["query", "s3://corpus/lakes/one", "SELECT count(*) FROM programs"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("other.parquet` does not belong to the table `programs`: it has no column `name`"), "{said}");
}
