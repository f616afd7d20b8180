//! Kit keeps things for tests: a tool whose command line clap reads.
//!
//! With KIT_LOOP set it reads command lines, each a JSON array of words, from standard
//! input, and writes for each how clap has read it.

use std::io::{self, BufRead, Write};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use serde_json::{json, Map, Value};

/// Kit keeps things for tests
#[derive(Parser)]
#[command(name = "kit", infer_long_args = true, infer_subcommands = true)]
#[allow(dead_code)]
struct Kit {
    /// Say more
    #[arg(long, global = true)]
    trace: bool,
    #[command(subcommand)]
    command: Commands,
}

#[derive(Subcommand)]
#[allow(dead_code)]
enum Commands {
    /// Show things
    #[command(visible_alias = "g")]
    Get(Get),
    /// Change things
    Apply {
        #[command(flatten)]
        force: Force,
        /// Over there
        #[arg(long)]
        server_side: bool,
        /// One field
        #[arg(long)]
        field: Option<String>,
        file: String,
    },
    /// Delete a thing
    #[command(visible_alias = "rm")]
    Delete {
        #[command(flatten)]
        force: Force,
        name: String,
    },
    /// Run a program with all that follows
    #[command(trailing_var_arg = true)]
    Run {
        #[command(flatten)]
        force: Force,
        program: String,
        #[arg(allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Run a program somewhere
    Exec {
        #[command(flatten)]
        force: Force,
        place: Option<String>,
        /// What stands behind the dashes
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Keep a text that may begin with a dash
    Note {
        #[command(flatten)]
        force: Force,
        #[arg(allow_hyphen_values = true)]
        text: String,
        more: Option<String>,
    },
    /// Settings
    Config {
        #[command(subcommand)]
        command: Config,
    },
    /// Where things are, and what to do there
    Store {
        place: Option<String>,
        #[command(subcommand)]
        command: Option<Store>,
    },
}

#[derive(Args)]
#[allow(dead_code)]
struct Force {
    /// Whatever stands against it
    #[arg(short, long)]
    force: bool,
}

#[derive(Clone, ValueEnum)]
enum Form {
    Text,
    Json,
    /// Columns
    Table,
}

#[derive(Args)]
#[allow(dead_code)]
struct Get {
    /// The form of the output
    #[arg(short, long)]
    output: Option<String>,
    /// Write into this file
    #[arg(long, value_name = "FILE")]
    output_file: Option<String>,
    /// Hidden things, too
    #[arg(short, long)]
    all: bool,
    /// How many
    #[arg(long, default_value_t = 10)]
    limit: i64,
    /// Only those with this label
    #[arg(short, long, action = ArgAction::Append)]
    label: Vec<String>,
    /// When to use colors
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    color: Option<String>,
    /// How deep
    #[arg(long, num_args = 0..=1, default_missing_value = "9")]
    depth: Option<String>,
    /// One letter, its value behind an equals sign
    #[arg(short, num_args = 0..=1, require_equals = true, default_missing_value = "y")]
    c: Option<String>,
    /// One letter, its value in the next word
    #[arg(short, num_args = 0..=1, default_missing_value = "y")]
    z: Option<String>,
    /// One letter with a value
    #[arg(short)]
    x: Option<String>,
    /// Say more
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
    /// The form
    #[arg(long, value_enum)]
    form: Option<Form>,
    /// Use what was kept
    #[arg(long, overrides_with = "no_cache")]
    cache: bool,
    /// Use nothing that was kept
    #[arg(long)]
    no_cache: bool,
    /// Two words
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    pair: Option<Vec<String>>,
    /// Some words
    #[arg(long, num_args = 1..)]
    many: Option<Vec<String>>,
    /// A value that may begin with a dash
    #[arg(long, allow_hyphen_values = true)]
    raw: Option<String>,
    /// Maybe a value that may begin with a dash
    #[arg(long, num_args = 0..=1, allow_hyphen_values = true, default_missing_value = "r")]
    rest: Option<String>,
    #[arg(required = true)]
    name: Vec<String>,
}

#[derive(Subcommand)]
#[allow(dead_code)]
enum Config {
    /// Print the settings
    View,
    /// Change a setting
    Set {
        #[command(flatten)]
        force: Force,
        key: String,
        value: Option<String>,
    },
    /// Other places
    Remote {
        #[command(subcommand)]
        command: Remote,
    },
}

#[derive(Subcommand)]
#[allow(dead_code)]
enum Remote {
    /// Add a place
    Add {
        #[command(flatten)]
        force: Force,
        name: String,
    },
}

#[derive(Subcommand)]
#[allow(dead_code)]
enum Store {
    /// Empty the store
    #[command(visible_alias = "wipe")]
    Drop {
        #[command(flatten)]
        force: Force,
        what: Option<String>,
    },
}

/// Returns the values of an argument as texts; of a switch, whether or how often it was given.
fn texts(arg: &Arg, found: &ArgMatches) -> Vec<String> {
    let id = arg.get_id().as_str();
    match arg.get_action() {
        ArgAction::Count => vec![found.get_count(id).to_string()],
        ArgAction::SetTrue => vec![found.get_flag(id).to_string()],
        _ => found
            .get_raw(id)
            .into_iter()
            .flatten()
            .map(|v| v.to_string_lossy().into_owned())
            .collect(),
    }
}

/// Adds what was given to a command and to the subcommand that was chosen.
fn collect(command: &Command, found: &ArgMatches, path: &mut String, args: &mut Vec<String>, flags: &mut Map<String, Value>) {
    for arg in command.get_arguments() {
        if found.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
            continue;
        }
        let value = texts(arg, found);
        if let Some(name) = arg.get_long().and_then(|n| n.strip_prefix("no-")) {
            flags.insert(name.to_string(), json!(["false"]));
        } else if arg.is_positional() {
            args.extend(value);
        } else {
            let name = arg.get_long().map_or_else(|| arg.get_short().unwrap_or('?').to_string(), str::to_string);
            flags.insert(name, json!(value));
        }
    }
    if let Some((name, below)) = found.subcommand() {
        path.push(' ');
        path.push_str(name);
        if let Some(sub) = command.find_subcommand(name) {
            collect(sub, below, path, args, flags);
        }
    }
}

/// Returns how clap reads words.
fn read(command: &mut Command, words: Vec<String>) -> Value {
    let words = std::iter::once("kit".to_string()).chain(words);
    match command.try_get_matches_from_mut(words) {
        Err(e) => json!({ "error": e.to_string() }),
        Ok(found) => {
            let (mut path, mut args, mut flags) = ("kit".to_string(), Vec::new(), Map::new());
            collect(command, &found, &mut path, &mut args, &mut flags);
            json!({ "path": path, "args": args, "flags": flags })
        }
    }
}

fn main() {
    if std::env::var_os("KIT_LOOP").is_none() {
        Kit::parse();
        return;
    }
    let mut command = Kit::command();
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let words = serde_json::from_str(&line.expect("a line")).expect("an array of words");
        writeln!(out, "{}", read(&mut command, words)).expect("an open output");
    }
}
