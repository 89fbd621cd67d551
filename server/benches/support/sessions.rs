//! Sessions of a server, for benches.

use serde_json::{Value, json};

use super::server::Server;

/// The session of a run in a state.
pub(crate) fn wait_for(server: &Server, run: &str, state: &str) -> Value {
    let find = |list: &Value| {
        let all = list["sessions"].as_array().into_iter().flatten();
        let mut of_run = all.filter(|session| session["name"] == run && session["state"] == state);
        of_run.next().cloned()
    };
    let list = server.wait("/api/sessions", |_, list| find(list).is_some());
    find(&list).unwrap()
}

/// Sends a command for a session at its current turn.
pub(crate) fn command(server: &Server, session: &Value, command: &Value) {
    let body = json!({"session": session["id"], "turn": session["turn"], "command": command});
    let url = format!("{}/api/session/command", server.address);
    let request = server.agent.post(url);
    let request = request.header("content-type", "application/json");
    let mut answer = request.send(body.to_string()).unwrap();
    answer.body_mut().read_to_vec().unwrap();
}
