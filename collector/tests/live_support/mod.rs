//! A scripted server, and a training of one weight.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use trainscope_collector::{
    Collector, CollectorBuilder, Flow, NamedTensor, Place, Role, SamplePolicy, TensorView,
};
use trainscope_format::session::{
    ArmOrder, Gate, GateReport, GoingReason, Hello, HoldReason, PROTOCOL, PauseLevel, StopOrigin,
    ToServer, ToTraining, Welcome,
};
use trainscope_format::{Body, RecordBatch, sniff};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket, accept_hdr};

/// Longest wait of a test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Limits that no test reaches by accident.
pub(crate) const FAR: f64 = 100.0;

pub(crate) struct Server {
    listener: TcpListener,
}

pub(crate) struct Peer {
    pub(crate) socket: WebSocket<TcpStream>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { listener }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    /// Accepts a connection, and reads its `hello`.
    pub(crate) fn accept(&self) -> (Peer, Hello) {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        #[expect(clippy::result_large_err, reason = "the type is that of the library")]
        let choose =
            |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
                assert_eq!(request.uri().path(), "/api/session/connect");
                assert!(!request.headers().contains_key("origin"));
                let offered = request.headers().get("sec-websocket-protocol").cloned();
                assert_eq!(offered, Some(HeaderValue::from_static(PROTOCOL)));
                let headers = response.headers_mut();
                headers.insert("sec-websocket-protocol", HeaderValue::from_static(PROTOCOL));
                Ok(response)
            };
        let socket = accept_hdr(stream, choose).unwrap();
        let mut peer = Peer { socket };
        let ToServer::Hello(hello) = peer.read() else {
            panic!("no hello");
        };
        (peer, *hello)
    }

    /// Accepts and welcomes, with limits of gate, hold and grace in seconds.
    pub(crate) fn welcome(&self, limits: [f64; 3], pause_at: PauseLevel) -> (Peer, Hello) {
        let (mut peer, hello) = self.accept();
        let [gate_limit_secs, hold_limit_secs, lost_grace_secs] = limits;
        peer.send(&ToTraining::Welcome(Box::new(Welcome {
            session: "1".into(),
            watchpoints: None,
            pause_at,
            gate_limit_secs,
            hold_limit_secs,
            lost_grace_secs,
            heartbeat_secs: 0.05,
        })));
        (peer, hello)
    }
}

impl Peer {
    pub(crate) fn send(&mut self, message: &ToTraining) {
        self.socket.send(Message::text(message.to_text())).unwrap();
    }

    /// The next message; heartbeats too.
    pub(crate) fn read(&mut self) -> ToServer {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => return ToServer::read(text.as_str()).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next message that is not a heartbeat.
    pub(crate) fn next(&mut self) -> ToServer {
        loop {
            let message = self.read();
            if !matches!(message, ToServer::Status { .. }) {
                return message;
            }
        }
    }

    pub(crate) fn elements(&mut self) -> Vec<u8> {
        loop {
            if let Message::Binary(bytes) = self.socket.read().unwrap() {
                return bytes.to_vec();
            }
        }
    }

    pub(crate) fn arm(&mut self) {
        let order = ArmOrder {
            every: 1,
            ..ArmOrder::default()
        };
        self.send(&ToTraining::Arm(order));
        let ToServer::Armed { from: Some(_) } = self.next() else {
            panic!("it is not armed");
        };
    }

    pub(crate) fn disarm(&mut self) {
        self.send(&ToTraining::Disarm);
        assert_eq!(self.next(), ToServer::Armed { from: None });
    }

    pub(crate) fn gate(&mut self) -> GateReport {
        match self.next() {
            ToServer::Gate(report) => report,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn stop(&mut self) {
        self.send(&ToTraining::Stop {
            by: StopOrigin::Person,
            hits: Vec::new(),
        });
    }

    pub(crate) fn hold(&mut self, at: &Gate) {
        let (at, reason) = (at.clone(), HoldReason::Asked);
        self.send(&ToTraining::Hold {
            at: at.clone(),
            reason,
        });
        assert_eq!(
            self.next(),
            ToServer::Held {
                at,
                reason,
                goes_on_secs: None
            }
        );
    }

    pub(crate) fn resume(&mut self) {
        self.send(&ToTraining::Resume {
            steps: None,
            node: None,
        });
        let message = self.next();
        let why = GoingReason::Resumed;
        assert!(
            matches!(message, ToServer::Going { why: reason, .. } if reason == why),
            "{message:?}"
        );
    }
}

/// A training of one weight, in a separate thread, that reports each step to a channel.
pub(crate) struct Training {
    steps: mpsc::Receiver<i64>,
    thread: JoinHandle<(Vec<f32>, i64)>,
}

pub(crate) fn builder(run: &Path) -> CollectorBuilder {
    Collector::builder(run)
        .samples(SamplePolicy::every(10))
        .flush_every(Duration::from_millis(20))
}

/// One step: a gradient of 0.01, or NaN since `nan_at`, and gates at a node, before the update and after the step.
pub(crate) fn train(
    builder: CollectorBuilder,
    count: i64,
    pace: Duration,
    nan_at: Option<i64>,
) -> Training {
    let (sender, steps) = mpsc::channel();
    let thread = thread::spawn(move || {
        let collector = builder.start().unwrap();
        collector.nodes(["fc", "other"]);
        let mut weights = vec![1.0_f32; 4];
        let mut last = -1;
        for step in 0..count {
            let is_bad = nan_at.is_some_and(|at| step >= at);
            let gradient = vec![if is_bad { f32::NAN } else { 0.01 }; 4];
            let shape = [2, 2];
            let tensors = [
                NamedTensor {
                    name: "fc.weight",
                    role: Role::Weight,
                    view: TensorView::of(&weights, &shape),
                },
                NamedTensor {
                    name: "fc.weight.grad",
                    role: Role::Gradient,
                    view: TensorView::of(&gradient, &shape),
                },
            ];
            if collector.target_node().as_deref() == Some("fc")
                && collector.gate(step, Place::Node("fc".into()), &tensors.as_slice()) == Flow::Stop
            {
                break;
            }
            let mut recorder = collector.step(step);
            recorder.scalars(&[("train/loss", f64::from(weights[0]))]);
            for NamedTensor { name, role, view } in tensors {
                recorder.tensor(name, role, view);
            }
            drop(recorder);
            if collector.gate(step, Place::BeforeUpdate, &tensors.as_slice()) == Flow::Stop {
                break;
            }
            for (weight, gradient) in weights.iter_mut().zip(&gradient) {
                *weight -= gradient;
            }
            last = step;
            let _is_unread = sender.send(step);
            if collector.gate(step, Place::AfterStep, &()) == Flow::Stop {
                break;
            }
            thread::sleep(pace);
        }
        collector.finish();
        (weights, last)
    });
    Training { steps, thread }
}

impl Training {
    pub(crate) fn wait_for(&self, step: i64) {
        let until = Instant::now() + PATIENCE;
        while self.steps.recv_timeout(until - Instant::now()).unwrap() < step {}
    }

    /// `true` if a step passes within this time.
    pub(crate) fn passes(&self, time: Duration) -> bool {
        self.steps.recv_timeout(time).is_ok()
    }

    pub(crate) fn end(self) -> (Vec<f32>, i64) {
        self.thread.join().unwrap()
    }
}

/// Bodies of the records in the event files of a run.
pub(crate) fn bodies(run: &Path) -> Vec<(i64, Body)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(format) = sniff(&name, Vec::new) else {
            continue;
        };
        let mut batch = RecordBatch::default();
        let mut decoder = format.decoder(&name);
        decoder.push(&std::fs::read(&path).unwrap(), &mut batch);
        all.extend(
            batch
                .records
                .into_iter()
                .map(|record| (record.step, record.body)),
        );
    }
    all
}

pub(crate) fn notes(run: &Path) -> String {
    let all = bodies(run).into_iter();
    let texts = all.filter_map(|(_, body)| match body {
        Body::Text(text) => Some(text.items.concat()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
