package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/rootca"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// addGlobalFlags declares the flags that every command takes, before or after
// its own words. Their values are read by package settings.
func (env *environment) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.String("config", "", "use this `FILE` as servers.json")
	f.StringArray("registry", nil, "base `URL` of a registry (repeatable, the first has precedence; default "+registry.Official+")")
	f.String("url", "", "talk to the server at this `URL` instead of a configured one")
	f.StringArrayP("header", "H", nil, "add a header to HTTP requests, `NAME=VALUE` (repeatable)")
	f.Bool("json", false, "print JSON, errors too (same as -o json)")
	f.StringP("output", "o", "auto", "`FORMAT` of results: text, wide, json, json-compact, yaml, name, or auto: text on a terminal, JSON with short lists elsewhere")
	f.String("jq", "", "print what this jq `EXPRESSION` makes of the JSON")
	f.Bool("no-input", false, "ask nothing; what is missing is an error")
	f.String("timeout", "", "give a call up after this `DURATION` without a sign of life, or never (default 60s)")
	f.String("connect-timeout", "", "give connecting up after this `DURATION`, or never (default 30s)")
	f.String("protocol-version", "auto", "speak this `REVISION` of the protocol: auto, "+strings.Join(revision.Versions(), ", "))
	f.String("elicit", "", "`HOW` to answer what a server asks: ask, defaults, decline or a JSON object (default: ask, on a terminal)")
	f.String("auth", "", "log in to the server as this `JSON` or @FILE says, instead of its entry's auth")
	f.String("client-id", "", "log in with this `ID` of a registered client")
	f.String("client-secret-env", "", "and with the secret in this `VAR`")
	f.StringArray("scope", nil, "ask for this `SCOPE` (repeatable)")
	f.String("client-metadata-url", "", "log in as the client that this `URL` describes")
	f.String("callback-port", "", "listen for the end of a login on this `PORT`, 0 for any (default 8085 to 8099)")
	f.Bool("no-browser", false, "open no browser: print the page to log in on")
	f.Bool("allow-insecure-http", false, "send credentials to servers on other machines also over http")
	f.String("ca", "", "trust the certificate authorities in this `FILE`, too")
	f.Bool("no-session", false, "start the server, whether or not a session runs")
	f.StringArray("roots", nil, "tell servers to work in `DIR` (repeatable)")
	f.BoolP("quiet", "q", false, "no hints and notes")
	f.CountP("verbose", "v", "log more to standard error; -vv logs each message")
	f.String("log-format", "text", "`FORMAT` of the log on standard error: text or json")
	f.String("color", "auto", "`WHEN` to colour: auto, always or never")
	if err := root.MarkPersistentFlagDirname("roots"); err != nil {
		panic("cli: completion of --roots: " + err.Error())
	}
	for name, words := range map[string][]string{
		"output": settings.Outputs(), "log-format": {"text", "json"}, "color": {"auto", "always", "never"},
		"elicit":           {"ask", "defaults", "decline"},
		"protocol-version": append([]string{"auto"}, revision.Versions()...),
	} {
		completeWords(root, name, words...)
	}
}

// setup reads the settings after the flags of a command, and applies them to streams
// and log.
func (env *environment) setup(cmd *cobra.Command) error {
	s, err := settings.Load(settings.Options{Getenv: env.getenv, Flags: cmd.Flags(), SkipFile: worksWithoutFiles(cmd)})
	broken, isBroken := errors.AsType[*config.Problem](err)
	if isBroken && cmd.Annotations[brokenFiles] != "" {
		s, err = settings.Load(settings.Options{Getenv: env.getenv, Flags: cmd.Flags(), SkipFile: true})
	}
	if err != nil {
		return err
	}
	env.settings, env.adhoc.url, env.file.command = s, s.URL, true
	if err := env.adhoc.check(); err != nil {
		return err
	}
	env.file.wanted = cmd.Flags().Changed("config") && cmd.Name() != "add" && cmd.Name() != "edit"
	if err := env.setOutput(cmd); err != nil {
		return err
	}
	if err := trustCA(s.CA); err != nil {
		return err
	}
	env.ui.NoInput, env.ui.Quiet, env.ui.Graphics = s.NoInput, s.Quiet, ui.GraphicsOf(env.getenv)
	env.ui.Color, env.ui.ErrColor = env.wantColor(env.ui.OutTTY), env.wantColor(env.ui.ErrTTY)
	env.log = env.newLogger()
	switch cmd.Annotations[brokenFiles] {
	case reported:
		env.broken = broken
	case noted:
		if broken != nil {
			noteProblem(env.ui, broken)
		}
	}
	if s.Serve.Access.Rules || s.Audit != nil {
		env.obey()
	}
	return nil
}

// trustCA trusts the authorities in a file, "" for none.
func trustCA(path string) error {
	if path == "" {
		return nil
	}
	pem, err := atomicfile.Read(path, maxCA)
	if err == nil {
		err = rootca.Trust(pem)
	}
	if err != nil {
		p := config.FileProblem(path, err)
		p.Remedy = cmp.Or(p.Remedy, "ca, --ca and MCPCTL_CA name a file with certificates, each from -----BEGIN CERTIFICATE----- on")
		return p
	}
	return nil
}

// maxCA bounds a file of authorities, in bytes: the system's own has 220 KB.
const maxCA = 8 << 20

// setOutput says in which form results are printed.
func (env *environment) setOutput(cmd *cobra.Command) error {
	u := env.ui
	u.Form, u.Short, u.Wide = nil, false, false
	switch form := env.settings.Output; form {
	case "json-compact":
		u.Short = true
	case "yaml":
		u.Form = ui.YAML()
	case "name":
		u.Form = ui.Names
	case "wide":
		u.Wide = true
	}
	if expression, _ := cmd.Flags().GetString("jq"); cmd.Flags().Changed("jq") {
		if cmd.Flags().Changed("output") && env.settings.Output != "json" && !u.Short {
			return usagef("--jq is of JSON: use it without -o %s", env.settings.Output)
		}
		var err error
		if u.Form, err = ui.Query(expression); err != nil {
			return usagef("--jq: %w", err)
		}
	}
	u.JSON = env.settings.Output == "json" || u.Short || u.Form != nil
	u.Text = !u.JSON && (env.settings.Output == "text" || u.Wide)
	return nil
}

// setupCompletion is setup for completion functions, which cobra calls without it.
// Errors are ignored: a shell cannot show them.
func (env *environment) setupCompletion(cmd *cobra.Command) {
	s, err := settings.Load(settings.Options{Getenv: env.getenv, Flags: cmd.Flags(), SkipFile: true})
	if err == nil {
		env.settings, env.settings.ConfigPath, env.settings.URL = s, s.ConfigPath, s.URL
		env.adhoc.url = s.URL
	}
	env.obey() // config.yaml was not read
}

// wantColor follows --color, then NO_COLOR (no-color.org: any value but the
// empty one), then whether it is a terminal.
func (env *environment) wantColor(tty bool) bool {
	switch env.settings.Color {
	case "always":
		return true
	case "never":
		return false
	}
	if !env.settings.ColorSet && env.getenv("NO_COLOR") != "" {
		return false
	}
	return tty && env.getenv("TERM") != "dumb"
}

// newLogger returns a logger to standard error: warnings, with -v information, with
// -vv each message, with -q errors alone.
func (env *environment) newLogger() *slog.Logger {
	level := slog.LevelWarn
	switch {
	case env.settings.Verbose >= 2:
		level = slog.LevelDebug
	case env.settings.Verbose == 1:
		level = slog.LevelInfo
	case env.settings.Quiet:
		level = slog.LevelError
	}
	o := &slog.HandlerOptions{Level: level}
	if env.settings.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(env.ui.Log(), o))
	}
	if env.ui.ErrTTY {
		// A terminal needs no time.
		o.ReplaceAttr = func(groups []string, at slog.Attr) slog.Attr {
			if len(groups) == 0 && at.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return at
		}
	}
	return slog.New(slog.NewTextHandler(env.ui.Log(), o))
}

// anyFiles marks a command that does not read config.yaml, brokenFiles one that works with
// a broken one: noted, which is a warning, or reported or edited by the command itself.
const (
	anyFiles    = "any-files"
	brokenFiles = "broken-files"

	noted    = "noted"
	reported = "reported"
	edited   = "edited"
)

func worksWithoutFiles(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Annotations[anyFiles] != "" {
			return true
		}
		switch c.Name() {
		case "completion", "help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return true
		}
	}
	return false
}

// asksJSON reports an explicit --json among words that may be an invalid command
// line; the last one counts.
func asksJSON(args []string, getenv func(string) string) bool {
	json, _ := settings.Boolean(getenv(settings.Variable("json"))) // another word is a fault that is reported as text
	json = json || strings.HasPrefix(getenv(settings.Variable("output")), "json")
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		word := args[i]
		if word == "-o" || word == "--output" {
			if i+1 < len(args) {
				i++
				word = "-o" + args[i]
			}
		}
		switch word {
		case "--json", "--json=true", "-ojson", "-o=json", "--output=json", "-ojson-compact", "-o=json-compact", "--output=json-compact":
			json = true
		case "--json=false", "-otext", "-oauto", "-o=text", "-o=auto", "--output=text", "--output=auto":
			json = false
		}
	}
	return json
}

// wordCount rephrases cobra's error about the number of arguments.
func wordCount(err error, args []string) string {
	var want, got int
	switch text := err.Error(); {
	case strings.HasPrefix(text, "requires at least "):
		return "missing argument"
	case scans(text, "accepts %d arg(s), received %d", &want, &got) && got < want:
		return "missing argument"
	case strings.HasPrefix(text, "unknown command ") && len(args) > 0: // of a command without arguments
		return fmt.Sprintf("unexpected argument %q", args[0])
	case scans(text, "accepts %d arg(s), received %d", &want, &got), scans(text, "accepts at most %d arg(s), received %d", &want, &got):
		return fmt.Sprintf("unexpected argument %q", args[want])
	default:
		return text
	}
}

func scans(text, format string, into ...any) bool {
	n, err := fmt.Sscanf(text, format, into...)
	return err == nil && n == len(into)
}

// usageErrors makes a wrong number of words a usage error of cmd and its subcommands.
func usageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil || exitCode(err) != exitOther {
				return err
			}
			return usagef("%s", wordCount(err, args)).withHint("usage: %s", c.UseLine())
		}
	}
	for _, sub := range cmd.Commands() {
		usageErrors(sub)
	}
}
