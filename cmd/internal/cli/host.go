package cli

import (
	"errors"

	"github.com/mcpctl/mcpctl/cmd/internal/elicit"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// host is the client side of a command's connection, which answers the server's
// requests.
type host struct {
	*answerHandler
	a     *app
	entry config.Entry // that it is connected to
	// conn is the connection, nil for a session's.
	conn *policies.Connection
	// filtered says that policies may leave items out of lists.
	filtered bool
}

// close ends a connection of connect.
func (h *host) close(c *runtime.Client) error {
	if h.conn != nil {
		return h.conn.Close()
	}
	return c.Close()
}

// server returns the connection that a failure of the server is explained by.
func (h *host) server(c *runtime.Client) *runtime.Client {
	if h.conn != nil {
		return h.conn.Server
	}
	return c
}

func (a *app) newHost(server string) *host {
	policy, err := elicit.ParsePolicy(a.settings.Elicit)
	if err != nil {
		panic("cli: --elicit was not checked: " + err.Error())
	}
	o := answerOptions{UI: a.ui, Asker: a.asker, Getenv: a.getenv, Server: server, Policy: policy, Roots: a.settings.Roots}
	if o.Asker == nil {
		o.Asker = a.ui.Asker()
	}
	if a.settings.Verbose > 0 { // some servers log without being asked
		o.Log = a.log
	}
	return &host{answerHandler: newAnswers(o), a: a}
}

// outcome returns the error of an unanswered question, which explains the server's,
// otherwise err.
func (h *host) outcome(err error) error {
	unanswered := h.Unanswered()
	if unanswered == nil || err != nil && exitCode(err) == exitInterrupted {
		return explainQuestion(err)
	}
	return unanswered
}

// explain adds to a failure of the server which of our variables it may miss, or which of our
// credentials it refuses. Where
// the failure is a result, which has been printed, that is a note.
func (h *host) explain(c *runtime.Client, err error) error {
	switch exitCode(err) {
	case exitTool, exitAuth, exitProtocol, exitTimeout, exitConnect:
	default:
		if !errors.Is(err, runtime.ErrClosed) {
			return err
		}
	}
	explained := dial.ExplainCall(h.entry, dial.Options{HTTP: dial.HTTPOptions{Headers: h.a.settings.Headers}}, h.server(c), err)
	why, more := errors.AsType[interface {
		error
		Missed() string
	}](explained)
	own, ok := errors.AsType[*Error](err)
	if !more || !ok || !own.Silent {
		return explained
	}
	if !h.a.ui.JSON {
		h.a.ui.Info("warning: %s: %s", h.entry.Name, why.Missed())
		h.a.ui.Info("hint: %s", ui.HintOf(explained))
	}
	return err
}
