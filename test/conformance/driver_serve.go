package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// gatewayClient is the client in front of mcpctl serve or bridge, when that is the suite's
// client.
// It calls one tool, and opens the pages that it is shown.
type gatewayClient struct {
	ctx     context.Context //nolint:containedctx // one run of this program
	version string
	log     io.Writer
	p       *wire.Process
	got     chan wire.Message // what serve sends
	asked   int
	opened  map[string]bool // pages
}

// logins bounds how often the client logs in for one call: after that it gives up, as
// a person would.
const logins = 6

// callThrough calls the suite's tool through a command of mcpctl, with a client of the
// scenario's revision in front.
func (d *driver) callThrough(tool string, args ...string) error {
	version := d.version
	if version == "" {
		version = "2025-11-25"
	}
	if d.version != "" {
		args = append(args, "--protocol-version", d.version)
	}
	cmd := exec.CommandContext(d.ctx, d.mcpctl, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "MCPCTL_HOME="+d.home, "MCPCTL_LIST_GRACE=never"), d.log
	p, err := wire.Start(cmd)
	if err != nil {
		return err
	}
	defer p.End(5 * time.Second)
	c := &gatewayClient{ctx: d.ctx, version: version, log: d.log, p: p, got: make(chan wire.Message, 16), opened: map[string]bool{}}
	go func() { // ends with serve
		defer close(c.got)
		_ = wire.Lines(p.Out, func(line []byte) {
			fmt.Fprintf(c.log, "< %s\n", line)
			var m wire.Message
			if json.Unmarshal(line, &m) == nil {
				c.got <- m
			}
		})
	}()
	return c.call(tool)
}

// call calls a tool until it has worked, or no page is shown.
func (c *gatewayClient) call(tool string) error {
	params := map[string]any{"name": tool, "arguments": map[string]any{}}
	if c.modern() {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": c.version, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "front", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"url": map[string]any{}}},
		}
	} else if err := c.initialize(); err != nil {
		return err
	}
	opened := 0
	for range 100 {
		result, err := c.request("tools/call", params)
		var page string
		var rpc *wire.RPCError
		switch {
		case errors.As(err, &rpc):
			page = c.unopened(member(rpc.Data, "url"))
		case err != nil:
			return err
		default:
			if page, err = c.pageIn(result, params); err == nil && page == "" {
				return nil
			}
		}
		switch {
		case page == "":
			return fmt.Errorf("the call failed: %s %w", result, err)
		case opened == logins:
			return errors.New("the server asks to log in again and again")
		case page == again: // the login is about to end
			time.Sleep(50 * time.Millisecond)
			continue
		}
		opened++
		if err := consent(c.ctx, page); err != nil {
			return err
		}
	}
	return errors.New("the login does not end")
}

// again is in the place of a page that has been opened.
const again = "again"

// pageIn returns the page that a result wants opened, "" for none. What a modern
// result asks goes into the params of the next request.
func (c *gatewayClient) pageIn(result json.RawMessage, params map[string]any) (string, error) {
	var r struct {
		IsError bool   `json:"isError"`
		Type    string `json:"resultType"`
		Inputs  map[string]struct {
			Params struct{ URL string } `json:"params"`
		} `json:"inputRequests"`
		State json.RawMessage            `json:"requestState"`
		Meta  map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return "", err
	}
	delete(params, "inputResponses")
	delete(params, "requestState")
	switch {
	case r.Type == "input_required":
		page, answers := "", map[string]any{}
		for key, in := range r.Inputs {
			page, answers[key] = in.Params.URL, map[string]any{"action": "accept"}
		}
		params["inputResponses"], params["requestState"] = answers, r.State
		return page, nil
	case !r.IsError:
		return "", nil
	}
	page := member(r.Meta["dev.mcpctl/error"], "url")
	if page == "" {
		return "", errors.New("isError")
	}
	return c.unopened(page), nil
}

// unopened returns a page that is to be opened, or again.
func (c *gatewayClient) unopened(page string) string {
	if page != "" && c.opened[page] {
		return again
	}
	c.opened[page] = true
	return page
}

func (c *gatewayClient) modern() bool { return c.version >= "2026" }

func (c *gatewayClient) initialize() error {
	capabilities := map[string]any{}
	if c.version >= "2025-11-25" {
		capabilities["elicitation"] = map[string]any{"url": map[string]any{}}
	}
	_, err := c.request("initialize", map[string]any{"protocolVersion": c.version, "capabilities": capabilities, "clientInfo": map[string]any{"name": "front", "version": "1"}})
	if err != nil {
		return err
	}
	return c.send(wire.Notification("notifications/initialized", "{}"))
}

func (c *gatewayClient) send(message string) error {
	fmt.Fprintf(c.log, "> %s\n", message)
	_, err := io.WriteString(c.p.In, message+"\n")
	return err
}

// request sends a request and waits for its answer; pages that it is asked to open
// meanwhile it opens.
func (c *gatewayClient) request(method string, params map[string]any) (json.RawMessage, error) {
	c.asked++
	id := fmt.Sprint(c.asked)
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	if err := c.send(wire.Request(id, method, string(raw))); err != nil {
		return nil, err
	}
	for m := range c.got {
		switch {
		case m.Method == "elicitation/create":
			if err := c.send(wire.Result(m.ID, `{"action":"accept"}`)); err != nil {
				return nil, err
			}
			if err := consent(c.ctx, member(m.Params, "url")); err != nil {
				return nil, err
			}
		case m.Method == "" && string(m.ID) == id:
			return m.Outcome()
		}
	}
	return nil, io.ErrUnexpectedEOF
}

// member returns a text in an object, "" where there is none.
func member(object json.RawMessage, name string) string {
	var o map[string]json.RawMessage
	var text string
	if json.Unmarshal(object, &o) == nil {
		_ = json.Unmarshal(o[name], &text)
	}
	return text
}

var button = regexp.MustCompile(`<form method="post">`)

// consent opens a page of mcpctl's and goes on, as the browser of a person who agrees
// does.
func consent(ctx context.Context, page string) error {
	ctx, cancel := context.WithTimeout(ctx, scenarioTimeout)
	defer cancel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar}
	body := ""
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		req, err := http.NewRequestWithContext(ctx, method, page, nil)
		if err != nil {
			return err
		}
		resp, err := browser.Do(req)
		if err != nil {
			return err
		}
		raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if body = string(raw); method == http.MethodGet && !button.MatchString(body) {
			return fmt.Errorf("%s has nothing to agree to: %s", page, strings.TrimSpace(body))
		}
	}
	return nil
}
