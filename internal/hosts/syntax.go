package hosts

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// syntax is how a host writes placeholders. The zero syntax has none.
type syntax struct {
	// find finds the placeholders in a text; a dollar or brace outside is plain text.
	find func() *regexp.Regexp
	// read returns a placeholder as servers.json has it, by the groups of find; why is a
	// note where that is not quite the same, "" where it is.
	read func(groups []string, dir string) (ours, why string)
	// write returns a placeholder of ours; ok is false where the host has no such.
	write func(p config.Part) (text string, ok bool)
}

const (
	namePattern = `[A-Za-z_][A-Za-z0-9_]*`
	bracesForm  = `\$\{(` + namePattern + `)(:-[^{}$]*)?\}`
)

// What finds the placeholders of each host.
var (
	findBraces   = lazy.Regexp(bracesForm)
	findDollars  = lazy.Regexp(`\$\{(` + namePattern + `)\}|\$(` + namePattern + `)`)
	findEnvColon = lazy.Regexp(`\$\{([A-Za-z]+)(?::([^}]*))?\}`)
	findCurly    = lazy.Regexp(`\{(env|file):([^}]*)\}`)
	findContinue = lazy.Regexp(`\$\{\{\s*(?:secrets|inputs)\.([^}\s]+)\s*\}\}`)
	findMcporter = lazy.Regexp(bracesForm + `|\$env:(` + namePattern + `)`)
)

// parse returns a host's text as servers.json has it. dir is the folder of the project.
func (s syntax) parse(text, dir string) (ours string, notes []string) {
	if s.find == nil {
		return escape(text), nil
	}
	var b strings.Builder
	last := 0
	for _, at := range s.find().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(escape(text[last:at[0]]))
		last = at[1]
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		form, why := s.read(groups, dir)
		b.WriteString(form)
		if why != "" {
			notes = append(notes, why)
		}
	}
	b.WriteString(escape(text[last:]))
	return b.String(), notes
}

// escape returns plain text as servers.json has it: a dollar is doubled where it could be
// taken for a placeholder.
func escape(text string) string {
	if strings.Contains(text, "${principal.") { // which is none of a host's
		return config.Escape(text)
	}
	if parts := config.Parts(text); len(parts) == 0 || len(parts) == 1 && parts[0].Name == "" && parts[0].Text == text {
		return text
	}
	return config.Escape(text)
}

// format returns a text of servers.json as the host has it; ok is false where that would
// mean something else there.
func (s syntax) format(text string) (out string, ok bool) {
	var b strings.Builder
	for _, p := range config.Parts(text) {
		form := p.Text
		if p.Name != "" {
			if s.write == nil {
				return "", false
			}
			if form, ok = s.write(p); !ok {
				return "", false
			}
		}
		b.WriteString(form)
	}
	return b.String(), true
}

// braces are ${NAME} and ${NAME:-default}.
func braces() syntax {
	return syntax{
		find:  findBraces,
		read:  func(g []string, _ string) (string, string) { return "${" + g[1] + g[2] + "}", "" },
		write: writeBraces,
	}
}

func writeBraces(p config.Part) (string, bool) {
	switch {
	case !p.HasDefault:
		return "${" + p.Name + "}", true
	case p.OrEmpty && !strings.ContainsAny(p.Text, "${}"):
		return "${" + p.Name + ":-" + p.Text + "}", true
	}
	return "", false
}

// dollars are $NAME as well.
func dollars() syntax {
	return syntax{
		find:  findDollars,
		read:  func(g []string, _ string) (string, string) { return "${" + g[1] + g[2] + "}", "" },
		write: func(p config.Part) (string, bool) { return "${" + p.Name + "}", !p.HasDefault },
	}
}

// envColon are ${env:NAME}, and what editors have beside it.
func envColon() syntax {
	return syntax{
		find: findEnvColon,
		read: func(g []string, dir string) (string, string) {
			switch {
			case g[1] == "env" && isName(g[2]):
				return "${" + g[2] + "}", ""
			case g[1] == "userHome":
				return "${HOME}", ""
			case g[1] == "workspaceFolder" && dir != "":
				return escape(dir), ""
			case g[1] == "workspaceFolderBasename" && dir != "":
				return escape(filepath.Base(dir)), ""
			case g[1] == "pathSeparator":
				return string(filepath.Separator), ""
			case g[1] == "input" && variable(g[2]) != "":
				name := variable(g[2])
				return "${" + name + "}", g[0] + " is asked for by the host; here it is the environment variable " + name
			}
			return config.Escape(g[0]), g[0] + " has no meaning outside of the host, and stays as it is"
		},
		write: func(p config.Part) (string, bool) { return "${env:" + p.Name + "}", !p.HasDefault },
	}
}

// curly are {env:NAME} and {file:PATH}.
func curly() syntax {
	return syntax{
		find: findCurly,
		read: func(g []string, _ string) (string, string) {
			if g[1] == "env" && isName(g[2]) {
				return "${" + g[2] + "}", ""
			}
			return escape(g[0]), g[0] + " has no meaning outside of the host, and stays as it is"
		},
		write: func(p config.Part) (string, bool) { return "{env:" + p.Name + "}", !p.HasDefault },
	}
}

// secrets are ${{ secrets.NAME }}.
func secrets() syntax {
	return syntax{
		find: findContinue,
		read: func(g []string, _ string) (string, string) {
			if name := variable(g[1]); name != "" {
				return "${" + name + "}", ""
			}
			return config.Escape(g[0]), g[0] + " has no meaning outside of the host, and stays as it is"
		},
		write: func(p config.Part) (string, bool) { return "${{ secrets." + p.Name + " }}", !p.HasDefault },
	}
}

// mcporterVariables are ${NAME}, ${NAME:-default} and $env:NAME.
func mcporterVariables() syntax {
	return syntax{
		find:  findMcporter,
		read:  func(g []string, _ string) (string, string) { return "${" + g[1] + g[2] + g[3] + "}", "" },
		write: writeBraces,
	}
}

func isName(s string) bool {
	other := func(r rune) bool { return !(r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') }
	return s != "" && !strings.ContainsFunc(s, other) && (s[0] < '0' || s[0] > '9')
}

// variable returns the name of a variable for an identifier, such as GITHUB_TOKEN for
// github-token, "" for none.
func variable(id string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-./ ", r) {
			return '_'
		}
		return r
	}, id)
	if !isName(name) {
		return ""
	}
	if name == strings.ToLower(name) {
		return strings.ToUpper(name)
	}
	return name
}
