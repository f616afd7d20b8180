package registry

import "encoding/json"

// Official is the base URL of the public registry.
const Official = "https://registry.modelcontextprotocol.io"

// Status is the state of a published version. Only the registry sets it.
type Status string

// The states of a version. Records without a state, as sub-registries serve
// them, are active.
const (
	Active     Status = "active"
	Deprecated Status = "deprecated"
	Deleted    Status = "deleted"
)

// Record is one version of a server in a registry.
type Record struct {
	Server Server
	Meta   Meta
}

// Meta is what the registry says about a version (the member _meta beside
// server, under io.modelcontextprotocol.registry/official).
type Meta struct {
	Status        Status
	StatusMessage string
	// PublishedAt and UpdatedAt are RFC 3339 texts, "" if absent.
	PublishedAt string
	UpdatedAt   string
	// Latest reports that the registry marks the version as the newest, or none.
	Latest bool
	// Marked reports that the registry said something about Latest.
	Marked bool
	// Raw is the whole _meta object, members of sub-registries included; nil
	// when there was none.
	Raw json.RawMessage
}

// Server is a server.json document (schema 2025-12-11 and its predecessors).
type Server struct {
	Schema      string
	Name        string
	Version     string
	Title       string
	Description string
	WebsiteURL  string
	Repository  Repository
	Packages    []Package
	Remotes     []Remote
	// Faults names members that were left out or read leniently, one sentence
	// each.
	Faults []string
	// Raw is the document as received.
	Raw json.RawMessage
}

// Repository is where the source is.
type Repository struct {
	URL       string
	Source    string
	ID        string
	Subfolder string
}

// Package is one way to run a server on this machine.
type Package struct {
	// RegistryType is npm, pypi, oci, nuget, cargo, mcpb or anything else.
	RegistryType string
	// RegistryBaseURL is the package's registry, "" for the type's public one.
	RegistryBaseURL string
	// Identifier is a package name, an image reference or a download URL.
	Identifier string
	// Version is exact; "" where the identifier holds it or it is unknown.
	Version    string
	FileSHA256 string
	// RuntimeHint is the runner that the publisher suggests, any text.
	RuntimeHint string
	// Transport is how to reach it once it runs; type "" is stdio.
	Transport Remote
	// RuntimeArguments come before the package on the runner's command line,
	// PackageArguments after it.
	RuntimeArguments     []Argument
	PackageArguments     []Argument
	EnvironmentVariables []KeyValueInput
}

// Remote is a server that somebody else runs, or the transport of a package.
type Remote struct {
	// Type is streamable-http or sse; stdio in a package.
	Type    string
	URL     string
	Headers []KeyValueInput
	// Variables replace {name} in URL.
	Variables []KeyValueInput
}

// Input is a value from the publisher (Value, Default) or the user.
type Input struct {
	Description string
	Required    bool
	Secret      bool
	// Format is string, number, boolean or filepath; "" is string.
	Format string
	// Value is fixed by the publisher, with {name} from Variables; nil when
	// there is none. An empty text is a value.
	Value *string
	// Default is used without a value of the user; nil when there is none.
	Default *string
	// Placeholder is an example of a value, never a value.
	Placeholder string
	Choices     []string
	Variables   []KeyValueInput
}

// KeyValueInput is an input with a name: an environment variable, a header or
// a variable of a template.
type KeyValueInput struct {
	Name string
	Input
}

// Argument is one argument of a command line.
type Argument struct {
	Input
	// Named arguments have a Name with its dashes; the others are positional.
	Named bool
	Name  string
	// ValueHint is a label for the value and no part of the command line.
	ValueHint string
	Repeated  bool
}
