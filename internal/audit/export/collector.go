package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	// sendTimeout bounds one request, with its answer.
	sendTimeout = 30 * time.Second
	// tries, tryFirst and tryMost are about requests that are sent again at once; later the
	// worker tries again.
	tries    = 3
	tryFirst = 500 * time.Millisecond
	tryMost  = 10 * time.Second
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 10
)

// newClient returns a client that sends again what failed on the way, or what again says so
// of. It follows no redirect: what is sent is for that URL alone.
func newClient(o Options, again func(status int) bool) *retryablehttp.Client {
	transport := o.HTTP
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: transport, Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		RetryMax:   tries, RetryWaitMin: tryFirst, RetryWaitMax: tryMost,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return err != nil || again(resp.StatusCode), nil //nolint:nilerr // the next try says it
		},
		Backoff: func(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
			return min(retryablehttp.DefaultBackoff(least, most, attempt, resp), most) // whatever Retry-After says
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// answer is what came back: its body is cut at maxAnswer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post sends a body. The error has no part of the URL but its origin, and no header.
func post(ctx context.Context, c *retryablehttp.Client, to string, header http.Header, body []byte) (answer, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, to, body)
	if err != nil {
		return answer{}, errors.New("the URL cannot be used")
	}
	maps.Copy(req.Header, header)
	resp, err := c.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, err
	}
	return answer{resp.StatusCode, resp.Header, text}, nil
}

// collector sends records as OTLP over HTTP, with a JSON body. At least once: what was sent
// when the process was killed is sent again.
type collector struct {
	Collector
	log     Log
	sent    *state
	client  *retryablehttp.Client
	version string
	logger  *slog.Logger

	next, dropped atomic.Int64
}

func newCollector(c Collector, o Options, sent *state) *collector {
	to := &collector{Collector: c, log: o.Log, sent: sent, version: o.Version, logger: o.Logger}
	to.Header = c.Header.Clone()
	if to.Header == nil {
		to.Header = http.Header{}
	}
	to.Header.Set("Content-Type", "application/json")
	to.Header.Set("User-Agent", "mcpctl/"+o.Version)
	// The specification of OTLP names these, and no others.
	to.client = newClient(o, func(status int) bool {
		switch status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	})
	to.next.Store(sent.get(to.key()).Next)
	return to
}

func (c *collector) key() string { return "otlp " + c.URL }

func (c *collector) status() Status {
	return Status{Kind: "otlp", Target: c.URL, Next: c.next.Load(), Dropped: c.dropped.Load()}
}

func (c *collector) pass(ctx context.Context) error {
	for {
		at := c.sent.get(c.key())
		b, err := read(ctx, c.log, at.Next, at.Checkpoint)
		if err != nil {
			return err
		}
		if len(b.records)+len(b.checkpoints) == 0 {
			return nil
		}
		at = b.after(at)
		records, _ := b.logRecords(strconv.FormatInt(time.Now().UnixNano(), 10))
		if err := c.send(ctx, records); err != nil {
			return err
		}
		if err := c.sent.set(c.key(), at); err != nil {
			return err
		}
		c.next.Store(at.Next)
		if !b.more {
			return nil
		}
	}
}

// send sends records. Those that the collector says it can never take are dropped and
// counted, so that they do not hold up the others. Every other refusal is an error: the log
// has the records, and they are sent when it is mended.
func (c *collector) send(ctx context.Context, records []otlpRecord) error {
	body, err := encode(records, c.version)
	if err != nil {
		return err
	}
	a, err := post(ctx, c.client, c.URL, c.Header, body)
	switch {
	case err != nil:
		return err
	case a.status == http.StatusOK:
		c.partly(a.body)
		return nil
	case a.status != http.StatusBadRequest && a.status != http.StatusRequestEntityTooLarge:
		return fmt.Errorf("the collector answers HTTP %d", a.status)
	case len(records) == 1:
		c.drop(1, fmt.Sprintf("HTTP %d", a.status))
		return nil
	}
	half := len(records) / 2
	if err := c.send(ctx, records[:half]); err != nil {
		return err
	}
	return c.send(ctx, records[half:])
}

// partly notes what a collector has not taken of a request that it has taken otherwise.
func (c *collector) partly(body []byte) {
	var said struct {
		PartialSuccess struct {
			Rejected json.RawMessage `json:"rejectedLogRecords"` // a number, or a text with one
			Message  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(body, &said) != nil {
		return // some send no body
	}
	n, err := strconv.ParseInt(string(bytes.Trim(said.PartialSuccess.Rejected, `"`)), 10, 64)
	if err == nil && n > 0 {
		c.drop(n, said.PartialSuccess.Message)
	}
}

func (c *collector) drop(n int64, why string) {
	c.dropped.Add(n)
	c.logger.Warn("a collector refuses records of the audit log for good: it will not have them", "to", c.URL, "records", n, "why", why)
}
