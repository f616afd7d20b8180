package adding

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// The help of info.
const (
	InfoShort = "Show a registry record, and the entry that add would write"
	InfoLong  = "Show a registry record with all its versions, the entry that add would write, the command line that it runs, and the\n" +
		"values that you must supply. Nothing is written. The default VERSION is the latest."
	InfoExample = "  mcpctl info io.github.acme/thing\n  mcpctl info io.github.acme/thing@1.2.0\n  mcpctl info ./server.json"
)

// info is the JSON of info. Entry is null for a record that add refuses; the first warning
// says why.
type info struct {
	Server       json.RawMessage        `json:"server"`
	Meta         json.RawMessage        `json:"_meta"`
	Entry        json.RawMessage        `json:"entry"`
	Required     []scaffold.Requirement `json:"required"`
	Optional     []scaffold.Option      `json:"optional"`
	Warnings     []string               `json:"warnings"`
	Versions     []version              `json:"versions,omitempty"`
	Alternatives []scaffold.Alternative `json:"alternatives,omitempty"`
	Start        []string               `json:"start,omitempty"`
	StartEnv     []string               `json:"startEnv,omitempty"`
	Install      []string               `json:"install,omitempty"`
}

// version is one version of a server.
type version struct {
	Version       string          `json:"version"`
	Status        registry.Status `json:"status"`
	StatusMessage string          `json:"statusMessage,omitempty"`
	PublishedAt   string          `json:"publishedAt,omitempty"`
	UpdatedAt     string          `json:"updatedAt,omitempty"`
	Latest        bool            `json:"latest,omitempty"`
}

// Info prints a record and what add would do with it. open opens the record's registry.
func Info(ctx context.Context, u *ui.UI, open func() (*registry.Client, error), rec *Found) error {
	plan, refused := rec.Plan(scaffold.Options{})
	if refused != nil {
		text := refused.Error()
		if hint := ui.HintOf(refused); hint != "" {
			text += " (" + hint + ")"
		}
		plan = &scaffold.Plan{Warnings: append([]string{text}, rec.Notes...)}
	}
	all, err := versionsOf(ctx, open, rec)
	if err != nil {
		plan.Warnings = append(plan.Warnings, "the other versions are not known: "+err.Error())
	}
	if u.WantJSON() {
		return u.EncodeJSON(info{
			rec.Record.Server.Raw, rec.Record.Meta.Raw, plan.Entry, NonNil(plan.Required), NonNil(plan.Optional), NonNil(plan.Warnings),
			all, plan.Alternatives, plan.Start, plan.StartEnv, plan.Install,
		})
	}
	var b strings.Builder
	describeServer(&b, rec)
	describeVersions(&b, all)
	if refused == nil {
		describePlan(&b, plan)
	}
	for _, w := range plan.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", ui.CleanLine(w))
	}
	_, err = io.WriteString(u.Out, b.String())
	return err
}

// versionsOf returns all versions of a record's server, the newest first; none for a local
// document.
func versionsOf(ctx context.Context, open func() (*registry.Client, error), rec *Found) ([]version, error) {
	if rec.Registry == "" {
		return nil, nil
	}
	c, err := open()
	if err != nil {
		return nil, err
	}
	h, err := c.History(ctx, rec.Record.Server.Name)
	if err != nil {
		return nil, err
	}
	latest := h.Latest()
	out := make([]version, len(h))
	for i := range h {
		m := &h[i].Meta
		out[i] = version{h[i].Server.Version, m.Status, m.StatusMessage, m.PublishedAt, m.UpdatedAt, latest != nil && latest.Server.Version == h[i].Server.Version}
	}
	return out, nil
}

// shownVersions is how many versions are shown to people; more are counted.
const shownVersions = 10

func describeVersions(b *strings.Builder, all []version) {
	name := "Versions"
	for i, v := range all {
		if i == shownVersions {
			field(b, name, fmt.Sprintf("and %d older ones", len(all)-i))
			return
		}
		line := v.Version
		if v.Latest {
			line += ", latest"
		}
		if v.Status != registry.Active {
			line += ", " + strings.TrimSuffix(string(v.Status)+": "+v.StatusMessage, ": ")
		}
		if at := day(v.PublishedAt); at != "" {
			line += ", published " + at
		}
		field(b, name, line)
		name = ""
	}
}

// day returns the day of a time.
func day(at string) string {
	d, _, _ := strings.Cut(at, "T")
	return d
}
