package settings

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/runtime/config"
)

const auditName = "audit"

// Audit is the section audit of config.yaml: the log of what is done.
type Audit struct {
	// Power writes each record to the disk, so that it outlives a loss of power, before its request goes on.
	Power bool
	// Optional lets requests pass whose records cannot be written.
	Optional bool
	// Keep is how long records are kept, Max how many bytes of them; zero is for good.
	Keep time.Duration
	Max  int64
	// Bodies says of which calls arguments and results are kept, nil for none.
	Bodies *Bodies
	// Anchors get each checkpoint, Exports all records.
	Anchors []Anchor
	Exports []Export
}

// Bodies says which arguments and results are kept beside the log.
type Bodies struct {
	// To are patterns of SERVER/ITEM, in which * stands for any text.
	To []string
	// Redact removes secrets from them.
	Redact bool
	// Max is the greatest size of one, in bytes; what is longer is cut. Keep is how long they
	// are kept, zero for good.
	Max  int64
	Keep time.Duration
}

// Anchor is where checkpoints go, out of reach of who owns the log: one of the two is set.
type Anchor struct {
	// File is a path, absolute; Witness the URL of a witness, without a slash at its end.
	File, Witness string
}

// Export is where records go: one of JSONL and OTLP is set.
type Export struct {
	// JSONL is the path of a file, absolute. One of Rotate bytes is set aside.
	JSONL  string
	Rotate int64
	// OTLP is the URL of a collector's logs. Headers are sent to it, each value with
	// variables to expand.
	OTLP    string
	Headers map[string]string
}

// What counts without a setting.
const (
	auditKeep   = 90 * day
	auditMax    = 2 << 30
	bodiesKeep  = 7 * day
	bodiesMax   = 16 << 10
	mostBody    = 1 << 20
	jsonlRotate = 100_000_000
	// A log or a file that is smaller would be pruned or replaced all the time.
	leastMax    = 1 << 20
	leastRotate = 64 << 10
)

const auditExample = "as in audit: {keep: 90d, max: 2GiB}"

// auditReader reads the section audit.
type auditReader struct {
	*file
	a *Audit
}

// readAudit reads the section audit, nil for none.
func (file *file) readAudit() (*Audit, error) {
	n := file.node(auditName)
	if n == nil {
		return nil, nil
	}
	a := &Audit{Keep: auditKeep, Max: auditMax}
	f := auditReader{file, a}
	in := struct {
		Durability string    `yaml:"durability"`
		Required   bool      `yaml:"required"`
		Keep       yaml.Node `yaml:"keep"`
		Max        yaml.Node `yaml:"max"`
		Bodies     yaml.Node `yaml:"bodies"`
		Anchor     yaml.Node `yaml:"anchor"`
		Export     yaml.Node `yaml:"export"`
	}{Durability: "process", Required: true}
	if err := f.decode(auditName, n, &in, auditExample); err != nil {
		return nil, err
	}
	switch in.Durability {
	case "process":
	case "power":
		a.Power = true
	default:
		return nil, f.problemAt(f.at[auditName+".durability"], "audit.durability is "+quote(in.Durability)+", want process or power", "process keeps all records when mcpctl is killed, power also when the machine loses power")
	}
	a.Optional = !in.Required
	for _, err := range []error{
		f.days("audit.keep", &in.Keep, &a.Keep), f.bytes("audit.max", &in.Max, &a.Max, leastMax),
		f.bodies(&in.Bodies), f.anchors(&in.Anchor), f.exports(&in.Export),
	} {
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (f auditReader) bodies(n *yaml.Node) error {
	const example = `as in bodies: {to: ["gh/*"], redact: true, max: 16KiB, keep: 7d}`
	if n.IsZero() {
		return nil
	}
	b := &Bodies{Redact: true, Max: bodiesMax, Keep: bodiesKeep}
	in := struct {
		To     []string  `yaml:"to"`
		Redact bool      `yaml:"redact"`
		Max    yaml.Node `yaml:"max"`
		Keep   yaml.Node `yaml:"keep"`
	}{Redact: true}
	if err := f.decode("audit.bodies", n, &in, example); err != nil {
		return err
	}
	b.To, b.Redact = in.To, in.Redact
	if len(b.To) == 0 {
		return f.problemAt(n, "audit.bodies does not say whose arguments and results are kept: there is no to", example)
	}
	for _, to := range b.To {
		if server, item, ok := strings.Cut(to, "/"); !ok || server == "" || item == "" || strings.ContainsAny(to, " \t\n") {
			return f.problemAt(n, "audit.bodies.to has "+quote(to)+", which is not SERVER/ITEM", example)
		}
	}
	if err := f.bytes("audit.bodies.max", &in.Max, &b.Max, 1); err != nil {
		return err
	}
	if b.Max == 0 || b.Max > mostBody {
		return f.problemAt(&in.Max, "audit.bodies.max is more than 1MiB", example)
	}
	f.a.Bodies = b
	return f.days("audit.bodies.keep", &in.Keep, &b.Keep)
}

func (f auditReader) anchors(n *yaml.Node) error {
	const example = "as in anchor: [file:/mnt/other/checkpoints, https://witness.example.com]"
	for _, item := range items(n) {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			return f.problemAt(item, "audit.anchor is no list of file:PATH and URLs", example)
		}
		var to Anchor
		if path, ok := strings.CutPrefix(item.Value, "file:"); ok {
			if path == "" {
				return f.problemAt(item, "audit.anchor has a file without a path", example)
			}
			to.File = filepath.Clean(f.absolute(path))
		} else {
			if why := auditURL(item.Value); why != "" {
				return f.problemAt(item, "audit.anchor is "+why, example)
			}
			to.Witness = strings.TrimRight(item.Value, "/")
		}
		if slices.Contains(f.a.Anchors, to) {
			return f.problemAt(item, "audit.anchor has "+quote(item.Value)+" twice", "remove one of the two")
		}
		f.a.Anchors = append(f.a.Anchors, to)
	}
	return nil
}

func (f auditReader) exports(n *yaml.Node) error {
	const example = `as in export: [{jsonl: audit.jsonl, rotate: 100MB}, {otlp: https://otel.example.com, headers: {Authorization: "${OTEL_AUTH}"}}]`
	for _, item := range items(n) {
		if resolved(item).Kind != yaml.MappingNode {
			return f.problemAt(item, "audit.export has an item that is neither jsonl nor otlp", example)
		}
		in := struct {
			JSONL   string            `yaml:"jsonl"`
			Rotate  yaml.Node         `yaml:"rotate"`
			OTLP    string            `yaml:"otlp"`
			Headers map[string]string `yaml:"headers"`
		}{}
		if err := f.decode("audit.export", item, &in, example); err != nil {
			return err
		}
		to := Export{Headers: in.Headers}
		switch {
		case (in.JSONL == "") == (in.OTLP == ""):
			return f.problemAt(item, "audit.export has an item that is neither jsonl nor otlp, or both", example)
		case in.JSONL != "" && in.Headers != nil:
			return f.problemAt(item, "audit.export has headers for a file", example)
		case in.OTLP != "" && !in.Rotate.IsZero():
			return f.problemAt(item, "audit.export has rotate for a collector", example)
		case in.JSONL != "":
			to.JSONL, to.Rotate = filepath.Clean(f.absolute(in.JSONL)), jsonlRotate
			if err := f.bytes("audit.export.rotate", &in.Rotate, &to.Rotate, leastRotate); err != nil {
				return err
			}
		default:
			if why := auditURL(in.OTLP); why != "" {
				return f.problemAt(item, "audit.export.otlp is "+why, example)
			}
			to.OTLP = strings.TrimSuffix(strings.TrimRight(in.OTLP, "/"), "/v1/logs") + "/v1/logs"
		}
		for name, value := range in.Headers {
			if _, _, err := ParseHeader(name + "=" + value); err != nil {
				return f.problemAt(item, "audit.export.headers "+err.Error(), example)
			}
			if !placeholder().MatchString(value) {
				return f.problemAt(item, "audit.export.headers has "+name+" in plain text", `name a variable that has it, as in headers: {`+name+`: "${OTEL_AUTH}"}`)
			}
		}
		if slices.ContainsFunc(f.a.Exports, func(o Export) bool { return o.JSONL == to.JSONL && o.OTLP == to.OTLP }) {
			return f.problemAt(item, "audit.export has one target twice", "remove one of the two")
		}
		f.a.Exports = append(f.a.Exports, to)
	}
	return nil
}

// auditURL returns why a text is no URL that records or checkpoints may be sent to.
func auditURL(text string) string {
	if why := addressFault(text); why != "" {
		return why
	}
	if u, err := url.Parse(text); err != nil || u.RawQuery != "" {
		return quote(config.DisplayURL(text)) + ", which has a query"
	}
	return ""
}

// items returns the items of a list, or the one that stands in its place.
func items(n *yaml.Node) []*yaml.Node {
	n = resolved(n)
	switch {
	case n.IsZero():
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	}
	return []*yaml.Node{n}
}

const day = 24 * time.Hour

// ParseDays reads a duration, which may also be in days.
func ParseDays(s string) (time.Duration, error) {
	const most = 100 * 366
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.Atoi(n)
		if err != nil || days < 0 || days > most {
			return 0, fmt.Errorf("%q is not a number of days", s)
		}
		return time.Duration(days) * day, nil
	}
	return config.ParseDuration(s)
}

// days reads how long something is kept, an hour at least; never and 0 are for good.
func (f auditReader) days(name string, n *yaml.Node, to *time.Duration) error {
	if n.IsZero() {
		return nil
	}
	d, err := ParseDays(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d > 0 && d < time.Hour {
		return f.problemAt(n, name+" is "+quote(n.Value)+", want an hour at least, or never", "as in "+lastName(name)+": 90d")
	}
	*to = max(d, 0)
	return nil
}

// bytes reads a size; never and 0 are for no bound.
func (f auditReader) bytes(name string, n *yaml.Node, to *int64, least int64) error {
	if n.IsZero() {
		return nil
	}
	if n.Kind == yaml.ScalarNode && (n.Value == "never" || n.Value == "0") {
		*to = 0
		return nil
	}
	size, ok := parseBytes(n.Value)
	if n.Kind != yaml.ScalarNode || !ok {
		return f.problemAt(n, name+" is "+quote(n.Value)+", which is not a size", "as in "+lastName(name)+": 100MB, with KB, MB, GB, KiB, MiB or GiB")
	}
	if size < least {
		return f.problemAt(n, fmt.Sprintf("%s is %s, want %d bytes at least", name, quote(n.Value), least), "as in "+lastName(name)+": 100MB")
	}
	*to = size
	return nil
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// parseBytes reads a number of bytes above zero, with a unit or without.
func parseBytes(text string) (int64, bool) {
	unit := int64(1)
	for name, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if rest, ok := strings.CutSuffix(text, name); ok {
			text, unit = strings.TrimSpace(rest), n
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}

// auditTable are the settings of the section.
func auditTable() []Setting {
	return []Setting{
		{Name: "audit.durability", Values: "process, power", Default: "process", About: "what [the log](audit.md) outlives: a killed mcpctl, or also a loss of power"},
		{Name: "audit.required", Values: aBoolean, Default: "true", About: "refuses requests whose records cannot be written"},
		{Name: "audit.keep", Values: "duration, days as `90d`", Default: "90d", About: "how long records are kept"},
		{Name: "audit.max", Values: "size, such as `2GiB`", Default: "2GiB", About: "how large the log may become; the oldest records go"},
		{Name: "audit.bodies", Values: "`to`, patterns of SERVER/ITEM; `redact`, `max`, `keep`", Default: "none", About: "keeps arguments and results of some calls: 16KiB of each for 7d, without secrets"},
		{Name: "audit.anchor", Values: "list of `file:PATH` and URLs of witnesses", Default: "none", About: "where checkpoints go, out of reach of who could change the log"},
		{Name: "audit.export", Values: "list of `{jsonl, rotate}` and `{otlp, headers}`", Default: "none", About: "where all records go: a file, or a collector of OpenTelemetry"},
	}
}
