package gen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// Session is the revision that is spoken by default: one with a handshake.
	Session = "2025-06-18"
	// Stateless is the revision without handshake and sessions.
	Stateless = "2026-07-28"
)

// Target is what is put under load: either a command or a URL.
type Target struct {
	// Command is started by Open and spoken to over its standard input and
	// output. Env is its environment; nil is that of this process.
	Command []string
	Env     []string
	// URL is the endpoint of a server of Streamable HTTP.
	URL string
	// PID is the process whose time and memory Results tell; 0 is the command,
	// or with a URL none.
	PID int
	// Revision is that of the protocol: Session (also where it is "") or
	// Stateless.
	Revision string
	// Sessions is among how many sessions (with Stateless: clients with
	// connections of their own) of HTTP the callers are divided; 0 is 1.
	Sessions int
	// Connections is how many idle connections each session keeps; 0 is 600, so
	// that none is ever made again. It is about HTTP alone.
	Connections int
	// Bearers are the credentials of the sessions over HTTP, in turn; none: there are
	// no credentials.
	Bearers []string
	// Wait bounds the handshake and the search for the tool; 0 is 30 s.
	Wait time.Duration
}

func (t Target) stateless() bool { return t.Revision >= Stateless }

func (t Target) revision() string {
	if t.Revision == "" {
		return Session
	}
	return t.Revision
}

func (t Target) wait() time.Duration {
	if t.Wait <= 0 {
		return 30 * time.Second
	}
	return t.Wait
}

// peer is one connection to a server: a pair of streams or a session of HTTP.
type peer interface {
	// call sends a request and waits for its answer. caller is a number below
	// maxCallers that no other call uses meanwhile; the result is valid until
	// the same caller's next call.
	call(ctx context.Context, caller int, method, name string, params []byte) (answer, error)
	notify(ctx context.Context, method string) error
	// stray returns the answers that nobody waited for, and one of them.
	stray() (int64, string)
	close() error
}

// Conn is a connection, or several sessions of HTTP, to one server. Its methods
// may be called concurrently, Run apart, of which one goes on at a time.
type Conn struct {
	target Target
	peers  []peer
	pid    int
	// Ready is how long it took from the start to the end of the (first)
	// handshake.
	Ready time.Duration
	start time.Time
}

// Open starts or reaches the target and shakes hands. The caller must Close
// the Conn.
func Open(ctx context.Context, t Target) (*Conn, error) {
	c := &Conn{target: t, pid: t.PID, start: time.Now()}
	switch {
	case len(t.Command) > 0 && t.URL == "":
		s, err := startStdio(t.Command, t.Env)
		if err != nil {
			return nil, err
		}
		if c.pid == 0 {
			c.pid = s.process.Cmd.Process.Pid
		}
		c.peers = append(c.peers, s)
	case t.URL != "" && len(t.Command) == 0:
		for i := range max(t.Sessions, 1) {
			w := newWeb(t)
			if len(t.Bearers) > 0 {
				w.credential = "Bearer " + t.Bearers[i%len(t.Bearers)]
			}
			c.peers = append(c.peers, w)
		}
	default:
		return nil, errors.New("gen: a target has either a command or a URL")
	}
	return c.begin(ctx)
}

// Attach speaks over a pair of streams: r is what the server writes. Close
// closes w, and r where it is an io.Closer.
func Attach(ctx context.Context, r io.Reader, w io.WriteCloser, t Target) (*Conn, error) {
	c := &Conn{target: t, pid: t.PID, start: time.Now()}
	c.peers = append(c.peers, newStdio(r, w))
	return c.begin(ctx)
}

func (c *Conn) begin(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.target.wait())
	defer cancel()
	for i, p := range c.peers {
		if err := c.handshake(ctx, p); err != nil {
			return nil, errors.Join(fmt.Errorf("handshake: %w", err), c.Close())
		}
		if i == 0 {
			c.Ready = time.Since(c.start)
		}
	}
	return c, nil
}

func (c *Conn) handshake(ctx context.Context, p peer) error {
	if c.target.stateless() {
		return nil
	}
	params := `{"protocolVersion":"` + c.target.revision() + `","capabilities":{},"clientInfo":{"name":"load","version":"1"}}`
	if _, err := p.call(ctx, 0, "initialize", "", []byte(params)); err != nil {
		return err
	}
	return p.notify(ctx, "notifications/initialized")
}

// PID is the process that is measured, 0 for none.
func (c *Conn) PID() int { return c.pid }

// Call sends one request of any method over the first connection: params is an
// object, into which the members are put that the revision asks for. It must not be called
// while a Run goes on.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var o struct {
		Name string `json:"name"`
	}
	if method == "tools/call" {
		_ = json.Unmarshal(params, &o) // what has no name is the server's to refuse
	}
	a, err := c.peers[0].call(ctx, 0, method, o.Name, c.withMeta(params))
	return append(json.RawMessage(nil), a.result...), err
}

// withMeta puts the request metadata of a stateless revision first into params.
func (c *Conn) withMeta(params []byte) []byte {
	if !c.target.stateless() {
		return params
	}
	body := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(params)), "{"))
	if body != "}" {
		body = "," + body
	}
	return []byte(`{"_meta":` + metaFor(c.target.revision()) + body)
}

// Close ends what Open started and waits for it.
func (c *Conn) Close() error {
	var all []error
	for _, p := range c.peers {
		all = append(all, p.close())
	}
	return errors.Join(all...)
}
