package registries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// fresh is how long a copy is searched without a request.
	fresh = time.Hour
	// leastPatience is how long a first copy has if the registry's own search has
	// answered.
	leastPatience = time.Second
	// rest is how long a registry that gave nothing is left alone.
	rest = 5 * time.Minute
)

// Search is one search in all registries.
type Search struct {
	Words string
	Type  string // of a package, or remote; "" is any
	Limit int
	// Pre leaves prereleases of servers that have a release.
	Pre bool
	// Refresh brings the copies up to date first, however long it takes.
	Refresh bool
}

// Found is what a search has found.
type Found struct {
	Hits []mirror.Hit // best first
	// Total counts the servers that match, as far as they were counted; More reports that
	// there are others.
	Total int
	More  bool
	Parts []Part // in the order of the registries

	asked map[string]*registry.Client // by their URLs
}

// Part is how one registry was searched.
type Part struct {
	URL string
	// AsOf is when the copy was true that was searched, zero if the registry's own search
	// was used.
	AsOf time.Time
	// Err is why a copy is not up to date, or why the registry was not searched.
	Err error

	live    *registry.List // of the registry's own search
	copied  int            // servers in a copy that is not complete
	copyErr error          // why no copy can be made, as far as this machine is the cause
	missing bool           // the registry was not searched at all
	alone   bool           // there can be no copy
}

// Search searches all registries: their copies, and the registry itself by its own
// search where there is no complete copy yet. Registries that fail are missing from the
// result; if all do, the first failure is the error.
func (p *Command) Search(ctx context.Context, s Search) (*Found, error) {
	wait := shortWait
	if s.Refresh {
		wait = longWait
	}
	clients, err := p.clients(wait)
	if err != nil {
		return nil, err
	}
	copies := p.copies()
	if copies != nil {
		defer func() { _ = copies.Close() }()
	}
	out := &Found{Parts: make([]Part, len(clients)), asked: map[string]*registry.Client{}}
	var wg sync.WaitGroup
	for i, c := range clients {
		out.asked[c.URL()] = c
		wg.Go(func() { out.Parts[i] = p.part(ctx, s, c, copies) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	missing := 0
	for _, part := range out.Parts {
		if part.Err != nil && s.Words == "" {
			return nil, part.Err // to refresh was all that was asked for
		}
		if part.missing {
			missing++
		}
	}
	if missing == len(out.Parts) {
		return nil, out.Parts[0].Err
	}
	if s.Words == "" {
		return out, nil
	}
	if err := p.merge(ctx, s, copies, out); err != nil {
		return nil, err
	}
	if !s.Pre {
		p.preferReleases(ctx, copies, out)
	}
	return out, nil
}

// part brings one registry's copy up to date as far as there is time, and asks the
// registry itself if there is none.
func (p *Command) part(ctx context.Context, s Search, c *registry.Client, copies *mirror.Mirror) Part {
	part := Part{URL: c.URL()}
	if copies == nil {
		if s.Refresh {
			return Part{URL: c.URL(), missing: true, Err: errors.New("there is no state directory for a copy of the registry; set MCPCTL_HOME")}
		}
		part.alone = true
		part.ask(ctx, c, s.Words)
		return part
	}
	st, err := copies.State(ctx, c.URL())
	rested := older(st.Failed, rest)
	switch {
	case err != nil:
		part.copyErr = err
	case s.Refresh:
		part.Err = p.refresh(ctx, c, copies)
	case st.Synced.IsZero() && rested:
		return p.first(ctx, s, c, copies)
	case !st.Synced.IsZero() && older(st.Synced, fresh) && rested:
		part.Err = p.update(ctx, c, copies)
	}
	part.search(ctx, copies)
	switch {
	case !part.AsOf.IsZero():
	case part.Err != nil && s.Refresh:
		part.missing = true
	default:
		part.ask(ctx, c, s.Words)
	}
	return part
}

// older reports whether a time is longer ago than that. One in the future is of a clock
// that was wrong.
func older(at time.Time, than time.Duration) bool {
	age := time.Since(at)
	return age > than || age < 0
}

// search notes what the copy is.
func (part *Part) search(ctx context.Context, copies *mirror.Mirror) {
	st, err := copies.State(ctx, part.URL)
	if err == nil {
		part.AsOf, part.copied = st.Synced, st.Servers
	}
}

// ask uses the registry's own search.
func (part *Part) ask(ctx context.Context, c *registry.Client, words string) {
	list, err := c.Search(ctx, words)
	if err != nil {
		part.Err, part.missing = err, true
		return
	}
	part.live, part.Err = list, nil
}

// first asks the registry and begins a copy of it side by side. A small registry is
// copied before it has answered, and the copy is searched then. Of a large one the copy
// grows with each search, but nobody waits for it.
func (p *Command) first(ctx context.Context, s Search, c *registry.Client, copies *mirror.Mirror) Part {
	part := Part{URL: c.URL()}
	asking, stopAsking := context.WithCancel(ctx)
	copying, stopCopying := context.WithTimeout(ctx, p.patience())
	defer stopAsking()
	defer stopCopying()
	answered, begun := make(chan struct{}), time.Now()
	go func() {
		defer close(answered)
		part.ask(asking, c, s.Words)
	}()
	err := copies.Sync(copying, c, mirror.Options{Progress: func(int, int) {
		select {
		case <-answered: // what has come of a large registry is kept for the next search
			if time.Since(begun) > leastPatience {
				stopCopying()
			}
		default:
		}
	}})
	st, stateErr := copies.State(ctx, c.URL())
	if stateErr == nil && !st.Synced.IsZero() {
		stopAsking()
		<-answered
		return Part{URL: c.URL(), AsOf: st.Synced}
	}
	<-answered
	part.copied = st.Servers
	var of *registry.Error
	var refused *runtime.ProtocolError
	if err != nil && copying.Err() == nil && !errors.Is(err, mirror.ErrBusy) && !errors.As(err, &of) && !errors.As(err, &refused) {
		part.copyErr = err
	}
	return part
}

// patience is how long a search waits for changes, or for a first copy.
func (p *Command) patience() time.Duration { return cmp.Or(p.Patience, 3*time.Second) }

// update asks for changes, but not for long.
func (p *Command) update(ctx context.Context, c *registry.Client, copies *mirror.Mirror) error {
	short, stop := context.WithTimeout(ctx, p.patience())
	defer stop()
	err := copies.Sync(short, c, mirror.Options{})
	switch {
	case errors.Is(err, mirror.ErrBusy):
		return nil // and the copy is new in a moment
	case err != nil && short.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("%s did not tell what has changed within %s", hostOf(c.URL()), p.patience())
	}
	return err
}

// refresh brings a copy up to date and shows how far it is.
func (p *Command) refresh(ctx context.Context, c *registry.Client, copies *mirror.Mirror) error {
	progress := p.UI.StartProgress()
	defer progress.Stop()
	begun, copied := time.Now(), 0
	o := mirror.Options{Whole: true, Progress: func(servers, pages int) {
		copied = servers
		progress.Update(runtime.Progress{Progress: float64(servers), Message: fmt.Sprintf("servers of %s, %s read", hostOf(c.URL()), plain.Count(pages, "page"))})
	}}
	err := copies.Sync(ctx, c, o)
	if errors.Is(err, mirror.ErrBusy) {
		p.UI.Info("another mcpctl copies %s; this one waits for it", hostOf(c.URL()))
		o.Wait = time.Hour
		err = copies.Sync(ctx, c, o)
	}
	progress.Stop()
	switch {
	case err == nil:
		st, _ := copies.State(ctx, c.URL())
		p.UI.Info("the copy of %s has %s (%s)", hostOf(c.URL()), plain.Count(st.Servers, "server"), ui.Since(time.Since(begun)))
	case copied > 0:
		p.UI.Info("the copy of %s is not complete: %s so far; mcpctl search --refresh continues there", hostOf(c.URL()), plain.Count(copied, "server"))
	}
	return err
}

// merge searches the copies, and puts what registries have answered behind that.
func (p *Command) merge(ctx context.Context, s Search, copies *mirror.Mirror, out *Found) error {
	var urls []string
	order := map[string]int{}
	for i, part := range out.Parts {
		order[part.URL] = i
		if !part.AsOf.IsZero() {
			urls = append(urls, part.URL)
		}
	}
	var all []mirror.Hit
	if len(urls) > 0 {
		res, err := copies.Search(ctx, mirror.Query{Words: s.Words, Registries: urls, Type: s.Type, Limit: s.Limit})
		if err != nil {
			return err
		}
		all, out.Total, out.More = res.Hits, res.Total, res.More
	}
	for _, part := range out.Parts {
		if part.live == nil {
			continue
		}
		for _, rec := range part.live.Records {
			if adding.HasType(&rec.Server, s.Type) {
				all = append(all, mirror.Hit{Record: rec, Registry: part.URL})
				out.Total++
			}
		}
	}
	best := map[string]int{}
	for _, h := range all {
		name := h.Record.Server.Name
		if have, ok := best[name]; !ok || order[h.Registry] < have {
			best[name] = order[h.Registry]
		}
	}
	for _, h := range all {
		if best[h.Record.Server.Name] == order[h.Registry] && len(out.Hits) < s.Limit {
			out.Hits = append(out.Hits, h)
		}
	}
	return nil
}

// Live reports whether a registry's own search was used.
func (f *Found) Live() bool {
	for _, part := range f.Parts {
		if part.live != nil {
			return true
		}
	}
	return false
}

// Notes returns what is to be said of each registry, one line each.
func (f *Found) Notes() (notes []string) {
	for _, part := range f.Parts {
		if text := part.remark(time.Now()); text != "" {
			if len(f.Parts) > 1 {
				text = hostOf(part.URL) + ": " + text
			}
			notes = append(notes, text)
		}
	}
	return notes
}

// unsaid is the age of a copy that is not worth a line.
const unsaid = time.Minute

func (part *Part) remark(now time.Time) string {
	age := now.Sub(part.AsOf)
	switch {
	case part.missing:
		return fmt.Sprintf("warning: not searched: %v", part.Err)
	case part.live != nil && part.copyErr != nil:
		return fmt.Sprintf("warning: the copy of the registry cannot be used: %v", part.copyErr)
	case part.live != nil && part.alone:
		return ""
	case part.live != nil:
		text := "only names were searched; mcpctl search --refresh copies the registry, so that titles and descriptions are searched, too"
		if part.copied > 0 {
			text += fmt.Sprintf(" (%s so far)", plain.Count(part.copied, "server"))
		}
		return text
	case part.Err != nil:
		return fmt.Sprintf("warning: %v; this is the copy as of %s ago", part.Err, ui.Since(age))
	case age > unsaid:
		return fmt.Sprintf("as of %s ago", ui.Since(age))
	}
	return ""
}

// hostOf returns the host of a URL, for people.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	return u.Host + u.Path
}

// Skipped counts the items of the registry's own search that could not be read.
func (part *Part) Skipped() int {
	if part.live == nil {
		return 0
	}
	return part.live.Skipped
}
