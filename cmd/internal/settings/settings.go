// Package settings reads mcpctl's own settings: from flags, from the
// environment (MCPCTL_<FLAG>), from config.yaml beside servers.json and from
// defaults, in this order. They are read once into a [Settings] value.
//
//	# config.yaml
//	registry: https://registry.example.com
//	timeout: 2m
//	serve:
//	  separator: __
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// FileName is the name of the settings file beside servers.json.
const FileName = "config.yaml"

// maxFile is its greatest size in bytes.
const maxFile = 1 << 20

// Settings are all of mcpctl's settings, checked. Durations: zero is not set,
// negative is off.
type Settings struct {
	// ConfigPath is the user's servers.json, which need not exist. ConfigAlone says that
	// --config or its variable names it: there are no other layers then.
	ConfigPath  string
	ConfigAlone bool

	// Registries are the registries in their order of precedence, as entries of remote
	// servers, placeholders unexpanded.
	Registries []config.Entry `mapstructure:"registry"`
	// Output is one of [Outputs].
	Output string
	// NoInput forbids questions; Quiet drops notes and hints; Verbose is 0, 1
	// (information) or 2 (each message).
	NoInput, Quiet bool
	Verbose        int
	// LogFormat is "text" or "json", Color "auto", "always" or "never".
	LogFormat, Color string
	// ColorSet reports that Color was set, which overrides NO_COLOR.
	ColorSet bool
	// ProtocolVersion is a revision of the protocol, "" to detect it.
	ProtocolVersion string
	// Elicit says who answers elicitations, in the form of [elicit.ParsePolicy].
	Elicit string
	// Roots are the directories offered to servers, absolute. They exist.
	Roots []string
	// Headers are sent to HTTP servers besides those of their entries.
	Headers map[string]string
	// URL is a server to use without an entry.
	URL string
	// Auth is how credentials are obtained, in the place of an entry's auth or of a part
	// of it; nil is as the entry says. NoBrowser opens none.
	Auth      *authconfig.Override `mapstructure:"-"`
	NoBrowser bool
	Tokens    Tokens `mapstructure:"auth"`
	// AllowInsecureHTTP sends credentials to servers on other machines also over http.
	AllowInsecureHTTP bool
	// CA is a file with authorities that are trusted beside the system's, absolute; "" for none.
	CA string
	// NoSession starts servers whether or not sessions of them run.
	NoSession bool

	// Timeout and ConnectTimeout come from flag, environment or file; use
	// CallTimeout and DialTimeout with an entry of servers.json.
	Timeout, ConnectTimeout time.Duration
	timeoutForced           bool // by flag or environment
	connectForced           bool
	serveForced             bool // the same of Serve.RequestTimeout

	Serve Serve
	// Audit is the log of what is done, nil for none.
	Audit *Audit `mapstructure:"-"`
}

// Tokens says where tokens are kept.
type Tokens struct {
	// Store is "file" or "keyring".
	Store string
}

// Serve holds the settings of mcpctl serve.
type Serve struct {
	// Separator separates server and tool in exposed names; "__".
	Separator string
	// Prefix puts the server before each name; true.
	Prefix bool
	// NameOverhead is how many characters clients add to a name before their
	// limit of 64 applies; 20.
	NameOverhead int
	// RequestTimeout bounds a call through the proxy; zero is its default. Use
	// ServeTimeout with an entry of servers.json.
	RequestTimeout time.Duration
	// ListGrace is how long a list waits for servers that are being connected; zero
	// is serve's default, negative for as long as they are given.
	ListGrace time.Duration
	// StreamMax ends streams over HTTP that are older; zero is never.
	StreamMax time.Duration
	// Compression is auto or off.
	Compression string
	// CORS are the origins of web pages that may send requests over HTTP, SCHEME://HOST[:PORT].
	CORS []string
	// Roots are the directories offered to servers that have no client's roots,
	// absolute. They exist.
	Roots []string
	// List is how tools are listed: all, search or auto, and Budget how many tokens a list
	// may take for auto.
	List   string
	Budget int
	// View is the view of clients that nothing else decides for, "" for everything. Views are
	// all of them, nil for none.
	View  string
	Views *views.Set `mapstructure:"-"`
	// Search says how tools are searched.
	Search Search `mapstructure:"-"`
	// Access is who may reach it over HTTP.
	Access Access `mapstructure:"-"`
}

// File returns the path of config.yaml, which is beside servers.json and need not exist.
func (s Settings) File() string { return filepath.Join(filepath.Dir(s.ConfigPath), FileName) }

// CallTimeout returns how long a call to a server may go without a sign of life:
// flag and environment, else the entry's requestTimeout, else config.yaml, in
// the form of [runtime.ClientOptions]: zero is the default, negative off.
func (s Settings) CallTimeout(entry time.Duration) time.Duration {
	return choose(s.Timeout, s.timeoutForced, entry)
}

// DialTimeout is the same for connecting, with the entry's connectTimeout.
func (s Settings) DialTimeout(entry time.Duration) time.Duration {
	return choose(s.ConnectTimeout, s.connectForced, entry)
}

// ServeTimeout is the same for a call through serve, with the entry's
// requestTimeout. Zero is serve's own default.
func (s Settings) ServeTimeout(entry time.Duration) time.Duration {
	return choose(s.Serve.RequestTimeout, s.serveForced, entry)
}

func choose(own time.Duration, forced bool, entry time.Duration) time.Duration {
	if forced || entry == 0 {
		return own
	}
	return entry
}

// Options are the sources of settings.
type Options struct {
	// Getenv is os.Getenv or like it.
	Getenv func(string) string
	// Flags are the parsed flags of the command, which may lack some; nil is none.
	Flags *pflag.FlagSet
	// SkipFile ignores config.yaml, for commands that must work with a broken one.
	SkipFile bool
}

// NamesConfig reports whether the environment has the only servers.json that is read, or
// its path.
func NamesConfig(getenv func(string) string) bool {
	return getenv(Variable("config")) != "" || getenv(config.InlineVariable) != ""
}

// Load reads and checks all settings. A wrong flag or variable is a
// [*ValueError], a broken or wrong config.yaml a [*config.Problem] with line
// and column. A missing config.yaml is an empty one.
func Load(o Options) (Settings, error) {
	s := Settings{}
	src := source{o: o}
	var err error
	if s.ConfigPath, err = src.configPath(); err != nil && !o.SkipFile {
		return s, err
	}
	s.ConfigAlone = src.changed("config") || NamesConfig(o.Getenv)
	v := viper.NewWithOptions(viper.WithLogger(slog.New(slog.DiscardHandler)))
	if s.ConfigPath != "" {
		if !o.SkipFile {
			if err := src.readFile(s.File()); err != nil {
				return s, err
			}
		}
	}
	for _, k := range keys() {
		if err := src.resolve(v, k); err != nil {
			return s, err
		}
	}
	if err := v.UnmarshalExact(&s, viper.DecodeHook(mapstructure.StringToTimeDurationHookFunc())); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	s.timeoutForced = src.forced("timeout")
	s.connectForced = src.forced("connect-timeout")
	s.serveForced = src.forced("request-timeout")
	s.ColorSet = src.forced("color") || src.file.has("color")
	if s.Headers, err = src.headers(); err != nil {
		return s, err
	}
	if s.CA != "" && src.file != nil {
		if _, _, given := src.override(key{name: "ca", flag: "ca", def: ""}); !given { // else it is relative to here
			s.CA = src.file.absolute(s.CA)
		}
	}
	if s.Roots, err = src.roots(); err != nil {
		return s, err
	}
	if s.Auth, err = src.auth(); err != nil {
		return s, err
	}
	_, none := src.text("no-browser")
	s.NoBrowser = none == "true" || none == "1"
	if err := src.serveRoots(&s); err != nil {
		return s, err
	}
	if s.Serve.Access, err = src.file.access(); err != nil {
		return s, err
	}
	if s.Serve.Views, err = src.file.readViews(); err != nil {
		return s, err
	}
	if s.Serve.Search, err = src.file.readSearch(); err != nil {
		return s, err
	}
	if s.Audit, err = src.file.readAudit(); err != nil {
		return s, err
	}
	if s.URL = src.flag("url"); s.URL != "" {
		if reason := urlReason(s.URL); reason != "" {
			return s, &ValueError{Source: "--url", Message: "is " + quote(config.DisplayURL(s.URL)) + ", " + reason}
		}
	}
	return s, nil
}

// ReadFile returns the bytes of config.yaml, which must be a regular file.
func ReadFile(path string) ([]byte, error) { return atomicfile.Read(path, maxFile) }

// readFile parses config.yaml and checks its keys; a missing one is an empty one. The
// values reach viper one by one, as they are written: see resolve.
func (src *source) readFile(path string) error {
	b, err := ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return config.FileProblem(path, err)
	}
	src.raw = b
	src.file, err = parseFile(path, b)
	return err
}
