package search

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// EmbeddingKey is what a vector is kept by: the SHA-256 of the model and the text.
type EmbeddingKey = [sha256.Size]byte

// EmbeddingCache keeps vectors. It may be called concurrently.
type EmbeddingCache interface {
	// Vectors returns those that are kept.
	Vectors(ctx context.Context, keys []EmbeddingKey) (map[EmbeddingKey][]float32, error)
	Keep(ctx context.Context, vectors map[EmbeddingKey][]float32) error
}

// EmbeddingConfig says where vectors come from.
type EmbeddingConfig struct {
	// URL is that of the embeddings, such as http://127.0.0.1:11434/v1/embeddings.
	URL, Model string
	// Headers are sent to URL.
	Headers map[string]secret.Text
	// Dimensions is how long vectors are; 0 is as long as the model makes them.
	Dimensions int
	// Timeout is how long a search waits for the vector of its query; 0 is 300 ms.
	Timeout time.Duration
	// Batch is how many texts are in one request at most; 0 is 64.
	Batch int
	// Client sends the requests; nil is one of its own. It follows no redirect.
	Client *http.Client
	// EmbeddingCache keeps vectors; nil keeps them in memory alone.
	Cache EmbeddingCache
}

// DefaultTimeout is how long a search waits without a setting, DefaultBatch how many texts
// are in one request.
const (
	DefaultTimeout = 300 * time.Millisecond
	DefaultBatch   = 64
)

const (
	// maxText bounds the text of a tool, in bytes: models read no more of it.
	maxText = 2000
	// The worker waits so long after a failure, and twice as long after each further one.
	leastPause, mostPause = time.Second, 5 * time.Minute
	// batchTimeout bounds a request of the worker.
	batchTimeout = time.Minute
	// maxQueries is how many searches may wait for the endpoint at one time.
	maxQueries = 16
)

// EmbeddingStatus says how the index is.
type EmbeddingStatus struct {
	// Model names the model at the endpoint.
	Model string
	// Known is how many texts have a vector, Missing how many have none yet.
	Known, Missing int
	// Failures is how many requests of the worker failed; Lexical how many searches went
	// without the vector of their query.
	Failures, Lexical int
	// Last is why the last request failed that did, "" for none.
	Last string
}

// EmbeddingIndex has the vectors of the tools of servers, from an endpoint with the interface
// of OpenAI's embeddings. Vectors are asked for in the background, once for each text, and kept
// in an [EmbeddingCache]. A search asks for the vector of its query alone, and has a deadline
// for it. No failure of the endpoint is one of the search. It is a [Meanings], and safe for
// concurrent use.
type EmbeddingIndex struct {
	c       EmbeddingConfig
	ask     *client
	queries chan struct{}   // a place for each search that waits for the endpoint
	ctx     context.Context //nolint:containedctx // of the worker, which ends with Close
	stop    context.CancelFunc

	mu     sync.Mutex // guards what follows
	groups map[string][]embeddingEntry
	// unwanted are texts that the endpoint refuses.
	unwanted map[EmbeddingKey]bool
	// settled is closed when the worker has nothing to do, or waits after a failure.
	settled chan struct{}
	working sync.WaitGroup
	atWork  bool
	length  int // of a vector, 0 for unknown
	status  EmbeddingStatus
}

// embeddingEntry is a document. Slices of entries do not change.
type embeddingEntry struct {
	name, text string
	key        EmbeddingKey
	vector     []float32 // of length one; nil for unknown
}

// NewEmbeddings returns an index without documents. Close ends its work.
func NewEmbeddings(c EmbeddingConfig) *EmbeddingIndex {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Batch <= 0 {
		c.Batch = DefaultBatch
	}
	ctx, stop := context.WithCancel(context.Background())
	x := &EmbeddingIndex{
		c: c, ask: newClient(c), queries: make(chan struct{}, maxQueries), ctx: ctx, stop: stop,
		groups: map[string][]embeddingEntry{}, unwanted: map[EmbeddingKey]bool{}, settled: make(chan struct{}), length: c.Dimensions,
	}
	close(x.settled)
	return x
}

// Close ends the work in the background. Searches are answered as before.
func (x *EmbeddingIndex) Close() {
	x.stop()
	x.working.Wait()
}

// Learn puts documents in the place of those of a group. It returns at once.
func (x *EmbeddingIndex) Learn(group string, docs []Doc) {
	entries := make([]embeddingEntry, len(docs))
	for i, d := range docs {
		text := textOf(d)
		entries[i] = embeddingEntry{name: d.Name, text: text, key: x.key(text)}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	known := map[EmbeddingKey][]float32{}
	for _, e := range x.groups[group] {
		known[e.key] = e.vector
	}
	for i := range entries {
		entries[i].vector = known[entries[i].key]
	}
	if len(entries) == 0 {
		delete(x.groups, group)
		return
	}
	x.groups[group] = entries
	if !x.atWork && x.ctx.Err() == nil && len(x.missing()) > 0 {
		x.atWork, x.settled = true, make(chan struct{})
		x.working.Go(x.work) // ends when nothing is missing, or with Close
	}
}

// textOf returns the text whose meaning is that of a document.
func textOf(d Doc) string {
	text := strings.ToValidUTF8(d.Group+" "+strings.Join(Split(d.Name), " ")+": "+d.Text, "")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

func (x *EmbeddingIndex) key(text string) EmbeddingKey {
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", x.c.Model, x.c.Dimensions, text))
}

// missing returns the texts without a vector. x.mu is held.
func (x *EmbeddingIndex) missing() map[EmbeddingKey]string {
	out := map[EmbeddingKey]string{}
	for _, entries := range x.groups {
		for _, e := range entries {
			if e.vector == nil && !x.unwanted[e.key] {
				out[e.key] = e.text
			}
		}
	}
	return out
}

// work gets the vectors that are missing: those that are kept, then the others.
func (x *EmbeddingIndex) work() {
	looked, size, pause := map[EmbeddingKey]bool{}, x.c.Batch, leastPause
	for {
		x.mu.Lock()
		missing := x.missing()
		if len(missing) == 0 || x.ctx.Err() != nil {
			x.atWork = false
			x.settle()
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		x.lookUp(missing, looked)
		batch := slices.SortedFunc(maps.Keys(missing), func(a, b EmbeddingKey) int { return slices.Compare(a[:], b[:]) })
		if len(batch) == 0 {
			continue
		}
		batch = batch[:min(size, len(batch))]
		texts := make([]string, len(batch))
		for i, k := range batch {
			texts[i] = missing[k]
		}
		ctx, cancel := context.WithTimeout(x.ctx, batchTimeout)
		vectors, err := x.vectors(ctx, texts)
		cancel()
		switch {
		case err == nil:
			made := make(map[EmbeddingKey][]float32, len(batch))
			for i, k := range batch {
				made[k] = vectors[i]
			}
			if x.c.Cache != nil {
				x.report(x.c.Cache.Keep(x.ctx, made))
			}
			x.put(made)
			size, pause = min(2*size, x.c.Batch), leastPause
			continue
		case x.ctx.Err() != nil:
			continue
		case isRefusal(err) && len(batch) == 1:
			x.mu.Lock()
			x.unwanted[batch[0]] = true
			x.mu.Unlock()
		}
		x.report(err)
		x.mu.Lock()
		x.settle()
		x.mu.Unlock()
		size = max(1, len(batch)/2) // one text may be what is wrong
		select {
		case <-time.After(pause):
		case <-x.ctx.Done():
		}
		pause = min(2*pause, mostPause)
	}
}

// lookUp takes vectors that are kept out of what is missing. It looks for each once.
func (x *EmbeddingIndex) lookUp(missing map[EmbeddingKey]string, looked map[EmbeddingKey]bool) {
	if x.c.Cache == nil {
		return
	}
	var keys []EmbeddingKey
	for k := range missing {
		if !looked[k] {
			looked[k] = true
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return
	}
	cached, err := x.c.Cache.Vectors(x.ctx, keys)
	x.report(err)
	for k, v := range cached {
		if v, err := x.sound(v); err == nil {
			cached[k] = v
			delete(missing, k)
		} else {
			delete(cached, k)
		}
	}
	x.put(cached)
}

// put sets the vectors of the documents with these texts.
func (x *EmbeddingIndex) put(vectors map[EmbeddingKey][]float32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for group, entries := range x.groups {
		changed := slices.Clone(entries)
		for i, e := range changed {
			if v := vectors[e.key]; v != nil && e.vector == nil {
				changed[i].vector = v
			}
		}
		x.groups[group] = changed
	}
}

// settle wakes those who wait. x.mu is held.
func (x *EmbeddingIndex) settle() {
	select {
	case <-x.settled:
	default:
		close(x.settled)
	}
}

// report counts a failure of the worker.
func (x *EmbeddingIndex) report(err error) {
	if err == nil || x.ctx.Err() != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status.Failures++
	x.status.Last = err.Error()
}

// vectors asks for the vectors of texts.
func (x *EmbeddingIndex) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := x.ask.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i := range vectors {
		if vectors[i], err = x.sound(vectors[i]); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// sound returns a vector in the length one, or why it cannot be compared with others.
func (x *EmbeddingIndex) sound(v []float32) ([]float32, error) {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if sum <= 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return nil, fmt.Errorf("a vector of %d numbers has no direction", len(v))
	}
	x.mu.Lock()
	if x.length == 0 {
		x.length = len(v)
	}
	length := x.length
	x.mu.Unlock()
	if len(v) != length {
		return nil, fmt.Errorf("a vector has %d dimensions, want %d", len(v), length)
	}
	out := make([]float32, len(v))
	for i, f := range v {
		out[i] = float32(float64(f) / math.Sqrt(sum))
	}
	return out, nil
}

// Nearest returns the documents that have a vector, those nearest in meaning to a text
// first; nil if the vector of the text is not there in time.
func (x *EmbeddingIndex) Nearest(ctx context.Context, text string) []Found {
	x.mu.Lock()
	groups := maps.Clone(x.groups)
	x.mu.Unlock()
	if !slices.ContainsFunc(slices.Collect(maps.Values(groups)), func(g []embeddingEntry) bool {
		return slices.ContainsFunc(g, func(e embeddingEntry) bool { return e.vector != nil })
	}) {
		return nil // there is nothing to compare with
	}
	query, err := x.query(ctx, text)
	if err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.status.Lexical++
		x.status.Last = err.Error()
		return nil
	}
	var out []Found
	for group, entries := range groups {
		for _, e := range entries {
			if len(e.vector) == len(query) {
				out = append(out, Found{Group: group, Name: e.name, Score: cosine(query, e.vector)})
			}
		}
	}
	slices.SortFunc(out, Better)
	return out
}

// query returns the vector of a query, in time or not at all.
func (x *EmbeddingIndex) query(ctx context.Context, text string) ([]float32, error) {
	select {
	case x.queries <- struct{}{}:
		defer func() { <-x.queries }()
	default:
		return nil, fmt.Errorf("%d searches are waiting for the endpoint", maxQueries)
	}
	ctx, cancel := context.WithTimeout(ctx, x.c.Timeout)
	defer cancel()
	vectors, err := x.vectors(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// cosine compares two vectors of length one.
func cosine(a, b []float32) float64 {
	var sum float32
	for i, f := range a {
		sum += f * b[i]
	}
	return float64(sum)
}

// Wait waits until all texts have a vector, or a request for some has failed, or ctx is
// done.
func (x *EmbeddingIndex) Wait(ctx context.Context) {
	x.mu.Lock()
	settled := x.settled
	x.mu.Unlock()
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

// Status returns how the index is.
func (x *EmbeddingIndex) Status() EmbeddingStatus {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.status
	s.Model = x.c.Model
	for _, entries := range x.groups {
		for _, e := range entries {
			if e.vector != nil {
				s.Known++
			} else {
				s.Missing++
			}
		}
	}
	return s
}
