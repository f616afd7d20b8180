package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Answers of serve init.
const (
	tlsOwn, tlsSelfSigned, tlsNone = "own", "self-signed", "none"
	authToken, authJWT, authNone   = "token", "jwt", "none"
)

// serveInit is one run of serve init: what its flags and questions say.
type serveInit struct {
	a *app

	listen    string
	hosts     []string
	tls       string
	cert, key string
	auth      string
	issuer    string
	allow     string
	token     string
	dryRun    bool

	network bool // other machines reach the address
	// made are files that are written beside config.yaml, with their modes.
	made []madeFile
}

type madeFile struct {
	path string
	text []byte
	mode fs.FileMode
}

func newServeInit(a *app) *cobra.Command {
	s := &serveInit{a: a}
	cmd := &cobra.Command{
		Use: "init", Short: "Set serve up: who connects, from where, and with which certificate", Args: cobra.NoArgs,
		Long: `Write what mcpctl serve --http needs into config.yaml: who has to prove who they are, and how, the certificate, the
names in the URLs of clients, and what everybody may use. On a terminal it asks what no flag says. Nothing is started.
A config.yaml that says some of it already keeps that, and the command stops.

--tls self-signed makes a certificate and its key in the folder tls beside config.yaml, for a start: clients have to be
told to trust it, mcpctl with --ca.`,
		Example: "  mcpctl serve init\n  mcpctl serve init --listen 0.0.0.0:8443 --host mcp.example.com --tls self-signed --credentials token --token alice --allow read-only\n" +
			"  mcpctl serve init --listen 0.0.0.0:8443 --host mcp.example.com --tls own --cert cert.pem --key key.pem --credentials jwt --issuer https://idp.example.com --allow deny",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&s.listen, "listen", "", "the `ADDR` that serve will listen on")
	f.StringArrayVar(&s.hosts, "host", nil, "a `NAME` in the URLs of clients (repeatable)")
	f.StringVar(&s.tls, "tls", "", "`HOW` connections are encrypted: own, self-signed, or none, for a proxy that does it")
	f.StringVar(&s.cert, "cert", "", "the certificate, in this `FILE`")
	f.StringVar(&s.key, "key", "", "and its key, in this `FILE`")
	f.StringVar(&s.auth, "credentials", "", "`HOW` clients prove who they are: token, jwt of an identity provider, or none")
	f.StringVar(&s.issuer, "issuer", "", "the `URL` of the identity provider")
	f.StringVar(&s.allow, "allow", "", "`WHAT` everybody may use without a rule: all, read-only or deny")
	f.StringVar(&s.token, "token", "", "make a first token, for `NAME`")
	f.BoolVar(&s.dryRun, "dry-run", false, "print config.yaml and write nothing")
	completeWords(cmd, "tls", tlsOwn, tlsSelfSigned, tlsNone)
	completeWords(cmd, "credentials", authToken, authJWT, authNone)
	completeWords(cmd, "allow", "all", "read-only", "deny")
	return cmd
}

func (s *serveInit) run(ctx context.Context) error {
	asker := s.a.questions()()
	if err := s.ask(ctx, asker); err != nil {
		return err
	}
	if n, ok := asker.(*ui.NonInteractive); ok {
		if err := n.Missing(); err != nil {
			return err
		}
	}
	file := s.a.settings.File()
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.FileProblem(file, err)
	}
	if err := s.certificate(filepath.Dir(file)); err != nil {
		return err
	}
	after, err := s.edit(before)
	if err != nil { // before anything is written
		return err
	}
	if s.dryRun {
		_, err := s.a.ui.Out.Write(after)
		return err
	}
	var token *listedToken
	if s.token != "" {
		t, text, err := newToken(s.a.ui, config.StateDir(s.a.getenv), s.a.settings.Serve).create(ctx, s.token, nil, "")
		if err != nil {
			return err
		}
		made := shown(t, text)
		token = &made
	}
	for _, m := range s.made {
		if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(m.path, m.text, m.mode); err != nil {
			return err
		}
	}
	if bytes.Equal(before, after) {
		file = ""
	} else if err := s.a.configuring().editSettings(s.edit); err != nil {
		return err
	}
	return s.report(file, token)
}

// ask asks what no flag says, and checks all of it.
func (s *serveInit) ask(ctx context.Context, asker ui.Asker) error {
	choose := func(value *string, q ui.Question, options ...string) error { // an option is WORD: text
		words := make([]string, len(options))
		for i, o := range options {
			words[i], _, _ = strings.Cut(o, ":")
		}
		if *value != "" {
			if !slices.Contains(words, *value) {
				return usagef("%s is %q, want %s", q.Flag, *value, strings.Join(words, ", "))
			}
			return nil
		}
		at, err := asker.Select(ctx, q, options)
		if err == nil {
			*value = words[at]
		}
		return unanswered(err)
	}
	input := func(value *string, q ui.Question) error {
		if *value != "" {
			if q.Check != nil {
				if err := q.Check(*value); err != nil {
					return usagef("%s: %w", q.Flag, err)
				}
			}
			return nil
		}
		text, err := asker.Input(ctx, q)
		*value = text
		return unanswered(err)
	}
	if err := s.askAddress(ctx, asker, input); err != nil {
		return err
	}
	auth := []string{"token: a token that mcpctl makes for each", "jwt: a login at an identity provider (OAuth, OpenID Connect)"}
	if !s.network {
		auth = append(auth, "none: nobody is asked, everybody on this machine may connect")
	}
	if s.network || s.auth != "" || s.interactive(asker) {
		if err := choose(&s.auth, ui.Question{Message: "How clients prove who they are", Flag: "--credentials"}, auth...); err != nil {
			return err
		}
	}
	s.auth = cmp.Or(s.auth, authNone)
	switch {
	case s.auth == authJWT:
		if err := input(&s.issuer, ui.Question{Message: "URL of the identity provider", Flag: "--issuer", Check: checkIssuer}); err != nil {
			return err
		}
	case s.issuer != "":
		return usagef("--issuer is of --credentials jwt")
	}
	if s.network || s.tls != "" {
		if err := choose(&s.tls, ui.Question{Message: "How connections are encrypted", Flag: "--tls"},
			"self-signed: a certificate that is made now, for a start", "own: a certificate that is there, in PEM", "none: not here, a proxy in front does it"); err != nil {
			return err
		}
	}
	s.tls = cmp.Or(s.tls, tlsNone)
	switch {
	case s.tls == tlsOwn:
		if err := input(&s.cert, ui.Question{Message: "File of the certificate", Flag: "--cert"}); err != nil {
			return err
		}
		if err := input(&s.key, ui.Question{Message: "File of its key", Flag: "--key"}); err != nil {
			return err
		}
	case s.cert != "" || s.key != "":
		return usagef("--cert and --key are of --tls own")
	}
	if s.auth == authNone {
		s.allow = cmp.Or(s.allow, "all")
	}
	if err := choose(&s.allow, ui.Question{Message: "What everybody may use without a rule", Flag: "--allow"},
		"read-only: tools that only read", "all: every tool of every server", "deny: nothing"); err != nil {
		return err
	}
	if s.auth != authToken {
		if s.token != "" {
			return usagef("--token is of --credentials token")
		}
		return nil
	}
	if s.token != "" || s.interactive(asker) {
		return input(&s.token, ui.Question{Message: "Name of the first token", Flag: "--token", Default: cmp.Or(s.a.getenv("USER"), "me"), Check: func(name string) error {
			return checkToken("name", name, access.ValidTokenName)
		}})
	}
	return nil
}

// interactive reports whether somebody answers.
func (s *serveInit) interactive(asker ui.Asker) bool {
	_, silent := asker.(*ui.NonInteractive)
	return !silent
}

// unanswered leaves out that nobody answered: all such questions become one error.
func unanswered(err error) error {
	if errors.Is(err, ui.ErrNoAnswer) {
		return nil
	}
	return err
}

// askAddress asks where serve listens, and under which names.
func (s *serveInit) askAddress(ctx context.Context, asker ui.Asker, input func(*string, ui.Question) error) error {
	check := func(addr string) error {
		_, _, err := gateway.SplitAddress(addr)
		return err
	}
	if s.listen == "" && s.interactive(asker) {
		at, err := asker.Select(ctx, ui.Question{Message: "Who connects", Flag: "--listen"}, []string{"programs on this machine", "other machines"})
		if err != nil {
			return err
		}
		s.listen = gateway.DefaultAddress
		if at == 1 {
			s.listen = ""
		}
	}
	if err := input(&s.listen, ui.Question{Message: "Address to listen on", Flag: "--listen", Default: "0.0.0.0:8443", Check: check}); err != nil {
		return err
	}
	if s.listen == "" { // nobody was there to ask
		return nil
	}
	host, port, err := gateway.SplitAddress(s.listen)
	if err != nil {
		return err
	}
	s.listen, s.network = net.JoinHostPort(host, port), !gateway.IsLoopback(host)
	if len(s.hosts) == 0 && s.network {
		name, _ := os.Hostname() // a preset
		names := ""
		if err := input(&names, ui.Question{Message: "Names in the URLs of clients (several with spaces between)", Flag: "--host", Default: name, Check: func(text string) error {
			if strings.TrimSpace(text) == "" {
				return errors.New("a name is needed")
			}
			return nil
		}}); err != nil {
			return err
		}
		s.hosts = strings.Fields(names)
	}
	for _, h := range s.hosts {
		if strings.ContainsAny(h, "/:*@ ") {
			return usagef("--host is %q, want a name such as mcp.example.com", h)
		}
	}
	return nil
}

func checkIssuer(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Host == "" {
		return errors.New("want a URL such as https://idp.example.com")
	}
	return nil
}

// certificate checks a certificate that is there, or makes one beside config.yaml.
func (s *serveInit) certificate(dir string) error {
	switch s.tls {
	case tlsNone:
		return nil
	case tlsSelfSigned:
		s.cert, s.key = filepath.Join(dir, "tls", "cert.pem"), filepath.Join(dir, "tls", "key.pem")
		for _, path := range []string{s.cert, s.key} {
			if _, err := os.Lstat(path); err == nil {
				return usagef("%s is there already", path).withHint("use it with --tls own --cert %s --key %s, or remove both files", shellWord(s.cert), shellWord(s.key))
			}
		}
		names := slices.Concat(s.hosts, []string{"localhost", "127.0.0.1", "::1"})
		if host, _, err := net.SplitHostPort(s.listen); err == nil {
			if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() && !ip.IsLoopback() {
				names = append(names, host)
			}
		}
		cert, key, err := gateway.SelfSigned(names, time.Now())
		if err != nil {
			return err
		}
		s.made = []madeFile{{s.cert, cert, 0o644}, {s.key, key, 0o600}}
		return nil
	}
	for _, path := range []*string{&s.cert, &s.key} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	if _, err := tls.LoadX509KeyPair(s.cert, s.key); err != nil {
		return usagef("--cert and --key: %w", err).withHint("name a certificate and the key that belongs to it, in PEM")
	}
	return nil
}

// edit returns config.yaml with what was answered. What it says already is not changed.
func (s *serveInit) edit(before []byte) ([]byte, error) {
	type member struct {
		path    []string
		value   any
		comment string
	}
	dir := filepath.Dir(s.a.settings.File())
	near := func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return path
	}
	var members []member
	add := func(comment string, value any, path ...string) {
		members = append(members, member{path, value, comment})
	}
	switch s.auth {
	case authToken:
		add("Clients send a token as Authorization: Bearer. mcpctl access token add NAME makes one.", []any{map[string]any{"token": map[string]any{}}}, "serve", "auth")
	case authJWT:
		add("Clients log in at this issuer. groupsClaim is the claim of its tokens that has groups for rules.", []any{map[string]any{"jwt": map[string]any{"issuer": s.issuer}}}, "serve", "auth")
		add("The URL of clients. Tokens have to be for it (aud).", s.url(), "serve", "url")
	}
	if s.tls != tlsNone {
		add("In PEM, relative to this file. A renewed certificate is used without a restart.", map[string]any{"cert": near(s.cert), "key": near(s.key)}, "serve", "tls")
	}
	if len(s.hosts) > 0 {
		add("Names in the URLs of clients. Other names are refused (DNS rebinding).", s.hosts, "serve", "hosts")
	}
	if value := map[string]string{"read-only": "read-only", "deny": "deny", "all": "allow"}[s.allow]; s.auth != authNone || value != "allow" {
		add("What counts where no rule does: allow, deny or read-only. mcpctl access allow WHO SERVER adds rules.", value, "access", "default")
	}
	// What is there would count as well.
	taken := [][]string{{"serve", "auth"}, {"serve", "tls"}, {"serve", "hosts"}, {"serve", "url"}}
	for _, m := range members {
		taken = append(taken, m.path)
	}
	for _, path := range taken {
		switch was, err := configedit.GetYAML(before, path...); {
		case err != nil:
			return nil, &config.Problem{File: s.a.settings.File(), Message: err.Error(), Remedy: "edit the file by hand"}
		case was != nil:
			return nil, usagef("%s has %s already: nothing was changed", s.a.settings.File(), strings.Join(path, ".")).withHint("change it there, or remove it first")
		}
	}
	text := before
	for _, m := range members {
		var err error
		if text, err = configedit.SetYAML(text, m.value, m.path...); err != nil {
			return nil, err
		}
		if text, err = configedit.CommentYAML(text, m.comment, m.path...); err != nil {
			return nil, err
		}
	}
	if s.allow != "all" { // the default would hold for the commands of who writes this, too
		fresh, err := configedit.GetYAML(text, "access", "rules")
		if err != nil {
			return nil, err
		}
		if text, err = configedit.AppendYAML(text, policies.NewRule{Allow: policies.Words{"local"}, To: policies.Words{"*"}}, "access", "rules"); err != nil {
			return nil, err
		}
		if fresh == nil {
			if text, err = configedit.CommentYAML(text, "local are your own commands on this machine.", "access", "rules"); err != nil {
				return nil, err
			}
		}
	}
	if len(members) > 0 && len(bytes.TrimSpace(before)) == 0 {
		text = append([]byte("# mcpctl serve --http "+s.listen+" serves with this. mcpctl config schema config.yaml has all settings.\n"), text...)
	}
	return text, nil
}

// url returns the address of clients.
func (s *serveInit) url() string {
	host, port, _ := net.SplitHostPort(s.listen) // it was checked
	if len(s.hosts) > 0 {
		host = s.hosts[0]
	}
	u := url.URL{Scheme: "https", Host: net.JoinHostPort(host, port), Path: "/mcp"}
	if s.tls == tlsNone {
		u.Scheme = "http"
		if s.network { // a proxy in front has the usual port
			u.Scheme, u.Host = "https", host
		}
	}
	return u.String()
}

// report says what was written, "" for nothing, and what comes next.
func (s *serveInit) report(file string, token *listedToken) error {
	a := s.a
	start, address := "mcpctl serve --http "+s.listen, s.url()
	if a.ui.WantJSON() {
		out := map[string]any{"start": start, "url": address}
		if file != "" {
			out["file"] = file
		}
		if token != nil {
			out["token"] = token
		}
		if s.tls != tlsNone {
			out["cert"], out["key"] = s.cert, s.key
		}
		return a.ui.EncodeJSON(out)
	}
	var b strings.Builder
	if file == "" {
		b.WriteString("nothing has to be set for that\n\n")
	} else {
		fmt.Fprintf(&b, "wrote %s\n\n", file)
	}
	fmt.Fprintf(&b, "Start it    %s\nClients     %s\n", start, address)
	if token != nil {
		fmt.Fprintf(&b, "Token       %s   of %s; it is shown this once\n", token.Token, token.Name)
	} else if s.auth == authToken {
		b.WriteString("Tokens      mcpctl access token add NAME makes one for each person or program\n")
	}
	if s.tls == tlsSelfSigned {
		fmt.Fprintf(&b, "Trust       mcpctl --ca %s; SSL_CERT_FILE or NODE_EXTRA_CA_CERTS for other clients\n", shellWord(s.cert))
	}
	if s.auth != authNone && s.allow != "all" {
		b.WriteString("Rules       mcpctl access allow WHO SERVER lets somebody use more\n")
	}
	_, err := a.ui.Out.Write([]byte(b.String()))
	return err
}
