package settings_test

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
)

// page returns docs/settings.md.
func page() string {
	var b strings.Builder
	b.WriteString(`# Settings

<!-- Written by go test ./cmd/internal/settings -run TestPage -update, from the table in cmd/internal/settings. -->

Every setting of mcpctl, from one table in its source. A flag comes before the environment variable, the variable before
` + "`config.yaml`, and that before the default. `mcpctl config sources` shows which of them a value comes from, and `mcpctl config set NAME\nVALUE` writes one to `config.yaml`" + `, which is next to your servers.json. [Configure](configure.md#settings) has examples.

A duration is a number with a unit, such as ` + "`500ms`, `30s`, `5m` or `1h30m`. `never` and `0`" + ` mean no limit. The timeouts of an entry in
servers.json come after the environment and before config.yaml. A wrong value is always an error, with its place.
`)
	for _, serve := range []bool{false, true} {
		b.WriteString("\n## " + map[bool]string{false: "All commands", true: "serve"}[serve] + "\n\n")
		b.WriteString("| in config.yaml | flag | variable | values | default | what it does |\n|---|---|---|---|---|---|\n")
		for _, s := range settings.Table() {
			if s.Serve == serve {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", code("", s.Name), code("--", s.Flag), code("", s.Variable), s.Values, strings.ReplaceAll(s.Default, "__", "`__`"), s.About)
			}
		}
	}
	b.WriteString(`
## Variables without a flag

| variable | what it does |
|---|---|
| ` + "`MCPCTL_HOME`" + ` | folder of servers.json, config.yaml and the [state](configure.md#state) |
| ` + "`MCPCTL_CONFIG_JSON`" + ` | the text of [servers.json](configure.md#serversjson), instead of the file |
| ` + "`MCPCTL_SYSTEM_CONFIG`" + ` | the system's [servers.json](layers.md) |
| ` + "`XDG_CONFIG_HOME`, `XDG_STATE_HOME`" + ` | folders of the configuration and the state, without ` + "`MCPCTL_HOME`" + ` |
| ` + "`NO_COLOR`" + ` | no colours, unless ` + "`color`" + ` is set |
| ` + "`VISUAL`, `EDITOR`" + ` | the editor of ` + "`mcpctl config edit`" + ` |
| ` + "`BROWSER`" + ` | the browser that opens the page of a login |
`)
	return b.String()
}

// code returns a word of a table, "" for none.
func code(before, word string) string {
	if word == "" {
		return ""
	}
	return "`" + before + word + "`"
}
