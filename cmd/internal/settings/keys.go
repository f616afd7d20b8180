package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/elicit"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// key is one setting: its name in config.yaml, its flag (its variable is
// MCPCTL_<FLAG>), its default, and its values.
type key struct {
	name string
	flag string // "" for none
	def  any
	// parse parses a value. The error completes a sentence that begins with the
	// setting's name.
	parse func(string) (any, error)
	// list allows a list of texts in the file; parse gets a line per item.
	list bool
	// objects allows an object in the place of a text; parse gets it as JSON on one line.
	objects bool
	// not is a flag and variable that set the opposite, "" for none.
	not string
	// values says which values there are, about what they do, and preset what an empty
	// default means; for docs/settings.md.
	values, about, preset string
}

// Which values a setting has, in docs/settings.md.
const (
	aDuration = "duration"
	aBoolean  = "true or false"
)

// Outputs returns the forms of results.
func Outputs() []string {
	return []string{"auto", "text", "wide", "json", "json-compact", "yaml", "name"}
}

func keys() []key {
	return []key{
		{name: "registry", flag: "registry", def: registry.Official, parse: registries, list: true, objects: true, values: "URL, object, or list of them", about: "registries in their order of precedence; an object has `url` and credentials, as an entry of servers.json"},
		{name: "output", flag: "output", def: "auto", parse: oneOf(Outputs()...), values: strings.Join(Outputs(), ", "), about: "form of results; auto is text on a terminal and JSON elsewhere, with [short lists](call.md#find-a-tool); see [forms](call.md#forms-of-results)"},
		{name: "noInput", flag: "no-input", def: false, parse: boolean, values: aBoolean, about: "asks nothing; what is missing is an error"},
		{name: "quiet", flag: "quiet", def: false, parse: boolean, values: aBoolean, about: "prints no hints and notes"},
		{name: "verbose", flag: "verbose", def: 0, parse: verbosity, values: "0, 1, 2", about: "logs more: 1 information, 2 each message"},
		{name: "logFormat", flag: "log-format", def: "text", parse: oneOf("text", "json"), values: "text, json", about: "form of the log on standard error"},
		{name: "color", flag: "color", def: "auto", parse: oneOf("auto", "always", "never"), values: "auto, always, never", about: "when to colour; auto follows `NO_COLOR` and the terminal"},
		{name: "timeout", flag: "timeout", def: "", parse: duration, values: aDuration, preset: "60s", about: "how long a call may take without a sign of life"},
		{name: "connectTimeout", flag: "connect-timeout", def: "", parse: duration, values: aDuration, preset: "30s", about: "how long connecting may take"},
		{name: "protocolVersion", flag: "protocol-version", def: "auto", parse: knownRevision, values: "auto, or a revision", about: "revision of the protocol that is spoken to servers"},
		{name: "elicit", flag: "elicit", def: "", parse: elicitPolicy, values: "ask, defaults, decline, or a JSON object", preset: "ask, on a terminal", about: "how questions of servers are answered"},
		{name: "auth.store", def: "file", parse: oneOf("file", "keyring"), values: "file, keyring", about: "where tokens are kept"},
		{name: "allowInsecureHttp", flag: "allow-insecure-http", def: false, parse: boolean, values: aBoolean, about: "sends credentials to servers on other machines also over http"},
		{name: "ca", flag: "ca", def: "", parse: anyText, values: "path, relative to the file", preset: "none", about: "certificate authorities in PEM that are trusted beside those of the system, in all connections over TLS"},
		{name: "noSession", flag: "no-session", def: false, parse: boolean, values: aBoolean, about: "starts servers, whether or not a session runs"},
		{name: "serve.separator", flag: "separator", def: "__", parse: separator, values: "1 to 8 letters, digits, `_`, `-`", about: "text between server and name"},
		{name: "serve.prefix", not: "no-prefix", def: true, parse: boolean, values: aBoolean, about: "puts the server in front of each name; the flag turns it off"},
		{name: "serve.nameOverhead", def: 20, parse: overhead, values: "0 to 56 characters", about: "what clients add to names, which they limit to 64 characters"},
		{name: "serve.requestTimeout", flag: "request-timeout", def: "", parse: duration, values: aDuration, preset: "120s", about: "how long a request through serve may take without a sign of life"},
		{name: "serve.listGrace", flag: "list-grace", def: "", parse: duration, values: aDuration, preset: "20s", about: "how long a list waits for servers that are starting"},
		{name: "serve.streamMax", flag: "stream-max", def: "", parse: duration, values: aDuration, preset: "never", about: "how long an HTTP stream lasts"},
		{name: "serve.cors", def: "", parse: origins, list: true, values: "list of origins", preset: "none", about: "[web pages](serve.md#web-pages) that may send requests, such as `https://app.example.com`"},
		{name: "serve.compression", def: "auto", parse: oneOf("auto", "off"), values: "auto, off", about: "compresses answers over HTTP of 1 KiB and more, for clients on other machines that accept gzip"},
		{name: "serve.list", flag: "list", def: "all", parse: oneOf("all", "search", "auto"), values: "all, search, auto", about: "how tools are [listed](search.md#search-in-serve): all of them, tools that find and call the others, or by what is cheaper"},
		{name: "serve.budget", def: 10_000, parse: tokens, values: "number of tokens", about: "what a list of tools may take for `auto`"},
		{name: viewName, def: "", parse: anyText, values: "name of a view", preset: "everything", about: "the [view](views.md) of clients that nothing else decides for"},
		{name: "serve.roots", def: "", parse: lines, list: true, values: "list of directories", preset: "none", about: "directories that servers are told to work in, relative to the file's folder"},
	}
}

// Keys returns the names of all settings of config.yaml, nested ones with a dot.
func Keys() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

func oneOf(words ...string) func(string) (any, error) {
	return func(s string) (any, error) {
		if !slices.Contains(words, s) {
			last := len(words) - 1
			return nil, fmt.Errorf("want %s or %s", strings.Join(words[:last], ", "), words[last])
		}
		return s, nil
	}
}

func boolean(s string) (any, error) { return Boolean(s) }

// Boolean reads true or false in one of their spellings. Its error completes a sentence
// that begins with what is read.
func Boolean(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New("want true or false")
}

const maxVerbose = 2

func verbosity(s string) (any, error) {
	if b, err := boolean(s); err == nil && b == false {
		return 0, nil
	}
	if strings.EqualFold(s, "true") {
		return 1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("want 0, 1 or %d", maxVerbose)
	}
	return min(n, maxVerbose), nil
}

// duration returns time.Duration; the empty default is zero, "not set".
func duration(s string) (any, error) {
	if s == "" {
		return time.Duration(0), nil
	}
	d, err := config.ParseDuration(s)
	if err != nil {
		return nil, fmt.Errorf(`want a duration such as 500ms, 30s or 5m, or "never"`)
	}
	return d, nil
}

func knownRevision(s string) (any, error) {
	versions := revision.Versions()
	switch {
	case s == "auto" || s == "":
		return "", nil
	case slices.Contains(versions, s):
		return s, nil
	}
	return nil, fmt.Errorf("want auto, %s", strings.Join(versions, ", "))
}

func anyText(s string) (any, error) { return s, nil }

// lines parses a list of texts that are not empty.
func lines(s string) (any, error) {
	if s == "" {
		return []string(nil), nil
	}
	list := strings.Split(s, "\n")
	if slices.Contains(list, "") {
		return nil, fmt.Errorf("none of them may be empty")
	}
	return list, nil
}

// origins parses a list of origins of web pages (RFC 6454, 6.2).
func origins(s string) (any, error) {
	list, err := lines(s)
	if err != nil || s == "" {
		return list, err
	}
	for text := range strings.SplitSeq(s, "\n") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || text != u.Scheme+"://"+u.Host || strings.Contains(text, "*") {
			return nil, errors.New("want origins such as https://app.example.com or http://localhost:5173, without a path")
		}
	}
	return list, nil
}

// elicitPolicy checks a policy of answers and keeps its text: numbers keep their digits.
func elicitPolicy(s string) (any, error) {
	_, err := elicit.ParsePolicy(s)
	return s, err
}

var placeholder = lazy.Regexp(`\$\{[^}]*\}`)

// urlReason returns why a text is not the URL of a server, "" if it is.
// Placeholders may be anywhere in it, also in the host.
func urlReason(s string) string {
	if strings.Contains(s, "$") {
		s = placeholder().ReplaceAllString(s, "1")
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "want a URL that begins with https:// or http://"
	}
	return ""
}

func separator(s string) (any, error) {
	const most = 8
	ok := s != "" && len(s) <= most
	for _, r := range s {
		ok = ok && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !ok {
		return nil, fmt.Errorf("want 1 to %d letters, digits, '_' or '-'", most)
	}
	return s, nil
}

func overhead(s string) (any, error) {
	const most = 56 // of 64; the rest must hold a name and its digest
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		return nil, fmt.Errorf("want a number from 0 to %d", most)
	}
	return n, nil
}

func tokens(s string) (any, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return nil, errors.New("want a number of tokens")
	}
	return n, nil
}
