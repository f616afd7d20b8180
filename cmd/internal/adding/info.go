package adding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// field writes one line of info, unless the value is empty.
func field(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%-13s %s\n", name, ui.CleanLine(value))
	}
}

// describeServer writes what the registry says.
func describeServer(b *strings.Builder, rec *Found) {
	s, m := rec.Record.Server, rec.Record.Meta
	field(b, "Name", s.Name)
	field(b, "Title", s.Title)
	field(b, "Description", s.Description)
	version := s.Version
	if rec.Latest != "" && rec.Latest != s.Version {
		version += " (latest: " + rec.Latest + ")"
	}
	field(b, "Version", version)
	status := string(m.Status)
	if m.StatusMessage != "" {
		status += ": " + m.StatusMessage
	}
	if rec.Registry == "" {
		status = ""
	}
	field(b, "Status", status)
	field(b, "Namespace", namespaceKind(s.Name))
	if rec.Several {
		field(b, "Registry", rec.Registry)
	}
	field(b, "Published", m.PublishedAt)
	if m.UpdatedAt != m.PublishedAt {
		field(b, "Updated", m.UpdatedAt)
	}
	repo := s.Repository.URL
	if s.Repository.Subfolder != "" {
		repo += " (" + s.Repository.Subfolder + ")"
	}
	field(b, "Repository", repo)
	field(b, "Website", s.WebsiteURL)
	for i, p := range s.Packages {
		line := strings.TrimSpace(p.RegistryType + " " + p.Identifier + " " + p.Version)
		if t := p.Transport.Type; t != "" && t != "stdio" {
			line += " over " + t
		}
		field(b, fmt.Sprintf("Package %d", i+1), line)
	}
	for i, r := range s.Remotes {
		field(b, fmt.Sprintf("Remote %d", i+1), r.Type+" "+r.URL)
	}
}

// namespaceKind returns how the registry has verified a name.
func namespaceKind(name string) string {
	namespace, _ := registry.SplitName(name)
	if user, ok := strings.CutPrefix(namespace, "io.github."); ok {
		return "GitHub user or organisation " + user
	}
	if labels := strings.Split(namespace, "."); len(labels) > 1 {
		slices.Reverse(labels)
		return "domain " + strings.Join(labels, ".")
	}
	return ""
}

// describePlan writes what add would do.
func describePlan(b *strings.Builder, p *scaffold.Plan) {
	fmt.Fprintf(b, "\nadd writes, as %s:\n%s\n", p.Alias, ui.Clean(config.Format(p.Entry)))
	if line := entryLine(p.Entry); line != "" {
		fmt.Fprintf(b, "\nit runs: %s\n", ui.CleanLine(line))
	}
	inputs := func(title string, n int, line func(int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for i := range n {
			fmt.Fprintf(b, "  %s\n", ui.CleanLine(line(i)))
		}
	}
	inputs("required", len(p.Required), func(i int) string {
		r := p.Required[i]
		return inputLine("${"+r.Name+"}", r.Flag(), r.Secret, r.Choices, r.Description)
	})
	inputs("optional", len(p.Optional), func(i int) string {
		o := p.Optional[i]
		return inputLine("", o.Flag(), o.Secret, o.Choices, o.Description)
	})
	inputs("alternatives", len(p.Alternatives), func(i int) string {
		alt := p.Alternatives[i]
		return alt.Flag + ": " + alt.Type + " " + alt.Reference
	})
	if p.Start != nil {
		fmt.Fprintf(b, "\nstart it first: %s\n", ui.CleanLine(StartLine(p)))
	}
	if p.Install != nil {
		fmt.Fprintf(b, "\ninstall it first: %s\n", ui.CleanLine(clitool.Line(p.Install)))
	}
}

func inputLine(hole, flag string, secret bool, choices []string, description string) string {
	s := flag
	if hole != "" {
		s = hole + " or " + flag
	}
	if secret {
		s += " (secret)"
	}
	if len(choices) > 0 {
		s += " one of " + strings.Join(choices, ", ")
	}
	if description != "" {
		s += ": " + description
	}
	return s
}

// entryLine returns the shell command that an entry stands for, "" for that of a URL.
func entryLine(entry json.RawMessage) string {
	var e struct {
		Command string
		Args    []string
		Env     json.RawMessage
	}
	if json.Unmarshal(entry, &e) != nil || e.Command == "" {
		return ""
	}
	p := scaffold.Plan{Start: append([]string{e.Command}, e.Args...)}
	d := json.NewDecoder(bytes.NewReader(e.Env))
	for name := ""; ; {
		t, err := d.Token()
		text, ok := t.(string)
		switch {
		case err != nil:
			return StartLine(&p)
		case !ok:
		case name == "":
			name = text
		default:
			p.StartEnv, name = append(p.StartEnv, name+"="+text), ""
		}
	}
}

// StartLine returns the shell command that starts the server of an HTTP package,
// with expandable placeholders.
func StartLine(p *scaffold.Plan) string {
	var out []string
	for _, e := range p.StartEnv {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, name+"="+shellText(value))
	}
	for _, w := range p.Start {
		out = append(out, shellText(w))
	}
	return strings.Join(out, " ")
}

// shellText quotes a text of an entry for a shell, which expands ${NAME} like the
// entry.
func shellText(s string) string {
	if names, _ := config.Variables(s); len(names) == 0 {
		return clitool.Line([]string{strings.ReplaceAll(s, "$$", "$")})
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$$", `\$`)
	return `"` + quote.Replace(s) + `"`
}
