package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// What a placeholder without a value means, in [Entry.MissingEnv].
const (
	MissingError   = "error"
	MissingEmpty   = "empty"
	MissingLiteral = "literal"
)

// Entry is one object of servers.json. Values are as in the file, placeholders
// unexpanded; see [Entry.Expand].
type Entry struct {
	// Name is the alias, File the path of the file that the entry is in, as it was given.
	Name string
	File string

	// Command, Args, Env and Cwd start a stdio server or a command-line tool.
	// Env adds to the environment. A Cwd that is empty or not absolute is below Base,
	// which is "" for the current directory.
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string
	Base    string

	// URL and Headers reach a remote server. Header names are as written.
	URL     string
	Headers map[string]string

	// Auth is how the credentials of a remote server are obtained, in the form of
	// package authconfig with placeholders; nil is by what the server says.
	Auth json.RawMessage
	// AllowInsecureHTTP sends credentials to a server on another machine also over
	// http.
	AllowInsecureHTTP bool

	// Type is "" (the shape decides), "stdio", "http" or "sse". The spellings
	// of other hosts, streamable-http and streamableHttp, are read as "http".
	Type string

	// Disabled takes the server out of use, as other hosts know it.
	Disabled bool

	// CLI makes a server of a command-line tool. CLIOnly are the commands that it
	// exposes, such as "get pods" or "apply --dry-run", "*" for all; nil exposes
	// those that only read. CLIDeny are commands and flags that it never exposes.
	CLI     bool
	CLIOnly []string
	CLIDeny []string
	// CLIDepth is how many words a subcommand may have; zero is 3.
	CLIDepth int
	// CLIRoots are directories: a call may choose one of them, or one below them, to
	// run in. Nil leaves no choice.
	CLIRoots []string
	// CLIArgs lets callers add words of their own to a command line.
	CLIArgs bool
	// CLIHelp are the words that make the tool print its help; "" tries the usual
	// ones.
	CLIHelp string
	// Tools are changes of single tools of a command-line tool.
	Tools []ToolOverride
	// ToolFilter says which tools of the server there are.
	ToolFilter ToolFilter

	// MissingEnv is what happens to a placeholder without a value: "" and "error"
	// fail, "empty" removes it, "literal" keeps it.
	MissingEnv string

	// Public are the names of variables whose values are no secrets, so that they stay in
	// errors and logs; see [Expanded.Secrets].
	Public []string

	// ProtocolVersion is the revision of the protocol that is spoken to the server; "" is
	// found out.
	ProtocolVersion string

	// Durations: zero is the caller's default, negative is off ("never" or "0" in
	// the file).
	ConnectTimeout  time.Duration
	RequestTimeout  time.Duration
	ProbeTimeout    time.Duration
	ShutdownTimeout time.Duration

	// Start is when serve connects to the server: "" or "lazy", "eager",
	// "cached".
	Start string
	// IdleTimeout is how long serve keeps a server that no client calls; zero
	// adapts to how often it is called, between MinIdleTimeout and
	// MaxIdleTimeout. Negative is off, as above. Where both are positive,
	// MinIdleTimeout is not above MaxIdleTimeout.
	IdleTimeout    time.Duration
	MinIdleTimeout time.Duration
	MaxIdleTimeout time.Duration

	// Isolation is which clients of serve share a connection to the server:
	// "" or "auto", "shared", "principal" or "session".
	Isolation string
	// MaxPrincipals bounds the users with connections of their own to the server; zero
	// is 64.
	MaxPrincipals int
	// RequestIDFormat is "" or "number" for integers, "string" for servers
	// that refuse those.
	RequestIDFormat string
	// WrapURIs makes serve expose the server's resources under URIs that name the
	// server, also where no other server has the same.
	WrapURIs bool
	// NoServerStream leaves the stream closed on which a remote server sends what
	// belongs to no call.
	NoServerStream bool
	// MaxMessageBytes bounds one message of the server, in bytes; 0 is 64 MiB.
	MaxMessageBytes int
	// Strict makes lines that are not MCP messages an error.
	Strict bool
	// Pin is what happens to tools and the like that are not as servers.lock.json has
	// them: "" or "warn", "hold" or "off".
	Pin string
	// Labels are words for policies, which are about all servers with one: lower-case
	// letters, digits, '-', '_' and '.', each once.
	Labels []string
	// TrustAnnotations has policies believe what the server says of its tools: that they
	// only read, for example. What is as servers.lock.json has it is believed anyway.
	TrustAnnotations bool
	// Origin is the registry record the entry was made of, nil for none.
	Origin *Origin

	// Raw is the object as in the file, without comments, trailing commas and
	// white space, never expanded.
	Raw json.RawMessage
	// Fault is why the entry cannot be used, nil if it can. The fields of an
	// entry with a fault hold what could be read.
	Fault *Problem
}

// Origin is the registry record an entry was made of.
type Origin struct {
	Registry string `json:"registry,omitempty"`
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
}

// String names the entry: what is in it may be secret.
func (e Entry) String() string { return "entry " + e.Name }

// Err returns the fault as an error.
func (e Entry) Err() error {
	if e.Fault == nil {
		return nil
	}
	return e.Fault
}

// Digest returns the SHA-256, in hexadecimal, of the entry as in the file,
// placeholders unexpanded. So it holds no secret that is a placeholder, and stays
// the same when the secret is replaced; it changes with anything else in the entry
// except white space and comments.
func (e Entry) Digest() string { return digest(e.Raw) }

// Connection returns a digest of how the server is reached: it changes exactly
// when an open connection has to be replaced for a change of the entry to take
// effect. Timeouts, isolation and other settings of serve are not in it, nor the
// origin.
func (e Entry) Connection() string {
	fault := ""
	if e.Fault != nil {
		fault = e.Fault.Message
	}
	text, err := json.Marshal(struct {
		Command, Cwd, URL, Transport, MissingEnv, RequestIDFormat string
		Base                                                      string `json:",omitempty"`
		Args, CLIOnly                                             []string
		CLIDeny                                                   []string       `json:",omitempty"`
		CLIDepth                                                  int            `json:",omitempty"`
		CLIRoots                                                  []string       `json:",omitempty"`
		CLIArgs                                                   bool           `json:",omitempty"`
		CLIHelp                                                   string         `json:",omitempty"`
		Tools                                                     []ToolOverride `json:",omitempty"`
		ToolFilter                                                ToolFilter     `json:",omitzero"`
		Env, Headers                                              map[string]string
		CLI, Strict                                               bool
		AllowInsecureHTTP, NoServerStream                         bool            `json:",omitempty"`
		MaxMessageBytes                                           int             `json:",omitempty"`
		Public                                                    []string        `json:",omitempty"`
		ProtocolVersion                                           string          `json:",omitempty"`
		Auth                                                      json.RawMessage `json:",omitempty"`
		Fault                                                     string
	}{
		e.Command, e.Cwd, e.URL, e.Transport(), e.MissingEnv, e.RequestIDFormat, e.Base, e.Args, e.CLIOnly,
		e.CLIDeny, e.CLIDepth, e.CLIRoots, e.CLIArgs, e.CLIHelp, e.Tools, e.ToolFilter, e.Env, e.Headers, e.CLI, e.Strict, e.AllowInsecureHTTP, e.NoServerStream, e.MaxMessageBytes, e.Public, e.ProtocolVersion, e.Auth, fault,
	})
	if err != nil {
		panic("config: strings have no JSON form: " + err.Error())
	}
	return digest(text)
}

// Identity returns a digest of what the entry starts or reaches, for a file that others
// may read: what looks like a secret is masked first. It changes with the command, its
// arguments and environment, the address, headers, credentials and what is exposed of a
// command-line tool.
func (e Entry) Identity() string {
	all, of := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(MaskEntry(e.Raw), &all) != nil {
		return digest(nil) // it has a fault
	}
	for name, value := range all {
		switch name = today(name); name {
		case "command", "args", "env", "cwd", "url", "headers", "auth", "type", "missingEnv":
			of[name] = value
		case "tools":
			if !isFilter(value) {
				of[name] = value
			}
		default:
			if strings.HasPrefix(name, "cli") {
				of[name] = value
			}
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic("config: JSON has no JSON form: " + err.Error())
	}
	return digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
