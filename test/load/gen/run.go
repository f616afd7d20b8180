package gen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// Work is what the callers do.
type Work struct {
	// Callers is how many call at once, each one call after the other; 0 is 1.
	Callers int
	// Duration is for how long; calls that have begun are waited for, and each caller
	// makes at least one. Count,
	// where it is not 0, ends the run after so many calls instead; Duration
	// (0 is 10 minutes) then bounds how long they may take together.
	Duration time.Duration
	Count    int64
	// Warmup is how many calls come before the first that is measured: 0 is
	// 200, a negative number none.
	Warmup int
	// Tool is the end of the tool's name, "" for echo. It has to answer with
	// the text that its argument "text" holds.
	Tool string
	// Size is the size of that text in bytes; 0 is 100.
	Size int
	// Grace is how long calls may take that are under way at the end; 0 is 60 s.
	Grace time.Duration
}

func (w Work) withDefaults() (Work, error) {
	w.Callers = max(w.Callers, 1)
	if w.Callers > maxCallers {
		return w, fmt.Errorf("gen: at most %d callers", maxCallers)
	}
	if w.Warmup == 0 {
		w.Warmup = 200
	}
	if w.Tool == "" {
		w.Tool = "echo"
	}
	if w.Size == 0 {
		w.Size = 100
	}
	if w.Grace == 0 {
		w.Grace = time.Minute
	}
	if w.Duration <= 0 {
		if w.Count <= 0 {
			return w, errors.New("gen: work needs a duration or a count")
		}
		w.Duration = 10 * time.Minute
	}
	return w, nil
}

// Result is what a run measured. Times are in microseconds, memory in kB.
type Result struct {
	Callers int `json:"callers"`
	// Calls is how many were answered rightly. Errors had no such answer;
	// Wrong of them, and answers that nobody waited for, were answered wrongly.
	Calls      int64  `json:"calls"`
	Errors     int64  `json:"errors"`
	Wrong      int64  `json:"wrong"`
	FirstError string `json:"first_error,omitempty"`

	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`

	P50 float64 `json:"p50_us"`
	P90 float64 `json:"p90_us"`
	P99 float64 `json:"p99_us"`
	Max float64 `json:"max_us"`

	// CPU is the measured process's own time for each call, its children's not
	// counted; PeakKB the most memory that it ever had resident, KB what it has
	// at the end. All are 0 where the system does not report them.
	CPU    float64 `json:"cpu_us_per_call,omitempty"`
	PeakKB int64   `json:"peak_rss_kb,omitempty"`
	KB     int64   `json:"rss_kb,omitempty"`
}

// Err reports whether anything of the run was not as it has to be.
func (r Result) Err() error {
	switch {
	case r.Wrong > 0:
		return fmt.Errorf("%w: %d of %d calls: %s", ErrWrong, r.Wrong, r.Calls+r.Errors, r.FirstError)
	case r.Errors > 0:
		return fmt.Errorf("%d of %d calls failed: %s", r.Errors, r.Calls+r.Errors, r.FirstError)
	case r.Calls == 0:
		return errors.New("no call was made")
	}
	return nil
}

// maxErrors ends a run that only fails.
const maxErrors = 1000

// Run lets the callers call. The error says why there is no result; calls that
// fail are in the result (Result.Err).
func (c *Conn) Run(ctx context.Context, work Work) (Result, error) {
	w, err := work.withDefaults()
	if err != nil {
		return Result{}, err
	}
	name, err := c.Find(ctx, w.Tool)
	if err != nil {
		return Result{}, err
	}
	r := &run{conn: c, work: w, name: name, callers: make([]caller, w.Callers)}
	if c.target.stateless() {
		r.meta = json.RawMessage(metaFor(c.target.revision()))
	}
	for i := range r.callers {
		r.callers[i] = caller{run: r, number: i, peer: c.peers[i%len(c.peers)]}
	}
	if err := r.warmUp(ctx); err != nil {
		return Result{}, fmt.Errorf("warm-up: %w", err)
	}
	return r.measure(ctx), nil
}

// run is the state of one Run.
type run struct {
	conn    *Conn
	work    Work
	name    string
	meta    json.RawMessage // "_meta" of a call, nil for none
	callers []caller

	begun, errs, wrong atomic.Int64
	first              atomic.Pointer[string]
}

// caller is one of the callers, used by one goroutine.
type caller struct {
	run    *run
	number int
	peer   peer
	n      uint64
	text   []byte
	took   []time.Duration
}

type callParams struct {
	Name      string `json:"name"`
	Arguments struct {
		Text string `json:"text"`
	} `json:"arguments"`
	Meta json.RawMessage `json:"_meta,omitempty"`
}

// warmUp lets all callers call, so that each connection is there.
func (r *run) warmUp(ctx context.Context) error {
	if r.work.Warmup < 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.work.Grace)
	defer cancel()
	each := max(1, r.work.Warmup/len(r.callers))
	errs := make([]error, len(r.callers))
	var wg sync.WaitGroup
	for i := range r.callers {
		wg.Go(func() {
			for range each {
				if errs[i] = r.callers[i].once(ctx); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) measure(ctx context.Context) Result {
	before := wire.ReadUsage(r.conn.pid)
	strays := r.conn.strays()
	begin := time.Now()
	end := begin.Add(r.work.Duration)
	ctx, stop := context.WithDeadlineCause(ctx, end.Add(r.work.Grace), fmt.Errorf("no answer within %v of the end of the run", r.work.Grace))
	defer stop()
	var wg sync.WaitGroup
	for i := range r.callers {
		wg.Go(func() { r.callers[i].loop(ctx, end) })
	}
	wg.Wait()
	took := time.Since(begin)
	after := wire.ReadUsage(r.conn.pid)

	var all []time.Duration
	for i := range r.callers {
		all = append(all, r.callers[i].took...)
	}
	slices.Sort(all)
	us := func(q float64) float64 { return float64(Quantile(all, q).Nanoseconds()) / 1000 }
	res := Result{
		Callers: len(r.callers), Calls: int64(len(all)), Errors: r.errs.Load(), Wrong: r.wrong.Load(),
		Seconds: took.Seconds(), PerSecond: float64(len(all)) / took.Seconds(),
		P50: us(.5), P90: us(.9), P99: us(.99), Max: us(1),
		PeakKB: after.PeakKB, KB: after.KB,
	}
	if after.CPU > 0 && len(all) > 0 {
		res.CPU = float64((after.CPU - before.CPU).Nanoseconds()) / 1000 / float64(len(all))
	}
	if p := r.first.Load(); p != nil {
		res.FirstError = *p
	}
	if n := r.conn.strays() - strays; n > 0 {
		res.Wrong += n
		if res.FirstError == "" {
			res.FirstError = r.conn.stray()
		}
	}
	return res
}

func (c *Conn) strays() int64 {
	var sum int64
	for _, p := range c.peers {
		n, _ := p.stray()
		sum += n
	}
	return sum
}

func (c *Conn) stray() string {
	for _, p := range c.peers {
		if _, text := p.stray(); text != "" {
			return text
		}
	}
	return ""
}

// loop calls until the end, and at least once: on a busy machine the end can come before a
// caller has begun.
func (c *caller) loop(ctx context.Context, end time.Time) {
	r := c.run
	c.took = make([]time.Duration, 0, 1<<10)
	begin := time.Now()
	for first := true; ; first = false {
		if !first && begin.After(end) || r.work.Count > 0 && r.begun.Add(1) > r.work.Count {
			return
		}
		err := c.once(ctx)
		now := time.Now()
		if err == nil {
			c.took = append(c.took, now.Sub(begin))
		} else if r.failed(err) || ctx.Err() != nil {
			return
		}
		begin = now
	}
}

// failed counts an error and reports whether it was one too many.
func (r *run) failed(err error) bool {
	if errors.Is(err, ErrWrong) {
		r.wrong.Add(1)
	}
	text := err.Error()
	r.first.CompareAndSwap(nil, &text)
	return r.errs.Add(1) > maxErrors
}

// once makes one call and checks its answer.
func (c *caller) once(ctx context.Context) error {
	c.n++
	c.text = textFor(c.text[:0], c.number, c.n, c.run.work.Size)
	params := callParams{Name: c.run.name}
	params.Arguments.Text = string(c.text)
	params.Meta = c.run.meta
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	a, err := c.peer.call(ctx, c.number, "tools/call", c.run.name, encoded)
	if err != nil {
		return err
	}
	return checkText(a.result, params.Arguments.Text)
}

// Quantile returns the value below which the share q (0 to 1) of sorted lies; of
// none it is 0.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}
