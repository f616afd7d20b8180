package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// Client is a client of an endpoint of Streamable HTTP.
type Client struct {
	URL string
	// Session and Version are sent as headers where they are not "".
	Session, Version string
	HTTP             *http.Client // nil is the default
	next             atomic.Int64
}

// NewClient returns a client with connections of its own.
func NewClient(url string) *Client {
	return &Client{URL: url, HTTP: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 256, DialContext: (&net.Dialer{Timeout: Limit}).DialContext,
	}}}
}

// Close closes the connections that nothing uses.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Do sends a request with the headers of the transport; those given go before
// them.
func (c *Client) Do(ctx context.Context, method string, body []byte, headers http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Session != "" {
		req.Header.Set("Mcp-Session-Id", c.Session)
	}
	if c.Version != "" {
		req.Header.Set("Mcp-Protocol-Version", c.Version)
	}
	if Identity() {
		req.Header.Set("Authorization", "Bearer "+Token())
	}
	maps.Copy(req.Header, headers)
	if c.HTTP == nil {
		return http.DefaultClient.Do(req)
	}
	return c.HTTP.Do(req)
}

// Read reads a response to its end, and closes it.
func Read(res *http.Response) (Response, error) {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return Response{res.StatusCode, res.Header, string(body)}, err
}

// Post sends a message and reads the answer to its end.
func (c *Client) Post(ctx context.Context, message string) (Response, error) {
	res, err := c.Do(ctx, http.MethodPost, []byte(message), nil)
	if err != nil {
		return Response{}, err
	}
	return Read(res)
}

// Exchange sends a request and returns the answer. The session that it names is
// the client's from then on.
func (c *Client) Exchange(ctx context.Context, id, method, params string) (m Message, err error) {
	res, err := c.Post(ctx, Request(id, method, params))
	if err != nil {
		return m, err
	}
	if s := res.Header.Get("Mcp-Session-Id"); s != "" {
		c.Session = s
	}
	if err := json.Unmarshal([]byte(res.Message()), &m); err != nil {
		return m, fmt.Errorf("status %d: %q: %w", res.Status, res.Body, err)
	}
	return m, nil
}

// Next returns an id that no request of the client has had.
func (c *Client) Next() string { return strconv.FormatInt(c.next.Add(1), 10) }

// End ends the session.
func (c *Client) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	res, err := c.Do(ctx, http.MethodDelete, nil, nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
