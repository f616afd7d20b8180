package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcpctl/mcpctl/internal/rootca"
)

const (
	// maxAnswer bounds an answer, in bytes: 64 vectors of 8,192 numbers fit.
	maxAnswer = 16 << 20
	// idleConnections is how many connections stay open for the next requests.
	idleConnections = 4
)

// client asks one endpoint.
type client struct {
	http *http.Client
	c    EmbeddingConfig
}

func newClient(c EmbeddingConfig) *client {
	h := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: rootca.Client(), ForceAttemptHTTP2: true, MaxIdleConnsPerHost: idleConnections}}
	if c.Client != nil {
		copied := *c.Client
		h = &copied
	}
	// Headers are for this endpoint alone.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{h, c}
}

// refusal is an answer that says that the request is wrong, not the endpoint.
type refusal struct{ status int }

func (r *refusal) Error() string { return fmt.Sprintf("the endpoint answers %d", r.status) }

// isRefusal reports whether a request failed because of its texts.
func isRefusal(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	switch r.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// embed returns a vector of each text, as the endpoint made it. Its errors name neither
// texts nor headers.
func (c *client) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{c.c.Model, texts, c.c.Dimensions})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL of the endpoint cannot be used")
	}
	for name, value := range c.c.Headers {
		req.Header.Set(name, value.Reveal())
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL
		}
		return nil, fmt.Errorf("the endpoint does not answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the endpoint breaks off: %w", err)
	case res.StatusCode != http.StatusOK:
		return nil, &refusal{res.StatusCode}
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the endpoint answers with more than %d MiB", maxAnswer>>20)
	}
	return vectorsOf(raw, len(texts))
}

// vectorsOf reads an answer: one vector for each text, in any order.
func vectorsOf(raw []byte, texts int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil, errors.New("the endpoint answers with something else than vectors")
	}
	if len(answer.Data) != texts {
		return nil, fmt.Errorf("the endpoint answers with %d vectors for %d texts", len(answer.Data), texts)
	}
	out := make([][]float32, texts)
	for i, d := range answer.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= texts || out[i] != nil {
			return nil, errors.New("the endpoint answers with vectors for other texts")
		}
		out[i] = d.Embedding
		if len(d.Embedding) == 0 {
			return nil, errors.New("the endpoint answers with an empty vector")
		}
	}
	return out, nil
}
