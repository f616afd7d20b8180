package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/lint"
)

// result is the JSON of a check.
type result struct {
	File     string         `json:"file"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Findings []lint.Finding `json:"findings"`
}

// runLint checks a file, or standard input if its name is "-".
func runLint(u *ui.UI, path string, strict bool) error {
	raw, err := read(u, path)
	if err != nil {
		return ui.Usage("read %s: %w", path, err)
	}
	r := result{File: path, Findings: adding.NonNil(lint.Document(raw))}
	for _, f := range r.Findings {
		if f.Severity == lint.Error {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	if u.WantJSON() {
		err = u.EncodeJSON(r)
	} else {
		err = r.print(u.Out)
	}
	if err == nil && (r.Errors > 0 || strict && r.Warnings > 0) {
		return &ui.Error{Kind: "other", Err: fmt.Errorf("%s has %s", path, r.counts()), Remedy: "docs/lint.md explains the rules"}
	}
	return err
}

func read(u *ui.UI, path string) ([]byte, error) {
	if path != "-" {
		return args.ReadFile(path, adding.MaxDocument)
	}
	raw, err := io.ReadAll(io.LimitReader(u.In, adding.MaxDocument+1))
	if len(raw) > adding.MaxDocument {
		return nil, fmt.Errorf("it has more than %d bytes", adding.MaxDocument)
	}
	return raw, err
}

// print writes one line a finding.
func (r *result) print(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s:%d:%d: %s %s %s: %s; %s", r.File, f.Line, f.Column, f.Severity, f.Rule, f.Name, f.Message, f.Fix)
		if f.Pointer != "" {
			line += " (" + f.Pointer + ")"
		}
		b.WriteString(ui.CleanLine(line) + "\n")
	}
	if r.Errors == 0 {
		fmt.Fprintf(&b, "%s: %s\n", ui.CleanLine(r.File), r.counts())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *result) counts() string {
	plural := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	return plural(r.Errors, "error") + " and " + plural(r.Warnings, "warning")
}
