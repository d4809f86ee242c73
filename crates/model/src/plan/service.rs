//! HTTP services: programs, configuration files and copies.

use super::stats::stats_pages;
use super::{Limits, StatsPage};
use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// HTTP service; the nodes after it are its database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Program and arguments. A relative path is relative to the directory of the experiment file. Empty for an
    /// attached service, and for a service with `programs`.
    pub command: Vec<String>,
    /// URL of an attached service, `http://host:port` or `https://…`. pgdyno assigns an address to a service that it
    /// starts.
    pub url: Option<String>,
    /// Environment variables of all programs, in addition to those that are always set, such as `ADDRESS`.
    pub env: Vec<(String, String)>,
    /// Files that pgdyno writes into the directory of each copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ServiceFile>,
    /// Programs in the order in which they start, instead of `command`. The last one of each copy serves the copy's
    /// address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ServiceProgram>,
    /// Number of instances, at least 1. The limits apply to each instance. Several instances require a balancer in
    /// front of them.
    pub copies: u32,
    /// Path that returns status 200 as soon as the service is ready, such as `/health`.
    #[serde(alias = "ready")]
    pub ready_path: String,
    /// Time limit for the start of each program. `None` means 60 s of CPU time, which is 10 minutes at a quota of 0.1
    /// CPU.
    #[serde(default)]
    #[serde(rename = "ready_timeout_ns", alias = "ready_within")]
    pub ready_timeout: Option<Nanos>,
    /// Pages with statistics of the service and of the programs around it.
    #[serde(default, alias = "stats_path", deserialize_with = "stats_pages")]
    pub stats: Vec<StatsPage>,
    /// `host:port` of an attached service on another machine. By repeating the address here, the user permits load on
    /// the service.
    #[serde(default)]
    pub allow: Option<String>,
    /// URLs at which node_exporter serves the metrics of the service's hosts.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Part of the service that a started node runs; `None` for the planned node. See [`super::started_nodes`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<ServiceInstance>,
}

/// Program of a service that consists of several programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceProgram {
    /// Name, unique in the service.
    pub name: String,
    /// Program and arguments, as in [`Service::command`].
    pub command: Vec<String>,
    /// Environment variables in addition to those of the service.
    pub env: Vec<(String, String)>,
    /// Files that pgdyno writes into the program's directory before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ServiceFile>,
    pub scope: ProgramScope,
    /// Not used for the program that serves the copy's address, see [`Service::ready_path`].
    pub ready: ProgramReadiness,
    pub limits: Limits,
}

/// Number of instances of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramScope {
    /// One for each copy of the service.
    #[default]
    Copy,
    /// One for the whole stack, started before the copies.
    Stack,
}

impl ProgramScope {
    /// Value of the key `per`.
    pub fn key(self) -> &'static str {
        match self {
            ProgramScope::Copy => "copy",
            ProgramScope::Stack => "stack",
        }
    }
}

/// Condition under which a program is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramReadiness {
    /// The program's port returns status 200 for this path.
    Path(String),
    /// The program's port accepts connections.
    Port,
    /// The Unix socket with this name in the program's directory accepts connections.
    Socket(String),
    /// The program has not ended shortly after its start.
    Running,
}

/// File that pgdyno writes before it starts the programs of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFile {
    /// Path relative to the program's directory.
    pub name: String,
    /// Path of the template.
    pub origin: PathBuf,
    /// Text of the template, with its variables.
    pub text: String,
}

/// Part of a service that a started node runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceInstance {
    /// Name of the planned node.
    pub service: String,
    /// Number of the copy, from 1; `None` for a program with the scope [`ProgramScope::Stack`].
    pub copy: Option<u32>,
    /// Name of the copy, or of the service if it has only one copy. Names of the copy's nodes begin with it.
    pub base: String,
    /// Name of the program; `None` if the service is a single program.
    pub program: Option<String>,
}

impl Default for Service {
    /// A service without a program.
    fn default() -> Service {
        Service {
            command: Vec::new(),
            url: None,
            env: Vec::new(),
            files: Vec::new(),
            programs: Vec::new(),
            copies: 1,
            ready_path: "/health".to_owned(),
            ready_timeout: None,
            stats: Vec::new(),
            allow: None,
            metrics: Vec::new(),
            instance: None,
        }
    }
}

impl Service {
    /// Program that serves the address of a copy: the last one that each copy has. `None` if the service is a single
    /// program.
    pub fn serving_program(&self) -> Option<&ServiceProgram> {
        self.programs.iter().rfind(|it| it.scope == ProgramScope::Copy)
    }

    /// Program of this instance; `None` if the service is a single program.
    pub fn program(&self) -> Option<&ServiceProgram> {
        let name = self.instance.as_ref()?.program.as_ref()?;
        self.programs.iter().find(|it| it.name == *name)
    }

    /// True if this instance serves the address of its copy.
    pub fn is_serving(&self) -> bool {
        self.program() == self.serving_program()
    }

    /// Program and arguments of this instance.
    pub fn started_command(&self) -> &[String] {
        self.program().map_or(&self.command, |it| &it.command)
    }

    /// Environment variables of this instance. Those of the program replace those of the service.
    pub fn started_env(&self) -> Vec<(String, String)> {
        let own = self.program().map_or(&[][..], |it| &it.env);
        let common = self.env.iter().filter(|it| own.iter().all(|variable| variable.0 != it.0));
        common.chain(own).cloned().collect()
    }

    /// Files of each copy, if this instance is the first one of its copy that starts.
    pub fn copy_files(&self) -> &[ServiceFile] {
        let first = self.programs.iter().find(|it| it.scope == ProgramScope::Copy);
        if self.program() == first { &self.files } else { &[] }
    }
}

impl ServiceInstance {
    /// Name of the started node that runs a program of the same copy or of the stack.
    pub fn node_of(&self, program: &ServiceProgram) -> String {
        let base = if program.scope == ProgramScope::Copy { &self.base } else { &self.service };
        format!("{base}.{}", program.name)
    }

    /// Name of the directory of this instance. All programs of a copy share one.
    pub fn directory(&self) -> String {
        match (self.copy, &self.program) {
            (None, Some(program)) => format!("{}.{program}", self.service),
            _ => self.base.clone(),
        }
    }
}
