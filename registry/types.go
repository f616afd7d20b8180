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

// Record is one version of a server as a registry gives it.
type Record struct {
	Server Server
	Meta   Meta
}

// Meta is what the registry says about a version (the member _meta beside
// server, under io.modelcontextprotocol.registry/official).
type Meta struct {
	Status        Status
	StatusMessage string
	// PublishedAt and UpdatedAt are RFC 3339 texts, "" when not told.
	PublishedAt string
	UpdatedAt   string
	// Latest is true where the registry marks the version as the newest, and
	// where it marks none.
	Latest bool
	// Marked tells whether the registry said anything about Latest at all.
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
	// Faults names members that had to be left out or read with good will, one
	// sentence each.
	Faults []string
	// Raw is the document as it came.
	Raw json.RawMessage
}

// Repository says where the source is kept.
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
	// RegistryBaseURL is where the package is kept, "" for the type's public
	// place.
	RegistryBaseURL string
	// Identifier is a package name, an image reference or a download URL.
	Identifier string
	// Version is exact; "" where the identifier holds it or nobody knows.
	Version    string
	FileSHA256 string
	// RuntimeHint is the runner the publisher had in mind, any text.
	RuntimeHint string
	// Transport is how to talk to it once it runs; type "" stands for stdio.
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
	// Variables are what {name} in URL stands for.
	Variables []KeyValueInput
}

// Input is a value that somebody has to give: the publisher (Value, Default)
// or the user.
type Input struct {
	Description string
	Required    bool
	Secret      bool
	// Format is string, number, boolean or filepath; "" is string.
	Format string
	// Value is fixed by the publisher, with {name} from Variables; nil when
	// there is none. An empty text is a value.
	Value *string
	// Default is what holds when the user says nothing; nil when there is none.
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
