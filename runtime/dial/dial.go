package dial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// Options are settings of one connection. The zero value is useful. Durations
// are used where the entry has none of its own; zero is the default, negative
// is off.
type Options struct {
	// Client identifies this program; the zero value is "mcpctl".
	Client runtime.Implementation
	// Handler gets what the server sends outside calls, its requests (also those
	// in results of 2026-07-28) where a call has no handler of its own, and the end
	// of an established connection; nil is runtime.NopHandler.
	Handler runtime.Handler
	// Logger; nil discards.
	Logger *slog.Logger
	// Lookup resolves placeholders; nil is os.LookupEnv.
	Lookup func(string) (string, bool)
	// Version is the protocol revision to use, whatever the entry says; "" is that of the
	// entry, and where that has none, it is detected.
	Version string
	// Legacy prefers the handshake where the server speaks both eras.
	Legacy bool
	// Capabilities is the raw object of the client's capabilities, which the
	// Handler implements; empty is none.
	Capabilities json.RawMessage
	// Eras caches which era a server speaks from one connection to the next,
	// see NewEraCache; nil probes each time.
	Eras negotiate.EraCache
	// HTTP is about remote servers.
	HTTP HTTPOptions
	// ConnectTimeout bounds connecting, handshake included: 30 s. Timeout
	// bounds a call without a sign of life: 60 s.
	ConnectTimeout, Timeout time.Duration
	// Grace and ShutdownTimeout are how a child process is ended: 500 ms from
	// the end of its input to SIGTERM, 5 s from there to SIGKILL.
	Grace, ShutdownTimeout time.Duration
	// Hurry, when closed, makes child processes that are being ended killed at
	// once. Nil is never.
	Hurry <-chan struct{}
	// Guard ends child processes if this one is killed; nil: nothing does.
	Guard *transport.Guard
	// ToolCache is a directory for what command-line tools say of themselves; "" asks
	// them each time.
	ToolCache string
	// Auth obtains credentials for remote servers whose entry has no Authorization
	// header; nil sends what the entry has.
	Auth *Auth
	// Principal is whom the connection is for, nil where nobody is asked who they are.
	Principal *access.Principal
	// Redactor gets what is secret of the connection: the entry's secrets, and each token
	// that is used. Connections of one server and one principal may share it. Nil is one of
	// the connection's own.
	Redactor *secret.Redactor
	// Listen subscribes to what the server sends outside calls: the stream of an
	// HTTP server of the handshake era, which Capabilities open as well, and the
	// list changes of a modern one.
	Listen bool
}

// HTTPOptions are settings of connections to remote servers. The zero value is useful.
type HTTPOptions struct {
	// Headers are added to the entry's own, and override them.
	Headers map[string]string
	// AllowInsecure sends credentials to a server on another machine also over http, as
	// an entry's allowInsecureHttp does.
	AllowInsecure bool
	// Client sends the requests; nil is one of the connection's own.
	Client *http.Client
}

// Auth is how the credentials of remote servers are obtained.
type Auth struct {
	// Store keeps tokens.
	Store *tokenstore.Store
	// Config is in the place of an entry's auth, or of a part of it; nil is the entry's.
	Config *authconfig.Override
	// Prompter logs in when a connected server wants more. While connecting nobody
	// does: the error is an [*auth.Error], and [Authorizer] logs in.
	Prompter auth.Prompter
	// StoredOnly leaves servers alone whose entry has no auth and for which no token is
	// kept, when they are connected: their calls cost less so.
	StoredOnly bool
	// Principals is where those of principals are obtained; nil: there are none.
	Principals *Principals
	// Given is the access token that a login has just obtained, see [auth.Options].
	Given string
}

// Principals is how the credentials of principals are obtained, each their own.
type Principals struct {
	// Accounts keeps what they have linked.
	Accounts *tokenstore.Folder
	// Exchanged remembers what their tokens were exchanged for.
	Exchanged *tokenstore.Memory
	// Subject returns the token that a principal has come with, by the ID; the zero Text
	// for none.
	Subject func(id string) secret.Text
}

// Authorizer returns what obtains credentials for the server of an entry, nil where the
// entry has its own or is no remote server.
func (a *Auth) Authorizer(x config.Expanded, log *slog.Logger, redact *secret.Redactor) *auth.Authorizer {
	return a.AuthorizerFor(nil, x, log, redact)
}

// AuthorizerFor is Authorizer for a principal, whose own credentials are obtained where
// the entry says so; nil is this machine's user, as is one of provider [access.Local].
func (a *Auth) AuthorizerFor(principal *access.Principal, x config.Expanded, log *slog.Logger, redact *secret.Redactor) *auth.Authorizer {
	server, err := url.Parse(x.URL.Reveal())
	if a == nil || x.Entry.URL == "" || err != nil || authorizationHeader(x) != "" || server.User != nil {
		return nil
	}
	o := auth.Options{
		Server: server, Name: x.Entry.Name, Config: a.Config.Apply(x.Auth), Store: a.Store, Logger: log, Redactor: redact, AllowHTTP: x.Entry.AllowInsecureHTTP, Given: a.Given,
	}
	if principal != nil && principal.Provider != access.Local && o.Config.Each.On {
		if a.Principals == nil {
			return nil // without credentials: nobody gets those of this machine's user
		}
		a.Principals.of(principal.ID, &o)
	}
	z := auth.New(o)
	if a.StoredOnly && x.Entry.Auth == nil && !z.Keeps() {
		return nil
	}
	return z
}

// of returns a copy that uses the credentials of a principal.
func (p *Principals) of(id string, o *auth.Options) {
	o.Principal, o.Store, o.Clients, o.Exchanged = id, p.Accounts.Of(id), p.Accounts.Clients(o.Name), p.Exchanged
	if p.Subject != nil {
		o.Subject = func() secret.Text { return p.Subject(id) }
	}
}

// authorizationHeader returns the name of the entry's Authorization header as it is
// written, "" for none.
func authorizationHeader(x config.Expanded) string {
	for name := range x.Headers {
		if textproto.CanonicalMIMEHeaderKey(name) == "Authorization" {
			return name
		}
	}
	return ""
}

// emptyCredential returns an [*EmptyCredentialError] for an Authorization header whose
// credential expands to nothing.
func emptyCredential(x config.Expanded) error {
	name := authorizationHeader(x)
	if name == "" {
		return nil
	}
	// "Bearer ${TOKEN}", where TOKEN is empty.
	if text := strings.TrimSpace(x.Headers[name].Reveal()); text != "" && !strings.EqualFold(text, "bearer") && !strings.EqualFold(text, "basic") {
		return nil
	}
	variables, _ := config.Variables(x.Entry.Headers[name])
	return &EmptyCredentialError{Server: x.Entry.Name, Header: name, Variables: variables}
}

// EmptyCredentialError is an Authorization header that expands to a scheme alone, or to
// nothing.
type EmptyCredentialError struct {
	Server, Header string
	Variables      []string // that are in it
}

// Error names the header and its variables.
func (e *EmptyCredentialError) Error() string {
	text := e.Server + ": the header " + e.Header + " has no credential"
	if len(e.Variables) > 0 {
		text += ": " + strings.Join(e.Variables, ", ") + " is empty or not set"
	}
	return text
}

// Hint returns the mend.
func (e *EmptyCredentialError) Hint() string {
	if len(e.Variables) == 0 {
		return "give the header a value, or leave it out"
	}
	return "export " + strings.Join(e.Variables, "=… ") + "=…, or remove the header: mcpctl config edit"
}

// ExitKind makes it an error of the configuration.
func (e *EmptyCredentialError) ExitKind() string { return "config" }

// clearText refuses to send credentials of the entry over http to another machine, and
// warns where that is allowed.
func (d *dialer) clearText() error {
	what := clearTextOf(d.URL.Reveal(), config.Revealed(d.Headers))
	switch {
	case what == "":
		return nil
	case !d.Entry.AllowInsecureHTTP:
		return &ClearTextError{Server: d.Entry.Name, What: what}
	}
	d.o.Logger.Warn("credentials are sent over http: others on the way can read them", "what", what)
	return nil
}

// ClearText returns a [*ClearTextError] for an entry that would send credentials over
// http to another machine and does not allow it. Its placeholders count as credentials
// where these are.
func ClearText(entry config.Entry) error {
	if what := clearTextOf(entry.URL, entry.Headers); what != "" && !entry.AllowInsecureHTTP {
		return &ClearTextError{Server: entry.Name, What: what}
	}
	return nil
}

// clearTextOf returns which credentials go over http to another machine, "" for none.
func clearTextOf(address string, headers map[string]string) (what string) {
	server, err := url.Parse(address)
	if err != nil || !auth.Cleartext(server) {
		return ""
	}
	if server.User != nil {
		what = "the user in the URL"
	}
	for name, values := range server.Query() {
		if secret.LooksName(name) || slices.ContainsFunc(values, secret.LooksText) {
			what = "the query of the URL"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := headers[name]
		if value != "" && (secret.LooksName(name) || secret.LooksText(value[secret.AfterScheme(value):])) {
			what = "the header " + name
		}
	}
	return what
}

// ClearTextError is an entry whose credentials would be sent over http to another
// machine.
type ClearTextError struct {
	Server string
	What   string // is not sent
}

// Error names what is not sent.
func (e *ClearTextError) Error() string {
	return e.Server + ": " + e.What + " is not sent over http to another machine"
}

// Hint returns the mend.
func (e *ClearTextError) Hint() string { return auth.AllowHTTPHint }

// ExitKind makes it an error of authorisation.
func (e *ClearTextError) ExitKind() string { return "auth" }

const defaultConnectTimeout = 30 * time.Second

// Dial connects to the server of an entry, placeholders unexpanded; ctx bounds
// connecting alone. Messages name an entry without Name by its command or URL.
//
// Faults of the entry and missing variables are config errors; a server that
// cannot be started or reached is a *runtime.ConnectError, one that does not
// answer in time a *runtime.TimeoutError, one that does not speak MCP a
// *runtime.ProtocolError.
func Dial(ctx context.Context, entry config.Entry, o Options) (*runtime.Client, error) {
	d, err := prepare(entry, o)
	if err != nil {
		return nil, err
	}
	o, entry = d.o, d.Entry
	if entry.Command != "" && entry.URL != "" {
		return nil, &runtime.ConnectError{Target: entry.Name, Err: errors.New("the entry has both command and url")}
	}
	if err := emptyCredential(d.Expanded); err != nil {
		return nil, err
	}
	if err := d.clearText(); err != nil {
		return nil, err
	}
	d.authorize()
	e := entry
	b := negotiate.Options{
		Version: cmp.Or(o.Version, e.ProtocolVersion), Legacy: o.Legacy, Client: o.Client, Capabilities: o.Capabilities, Handler: (*forwarder)(d),
		ProbeTimeout: e.ProbeTimeout, Logger: d.o.Logger,
		Key: d.key(), Eras: o.Eras,
	}
	switch e.Transport() {
	case config.TransportStdio:
		b.Open = d.stdio
	case config.TransportHTTP:
		b.Open, b.Fallback, b.HTTP = d.http, d.sse, true
	case config.TransportSSE:
		b.Open, b.ProbeTimeout = d.sse, -1 // a transport of the handshake era
	case config.TransportCLI:
		b.Open, b.ProbeTimeout = d.cli, -1 // it is a server of the handshake era
	default:
		return nil, &runtime.ConnectError{Target: e.Name, Err: errors.New("the entry has neither command nor url")}
	}
	c, err := d.connect(ctx, b)
	if err != nil {
		return nil, err
	}
	if d.auth != nil {
		d.auth.Attend(o.Auth.Prompter)
	}
	d.listen(ctx, c)
	timeout := o.Timeout
	if timeout == 0 {
		timeout = e.RequestTimeout
	}
	if !e.ToolFilter.IsZero() {
		c.Transport = filtered{c.Transport, e.ToolFilter}
	}
	client := runtime.NewClient(c.Transport, runtime.ClientOptions{Timeout: timeout, Info: c.Info, Handler: d.conn})
	d.conn.keep(client)
	return client, nil
}

// Learn has the Redactor of o redact what a connection to the server of an entry would show:
// the entry's secrets, and the token that is kept for the server. It connects to nothing.
func Learn(entry config.Entry, o Options) error {
	d, err := prepare(entry, o)
	if err != nil {
		return err
	}
	d.authorize()
	return nil
}

// authorize sets how credentials are obtained. Who shares the redactor has it know the token
// that is kept from now on: before anything is sent.
func (d *dialer) authorize() {
	d.auth = d.o.Auth.AuthorizerFor(d.o.Principal, d.Expanded, d.o.Logger, d.redact)
	if d.auth != nil && d.o.Redactor != nil {
		d.auth.Keeps() // it reads it
	}
}

// prepare expands an entry, for which nothing is opened yet.
func prepare(entry config.Entry, o Options) (*dialer, error) {
	o.defaults()
	if entry.Name == "" {
		entry.Name = cmp.Or(entry.Command, config.DisplayURL(entry.URL), "entry")
	}
	if err := entry.Err(); err != nil {
		return nil, err
	}
	entry.Headers = withHeaders(entry, o.HTTP.Headers)
	entry.AllowInsecureHTTP = entry.AllowInsecureHTTP || o.HTTP.AllowInsecure
	expanded, err := entry.ExpandFor(o.Principal, o.Lookup)
	if err != nil {
		return nil, err
	}
	d := &dialer{Expanded: expanded, o: o, redact: cmp.Or(o.Redactor, secret.NewRedactor())}
	expanded.Redact(d.redact)
	d.o.Logger = slog.New(d.redact.Handler(o.Logger.Handler())).With("server", entry.Name)
	return d, nil
}

func (o *Options) defaults() {
	if o.Client.Name == "" {
		o.Client = runtime.Implementation{Name: "mcpctl", Version: "0"}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Handler == nil {
		o.Handler = runtime.NopHandler{}
	}
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
}

// listenWait bounds how long connecting waits for the stream of the server's
// requests: a server that sends no headers before its first message must not delay
// calls.
const listenWait = 250 * time.Millisecond

// listen opens the stream of messages outside calls. A server of the handshake era
// may send requests there, and some drop those without a listener: so a client that
// can answer waits until the stream is open.
func (d *dialer) listen(ctx context.Context, c *negotiate.Connected) {
	asks := len(d.o.Capabilities) > len("{}") && c.Info.Version != revision.Modern
	l, ok := unwrap(c.Transport).(ability.Listen)
	if !ok || d.Entry.NoServerStream || !d.o.Listen && !asks {
		return
	}
	l.Listen(context.Background()) // the stream ends with the transport
	w, ok := l.(ability.Listening)
	if !ok || !asks {
		return
	}
	open := w.Listening()
	if open == nil {
		return
	}
	timer := time.NewTimer(listenWait)
	defer timer.Stop()
	select {
	case <-open:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// unwrap returns the transport under a bridge.
func unwrap(t runtime.Transport) runtime.Transport {
	if u, ok := t.(ability.Unwrap); ok {
		return u.Unwrap()
	}
	return t
}

// dialer opens the bare transports of one entry.
type dialer struct {
	config.Expanded
	o      Options
	redact *secret.Redactor // of the entry's secrets
	auth   *auth.Authorizer // nil where the entry has its own credentials
	last   *transport.Stdio // the process started last, to explain a failure
	conn   *connHandler     // of the transport opened last, which becomes the connection's
}

// withHeaders returns the headers of an HTTP server's entry, overridden by more.
func withHeaders(e config.Entry, more map[string]string) map[string]string {
	if e.URL == "" || len(more) == 0 {
		return e.Headers
	}
	out := map[string]string{}
	for name, value := range e.Headers {
		out[textproto.CanonicalMIMEHeaderKey(name)] = value
	}
	for name, value := range more {
		out[textproto.CanonicalMIMEHeaderKey(name)] = config.Escape(value)
	}
	return out
}

// handler returns a handler for the next transport.
func (d *dialer) handler() runtime.Handler {
	d.conn = &connHandler{Handler: d.o.Handler}
	return d.conn
}

// connect runs the bridge under the connect timeout and explains its errors.
func (d *dialer) connect(ctx context.Context, b negotiate.Options) (*negotiate.Connected, error) {
	limit := d.o.ConnectTimeout
	if limit == 0 {
		limit = d.Entry.ConnectTimeout
	}
	if limit == 0 {
		limit = defaultConnectTimeout
	}
	connecting := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		connecting, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	c, err := negotiate.Connect(connecting, b)
	if err != nil {
		return nil, d.explain(ctx, err, limit)
	}
	return c, nil
}

// explain returns the error of a failed connection as one with a remedy.
func (d *dialer) explain(ctx context.Context, err error, limit time.Duration) error {
	if ctx.Err() != nil {
		return deadline.Err(ctx)
	}
	if d.last != nil {
		if sample, only := d.last.Malformed(); only {
			return &runtime.ProtocolError{Reason: d.Entry.Name + " does not speak MCP: it wrote", Sample: sample}
		}
	}
	var exit *transport.ExitError
	switch {
	case errors.As(err, &exit):
		failed := &runtime.ConnectError{
			Target: d.Entry.Name, Err: exit,
			Remedy: "run it by hand to see why: " + d.redact.String(commandLine(d.Entry)),
		}
		if lacks := runnerError(d.Entry, exit); lacks != nil {
			failed.Err, failed.Remedy = lacks, lacks.Hint()
		} else if w := withheldFrom(d.Entry, exit.Stderr, false); w != nil {
			failed.Err, failed.Remedy = &notPassed{exit, w}, w.Hint()
		}
		return failed
	case errors.Is(err, context.DeadlineExceeded):
		err = d.withVariables(&runtime.TimeoutError{Op: "connect " + d.Entry.Name, After: limit})
		if Fetches(d.Entry.Command) && !errors.As(err, new(*notPassed)) {
			err = &slowStart{err}
		}
		return err
	}
	err = refusedCredential(d.Expanded, d.o.HTTP.Headers, d.withVariables(d.redactError(err)))
	switch d.Entry.Name {
	case d.Entry.Command, d.Command, config.DisplayURL(d.Entry.URL), config.DisplayURL(d.URL.Reveal()):
		return err // names the program or the address
	}
	return fmt.Errorf("%s: %w", d.Entry.Name, err)
}

// redactError redacts our credentials in what the bridge quotes of a server's answers.
// Errors of the transports have none.
func (d *dialer) redactError(err error) error {
	if wrong, ok := errors.AsType[*runtime.ProtocolError](err); ok {
		wrong.Reason = d.redact.String(wrong.Reason)
		wrong.Sample = d.redact.Beginning(wrong.Sample, len(wrong.Sample))
	}
	return d.redact.Error(err)
}

func (d *dialer) stdio(context.Context) (runtime.Transport, error) {
	o := d.stdioOptions()
	o.Handler = d.handler()
	s, err := transport.StartStdio(o)
	if install := InstallCommand(o.Command, err); install != "" {
		return nil, &runtime.ConnectError{Target: d.redact.String(o.Command), Err: transport.ErrNoCommand, Remedy: install}
	}
	if err != nil {
		return nil, err
	}
	d.last = s
	return s, nil
}

// stdioOptions returns what the entry's server is started with, but its handler.
func (d *dialer) stdioOptions() transport.StdioOptions {
	shutdown := d.o.ShutdownTimeout
	if shutdown == 0 {
		shutdown = d.Entry.ShutdownTimeout
	}
	args := make([]string, len(d.Args))
	for i, arg := range d.Args {
		args[i] = arg.Reveal()
	}
	return transport.StdioOptions{
		Command: d.Command, Args: args, Env: config.Revealed(d.Env), Dir: d.Cwd,
		Logger: d.o.Logger, Redactor: d.redact,
		StringIDs: d.Entry.RequestIDFormat == "string", Strict: d.Entry.Strict,
		Grace: d.o.Grace, ShutdownTimeout: shutdown, Hurry: d.o.Hurry,
		Guard: d.o.Guard, MaxMessage: d.Entry.MaxMessageBytes,
	}
}

func (d *dialer) httpOptions() transport.HTTPOptions {
	o := transport.HTTPOptions{
		Client: d.o.HTTP.Client, Headers: config.Revealed(d.Headers), Handler: d.handler(), Logger: d.o.Logger, Redactor: d.redact,
		StringIDs: d.Entry.RequestIDFormat == "string", MaxMessage: int64(d.Entry.MaxMessageBytes),
	}
	if d.auth != nil {
		o.Authorizer = d.auth
	}
	return o
}

func (d *dialer) http(context.Context) (runtime.Transport, error) {
	return transport.NewHTTP(d.URL.Reveal(), d.httpOptions())
}

func (d *dialer) sse(ctx context.Context) (runtime.Transport, error) {
	return transport.OpenSSE(ctx, d.URL.Reveal(), d.httpOptions())
}

// commandLine returns a command as typed in a shell.
func commandLine(e config.Entry) string {
	words := append([]string{e.Command}, e.Args...)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, needsQuotes) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func needsQuotes(r rune) bool {
	return r != '_' && !strings.ContainsRune("-./:=@,+%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// Server connects to a server of servers.json by its name. The file is the one
// that mcpctl itself uses: $MCPCTL_CONFIG, or servers.json in $MCPCTL_HOME or
// the user's configuration directory; Lookup resolves these variables as well.
//
// A name that is not in the file is a *config.NotFoundError whose message names
// the file; other errors are those of [Dial].
func Server(ctx context.Context, name string, o Options) (*runtime.Client, error) {
	lookup := o.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	path, err := config.Path(func(name string) string {
		if value, ok := lookup(name); ok {
			return value
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	file, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	entry, err := file.Use(name)
	if err != nil {
		if _, missing := errors.AsType[*config.NotFoundError](err); missing {
			return nil, fmt.Errorf("%s: %w", path, err) // the path depends on the environment
		}
		return nil, err
	}
	return Dial(ctx, entry, o)
}
