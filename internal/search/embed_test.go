package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/test/require"
)

// topics are what the fake model knows: a vector has a number for each.
var topics = [][]string{
	{"refund", "money", "charge", "invoice", "pay"},
	{"cat", "animal", "meow"},
	{"ship", "boat", "sea"},
}

// endpoint is a fake model. Its zero value answers as one should.
type endpoint struct {
	// answer answers in its place; nil is for what it does itself.
	answer func(r *http.Request, texts []string) (*http.Response, error)

	mu       sync.Mutex
	requests [][]string
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	var in struct {
		Model string
		Input []string
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(raw, &in) != nil || in.Model != "toy" || r.Method != http.MethodPost {
		return nil, fmt.Errorf("no request: %s", raw)
	}
	e.mu.Lock()
	e.requests = append(e.requests, in.Input)
	answer := e.answer
	e.mu.Unlock()
	if answer != nil {
		if res, err := answer(r, in.Input); res != nil || err != nil {
			return res, err
		}
	}
	return respond(http.StatusOK, vectors(in.Input)), nil
}

func (e *endpoint) set(answer func(r *http.Request, texts []string) (*http.Response, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// texts returns those that have been asked for, in order.
func (e *endpoint) texts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(slices.Values(slices.Concat(e.requests...)))
}

func vector(text string) []float32 {
	v := []float32{0, 0, 0, 0.01}
	for i, words := range topics {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), w) {
				v[i]++
			}
		}
	}
	return v
}

// vectors is an answer, the last text first: the order of an answer says nothing.
func vectors(texts []string) string {
	var data []string
	for i, text := range slices.Backward(texts) {
		raw, _ := json.Marshal(vector(text))
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, raw))
	}
	return `{"object":"list","data":[` + strings.Join(data, ",") + `],"model":"toy"}`
}

func respond(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// cache is a cache in memory.
type cache struct {
	mu  sync.Mutex
	of  map[search.EmbeddingKey][]float32
	err error
}

func (c *cache) Vectors(_ context.Context, keys []search.EmbeddingKey) (map[search.EmbeddingKey][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[search.EmbeddingKey][]float32{}
	for _, k := range keys {
		if v := c.of[k]; v != nil {
			out[k] = v
		}
	}
	return out, c.err
}

func (c *cache) Keep(_ context.Context, vectors map[search.EmbeddingKey][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[search.EmbeddingKey][]float32{}
	}
	maps.Copy(c.of, vectors)
	return c.err
}

// tools are a few tools that no word of the queries below is in.
func tools() []search.Doc {
	return []search.Doc{
		{Group: "shop", Name: "reverse_charge", Text: "Reverses what a buyer was charged."},
		{Group: "shop", Name: "feed_animal", Text: "Feeds an animal."},
		{Group: "shop", Name: "sail", Text: "Sails a boat over the sea."},
		{Group: "shop", Name: "list_orders", Text: "Lists orders."},
	}
}

func start(t *testing.T, e *endpoint, change func(*search.EmbeddingConfig)) (*search.EmbeddingIndex, *search.Engine) {
	t.Helper()
	c := search.EmbeddingConfig{URL: "http://model.invalid/v1/embeddings", Model: "toy", Client: &http.Client{Transport: e}}
	if change != nil {
		change(&c)
	}
	x := search.NewEmbeddings(c)
	t.Cleanup(x.Close)
	engine := &search.Engine{Meanings: x}
	engine.Build("shop", tools())
	engine.Wait(t.Context())
	x.Wait(t.Context())
	return x, engine
}

func findEmbedded(t *testing.T, e *search.Engine, limit int, phrasings ...string) string {
	t.Helper()
	var out []string
	for _, f := range e.Search(t.Context(), search.Query{Phrasings: phrasings, Limit: limit}, nil) {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

// TestFuse: what means the same is found without a word in common, what has the words
// stays in front, and a name before all.
func TestFuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, e := start(t, &endpoint{}, nil)
		for query, want := range map[string]string{
			"refund":                "reverse_charge",
			"meow":                  "feed_animal",
			"money orders":          "list_orders reverse_charge", // a word, then a meaning
			"sail: refund my money": "sail reverse_charge",
			"list_orders refund":    "list_orders reverse_charge", // a name
		} {
			if got := findEmbedded(t, e, 2, query); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		if got := findEmbedded(t, e, 2, "refund", "meow cat"); got != "feed_animal reverse_charge" && got != "reverse_charge feed_animal" {
			t.Errorf("two phrasings: got %q", got)
		}
		got := e.Search(t.Context(), search.Query{Phrasings: []string{"refund"}}, func(_, name string) bool { return name != "reverse_charge" })
		if slices.ContainsFunc(got, func(f search.Found) bool { return f.Name == "reverse_charge" }) {
			t.Errorf("found what does not count: %v", got)
		}
		e.Drop("shop")
		if got := findEmbedded(t, e, 0, "refund"); got != "" {
			t.Errorf("found after Drop: %q", got)
		}
		if s := x.Status(); s.Failures != 0 || s.Lexical != 0 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestOnce: a vector is asked for once for each text, in batches, and those that are kept
// not at all.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, cached := &endpoint{}, &cache{}
		two := func(c *search.EmbeddingConfig) { c.Batch, c.Cache = 3, cached }
		x, engine := start(t, e, two)
		if asked := e.texts(); len(asked) != 4 || len(e.requests) != 2 || asked[3] != "shop sail: Sails a boat over the sea." {
			t.Errorf("got %d requests: %q", len(e.requests), asked)
		}
		changed := tools()
		changed[2].Text = "Sails a ship."
		engine.Build("shop", changed)
		engine.Build("other", tools()[:1]) // the same text
		engine.Wait(t.Context())
		x.Wait(t.Context())
		if asked := e.texts(); len(asked) != 5 || x.Status() != (search.EmbeddingStatus{Model: "toy", Known: 5}) {
			t.Errorf("got %q, %+v", asked, x.Status())
		}
		again := &endpoint{}
		x, engine = start(t, again, two)
		if got := findEmbedded(t, engine, 1, "refund"); got != "reverse_charge" || len(again.texts()) != 1 || x.Status().Known != 4 {
			t.Errorf("with kept vectors: got %q, asked for %q", got, again.texts())
		}
		other := &endpoint{}
		x, _ = start(t, other, func(c *search.EmbeddingConfig) { two(c); c.Dimensions = 4 })
		if len(other.texts()) != 4 || x.Status().Known != 4 {
			t.Errorf("other dimensions: asked for %q", other.texts())
		}
	})
}

// TestFailures: whatever the endpoint does, a search has the answer that words give, in
// time, and a counter moves.
func TestFailures(t *testing.T) {
	body := func(status int, text string) func(*http.Request, []string) (*http.Response, error) {
		return func(*http.Request, []string) (*http.Response, error) { return respond(status, text), nil }
	}
	for name, answer := range map[string]func(*http.Request, []string) (*http.Response, error){
		"500":        body(500, "internal error"),
		"404":        body(404, "{}"),
		"redirect":   body(302, ""),
		"rubbish":    body(200, "<html>"),
		"empty":      body(200, ""),
		"nothing":    body(200, `{"data":[]}`),
		"strings":    body(200, `{"data":[{"embedding":"AAAA"}]}`),
		"no numbers": body(200, `{"data":[{"index":0,"embedding":[]}]}`),
		"zero":       body(200, `{"data":[{"index":0,"embedding":[0,0,0,0]}]}`),
		"overflow":   body(200, `{"data":[{"index":0,"embedding":[1e99,0,0,0]}]}`),
		"dimension":  body(200, `{"data":[{"index":0,"embedding":[1,2,3]}]}`),
		"elsewhere":  body(200, `{"data":[{"index":7,"embedding":[1,2,3,4]}]}`),
		"negative":   body(200, `{"data":[{"index":-1,"embedding":[1,2,3,4]}]}`),
		"refused":    func(*http.Request, []string) (*http.Response, error) { return nil, errors.New("connection refused") },
		"hung": func(r *http.Request, _ []string) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"hung body": func(r *http.Request, _ []string) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(reader(func([]byte) (int, error) {
				<-r.Context().Done()
				return 0, r.Context().Err()
			}))}, nil
		},
		"endless": func(r *http.Request, _ []string) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(reader(func(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("["), len(p))), nil }))}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &endpoint{}
				x, engine := start(t, e, nil)
				e.set(answer)
				begin := time.Now()
				if got := findEmbedded(t, engine, 0, "orders"); got != "list_orders" {
					t.Errorf("got %q", got)
				}
				if took := time.Since(begin); took > search.DefaultTimeout {
					t.Errorf("took %s", took)
				}
				if s := x.Status(); s.Lexical != 1 || s.Last == "" || strings.Contains(s.Last, "orders") {
					t.Errorf("got %+v", s)
				}
				// The worker fails, too, goes on trying, and less and less often.
				engine.Build("new", []search.Doc{{Group: "new", Name: "swim", Text: "Swims in the sea."}})
				time.Sleep(10 * time.Minute)
				if s := x.Status(); s.Missing != 1 || s.Failures < 2 || s.Failures > 12 {
					t.Errorf("got %+v", s)
				}
				if got := findEmbedded(t, engine, 0, "swims"); got != "swim" {
					t.Errorf("got %q", got)
				}
				e.set(nil)
				time.Sleep(10 * time.Minute)
				if s := x.Status(); s.Missing != 0 || s.Known != 5 {
					t.Errorf("later: got %+v", s)
				}
			})
		})
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// TestRefusedText: one text that the endpoint refuses does not keep the others from their
// vectors.
func TestRefusedText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{}
		e.set(func(_ *http.Request, texts []string) (*http.Response, error) {
			if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "animal") }) {
				return respond(http.StatusBadRequest, "too long"), nil
			}
			return nil, nil
		})
		x, _ := start(t, e, nil)
		time.Sleep(time.Hour)
		if s := x.Status(); s.Known != 3 || s.Missing != 1 || s.Failures > 5 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestCrowd: searches that wait for a hung endpoint are bounded in number; the others do
// not wait.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{}
		x, engine := start(t, e, nil)
		var waiting, most atomic.Int64
		e.set(func(r *http.Request, _ []string) (*http.Response, error) {
			if n := waiting.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-r.Context().Done()
			waiting.Add(-1)
			return nil, r.Context().Err()
		})
		var crowd sync.WaitGroup
		for range 100 {
			crowd.Go(func() {
				if got := findEmbedded(t, engine, 0, "orders"); got != "list_orders" {
					t.Errorf("got %q", got)
				}
			})
		}
		crowd.Wait()
		if s := x.Status(); s.Lexical != 100 || most.Load() > 16 {
			t.Errorf("%d at one time, %+v", most.Load(), s)
		}
	})
}

// TestCacheFails: without its cache it works as well.
func TestCacheFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, e := start(t, &endpoint{}, func(c *search.EmbeddingConfig) { c.Cache = &cache{err: errors.New("disk full")} })
		if got := findEmbedded(t, e, 1, "refund"); got != "reverse_charge" || x.Status().Failures == 0 || x.Status().Last != "disk full" {
			t.Errorf("got %q, %+v", got, x.Status())
		}
	})
}

// TestWire: headers reach the endpoint and no other host, and no error has them.
func TestWire(t *testing.T) {
	t.Parallel()
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	var redirect atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if r.Header.Get("Authorization") != "Bearer canary-1" || json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if redirect.Load() {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, vectors(in.Input))
	}))
	defer server.Close()
	config := search.EmbeddingConfig{URL: server.URL, Model: "toy", Timeout: time.Minute, Headers: map[string]secret.Text{"Authorization": secret.New("Bearer canary-1")}}
	x := search.NewEmbeddings(config)
	defer x.Close()
	e := &search.Engine{Meanings: x}
	e.Build("shop", tools())
	e.Wait(t.Context())
	x.Wait(t.Context())
	if got := findEmbedded(t, e, 1, "refund"); got != "reverse_charge" {
		t.Errorf("got %q, %+v", got, x.Status())
	}
	redirect.Store(true)
	findEmbedded(t, e, 1, "refund")
	server.Close()
	findEmbedded(t, e, 1, "refund")
	s := x.Status()
	if s.Lexical != 2 || stolen.Load() != 0 || strings.Contains(fmt.Sprintf("%+v %v", s, config), "canary-1") {
		t.Errorf("got %+v; %d requests went elsewhere", s, stolen.Load())
	}
	require.NoError(t, t.Context().Err())
}

// FuzzAnswer: no answer of an endpoint stops a search.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"data":[{"index":0,"embedding":[1,2,3,4]}]}`, `{"data":null}`, `{"data":[{"index":null,"embedding":[1]}]}`, "[]", "", `{"data":[{"embedding":[1e40]}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		e := &endpoint{}
		x, engine := start(t, e, nil)
		e.set(func(*http.Request, []string) (*http.Response, error) { return respond(200, answer), nil })
		if got := findEmbedded(t, engine, 0, "list_orders"); !strings.HasPrefix(got, "list_orders") {
			t.Errorf("%q: got %q, %+v", answer, got, x.Status())
		}
	})
}
