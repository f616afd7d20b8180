package httpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// fastPost is a fast call of an HTTP client. The request's own goroutine waits for it.
type fastPost struct {
	router.PendingFastCall
	x      modernPost
	r      *http.Request
	framed chan *bytes.Buffer // has room for one: the answer, nil where the call is parked
}

// fastCall serves a call; false where it needs a goroutine, with its record, if it has one.
func (h *Streamable) fastCall(w http.ResponseWriter, r *http.Request, seen upstream.Audience, accepts accept, body []byte, m *rawjson.Message) (served bool, begun journal.Ticket) {
	c := &fastPost{x: modernPost{h: h, w: w, accepts: accepts}, r: r, framed: make(chan *bytes.Buffer, 1)}
	c.Who, c.Capabilities, c.Responder = seen, h.p.Router.Declared(m.MetaCapabilities.Of(body)), c
	call := h.p.Router.FastCallModern(body, m, &c.PendingFastCall, r.Header, time.Now())
	switch {
	case call.Err != nil:
		c.x.finish(m.ID.Of(body), h.p.Router.FailedModern(revision.MethodToolsCall, call.Err))
	case call.Conn != nil:
		call.Conn.Flush()
		defer c.x.close()
		c.await(r, body, m)
	default:
		return false, call.Begun
	}
	return true, begun
}

// await writes what comes for the call.
func (c *fastPost) await(r *http.Request, body []byte, m *rawjson.Message) {
	x := &c.x
	framed, why := await(x, r, c.framed)
	switch {
	case why != nil:
		c.Leave(why)
		if errors.Is(why, upstream.ErrProxyClosed) {
			x.sendClosed(m.ID.Of(body))
		}
		return
	case framed == nil:
		c.serve(r, body, m)
		return
	case x.out != nil:
		x.event(framed.Bytes())
	default:
		writeUntil(x.h.lifetime, x.w, x.accepts, http.StatusOK, framed.Bytes())
	}
	limits.Release(framed)
}

// serve continues the call as one that may wait for its client.
func (c *fastPost) serve(r *http.Request, body []byte, m *rawjson.Message) {
	x, h := &c.x, c.x.h
	x.wake = make(chan struct{}, 1)
	req := &router.Request{Line: bytes.Clone(body), Msg: new(*m), Method: revision.MethodToolsCall, Header: r.Header}
	req.From = req.ModernCaller(x.push)
	req.From.Audience, req.From.Peer = c.Who, c.Peer()
	h.serveModern(r, x, m.ID.Of(body), func(ctx context.Context) (router.Answer, bool) {
		return h.p.Router.ContinueParked(ctx, &c.PendingFastCall, req)
	})
}

func (c *fastPost) Answer(framed *bytes.Buffer) *jsonrpc.Writer {
	c.framed <- framed // the one message: has room
	return nil
}

// Left implements [router.Responder]: a request over HTTP is cancelled by its end.
func (c *fastPost) Left(bool) {}

// Peer implements [router.Responder].
func (c *fastPost) Peer() client.Peer { return peerOf(c.r) }

// peerOf returns the way on which a request has come.
func peerOf(r *http.Request) client.Peer {
	return client.Peer{Transport: client.TransportHTTP, Addr: r.RemoteAddr}
}

func (c *fastPost) Park() { c.framed <- nil } // likewise
