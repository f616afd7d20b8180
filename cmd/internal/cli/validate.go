package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// ErrFaults says that files have faults, which are printed.
var ErrFaults = errors.New("the configuration has faults")

// finding is one line of config validate.
type finding struct {
	Severity string `json:"severity"` // "error" or "warning"
	// File is the path of another file than the user's, "" for that.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Server  string `json:"server,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	problem config.Problem
}

// checked is one file that config validate has looked at.
type checked struct {
	Layer   string `json:"layer"`
	Path    string `json:"path"`
	OK      bool   `json:"ok"`
	Servers int    `json:"servers"`
}

// validation is what config validate finds.
type validation struct {
	findings []finding
	files    []checked
	fixed    *fixes          // by --fix
	first    *config.Problem // the first error
}

// add adds what is found in a file, which is "" for the user's.
func (v *validation) add(severity, file string, problems ...config.Problem) {
	for _, p := range problems {
		v.findings = append(v.findings, finding{severity, file, p.Line, p.Column, p.Server, p.Message, p.Hint(), p})
		if severity == "error" && v.first == nil {
			v.first = &p
		}
	}
}

// check looks at one file. A missing one is a fault if it is wanted.
func (v *validation) check(layer, path string, wanted bool, read func(string) (*config.File, error)) error {
	c := checked{Layer: layer, Path: path}
	other := ""
	if layer != layers.User {
		other = path
	}
	add := func(severity string, problems ...config.Problem) { v.add(severity, other, problems...) }
	f, err := read(path)
	var p *config.Problem
	switch {
	case errors.As(err, &p):
		add("error", *p)
	case err != nil:
		return err
	case f.Missing() && wanted:
		add("error", config.Problem{File: path, Message: "there is no such file"})
	default:
		c.Servers, c.OK = len(f.Entries()), len(f.Faults()) == 0
		add("error", f.Faults()...)
		add("warning", f.Warnings()...)
	}
	v.files = append(v.files, c)
	return nil
}

// ValidateOptions are the flags of config validate.
type ValidateOptions struct {
	// Fix mends what is safe to mend in the user's file, or with Project in that of the
	// project. DryRun only says what it would mend.
	Fix, Project, DryRun bool
	// Settings is what is wrong with config.yaml, nil for nothing.
	Settings *config.Problem
	// Views are what views say of tools that do not exist, by what the servers offer now; with
	// Stored by what they did when they were last asked, which is a warning.
	Views  []config.Problem
	Stored bool
	// Doubts are what views say that has no effect, which is a warning.
	Doubts []config.Problem
	// Policies is what the policies name that does not exist.
	Policies []settings.Unmatched
}

// Validate prints all faults of the files, and fails if there are any, but not for
// warnings.
func (p *ConfigCommand) Validate(o ValidateOptions) error {
	user := p.Settings.ConfigPath
	at := Places(p.Getenv, user, p.Settings.ConfigAlone)
	v := &validation{findings: []finding{}}
	if o.Fix {
		var err error
		if v.fixed, err = p.fix(o); err != nil {
			return err
		}
	}
	if err := v.check(layers.User, user, p.Wanted, readFile); err != nil {
		return err
	}
	for _, l := range []struct{ name, path string }{{layers.System, at.System}, {layers.Project, at.Project}} {
		if l.path == "" {
			continue
		}
		if f, err := config.Load(l.path); err == nil && f.Missing() {
			continue
		}
		if err := v.check(l.name, l.path, false, config.Load); err != nil {
			return err
		}
	}
	if o.Settings != nil {
		v.add("error", o.Settings.File, *o.Settings)
	}
	severity := "error"
	if o.Stored {
		severity = "warning"
	}
	for _, found := range o.Views {
		v.add(severity, found.File, found)
	}
	for _, found := range o.Doubts {
		v.add("warning", found.File, found)
	}
	for _, u := range o.Policies {
		severity := "warning"
		if u.Stops {
			severity = "error"
		}
		v.add(severity, u.Policy.File, *u.Problem())
	}
	if p.UI.WantJSON() {
		return v.encode(p.UI, user)
	}
	return v.print(p.UI)
}

func (v *validation) encode(u *ui.UI, user string) error {
	out := struct {
		Path     string    `json:"path"`
		OK       bool      `json:"ok"`
		Servers  int       `json:"servers"`
		Problems []finding `json:"problems"`
		Files    []checked `json:"files,omitempty"`
		Fixed    *fixes    `json:"fixed,omitempty"`
	}{user, v.first == nil, v.files[0].Servers, v.findings, nil, v.fixed}
	if len(v.files) > 1 {
		out.Files = v.files
	}
	if err := u.EncodeJSON(out); err != nil {
		return err
	}
	if v.first != nil {
		return v.first
	}
	return nil
}

func (v *validation) print(u *ui.UI) error {
	if err := v.fixed.print(u); err != nil {
		return err
	}
	for _, p := range v.findings {
		text := p.Severity + ": " + p.problem.Error() + "\n"
		if p.Hint != "" {
			text += "  hint: " + p.Hint + "\n"
		}
		if _, err := io.WriteString(u.Out, ui.Clean(text)); err != nil {
			return err
		}
	}
	for _, c := range v.files {
		if !c.OK {
			continue
		}
		if _, err := fmt.Fprintf(u.Out, "%s: ok, %s\n", ui.CleanLine(c.Path), plain.Count(c.Servers, "server")); err != nil {
			return err
		}
	}
	if v.first != nil {
		return ErrFaults
	}
	return nil
}
