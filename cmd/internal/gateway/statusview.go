package gateway

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// StatusHead returns what is above the table of servers: the process, its configuration and
// its clients.
func (s *Status) StatusHead(now time.Time) string {
	var b strings.Builder
	where := "standard input and output"
	if len(s.Listening) > 0 {
		where = strings.Join(s.Listening, ", ")
	}
	what := "serve"
	if s.Transport == "session" {
		what = "session"
	}
	fmt.Fprintf(&b, "%s %d, mcpctl %s, up %s, on %s\n", what, s.PID, ui.CleanLine(s.Version), since(s.Started, now), ui.CleanLine(where))
	if s.Config.Path != "" {
		fmt.Fprintf(&b, "configuration %s, read %s ago\n", ui.CleanLine(s.Config.Path), since(s.Config.Loaded, now))
	}
	if s.Config.Problem != "" {
		fmt.Fprintf(&b, "  not in force: %s\n", ui.CleanLine(s.Config.Problem))
	}
	b.WriteString(s.Access.accessLines(now))
	b.WriteString(s.Policy.policyLines(now))
	b.WriteString(auditLines(s.Audit, now))
	if s.Process != nil {
		fmt.Fprintf(&b, "memory %s, computing time %s\n", memory(s.Process.RSS), computing(s.Process.CPU))
	}
	if !s.Ready {
		b.WriteString("it is ending: new requests are refused\n")
	}
	b.WriteString(clientsLine(s.Clients, now))
	b.WriteString(listLines(s.Lists, s.Views))
	for _, bound := range s.Bounds {
		if bound.Used > bound.Max/2 {
			fmt.Fprintf(&b, "%s: %d of %d\n", ui.CleanLine(bound.Name), bound.Used, bound.Max)
		}
	}
	return b.String()
}

// StatusTable returns the table of servers, their states painted by state.
func (s *Status) StatusTable(now time.Time, state func(string) string) ui.Table {
	rows := make([][]string, len(s.Backends))
	for i := range s.Backends {
		rows[i] = backendRow(&s.Backends[i], now)
	}
	table := ui.Table{Rows: rows, Paint: map[int]func(string) string{1: state}}
	table.Headers = []string{"SERVER", "STATE", "PID", "UP", "CALLS", "FAILED", "NOW", "P50", "P99", "RESTARTS", "MEMORY", "CPU", "OFFERS", "NEXT"}
	return table
}

// StatusTroubles returns what is below the table: what servers did wrong.
func (s *Status) StatusTroubles(now time.Time) string {
	var b strings.Builder
	for _, one := range s.Backends {
		for _, conn := range one.Connections {
			if conn.Malformed > 0 {
				fmt.Fprintf(&b, "%s: malformed lines of its output left out: %d\n", ui.CleanLine(one.Name), conn.Malformed)
			}
		}
		if one.Catalog != nil && one.Catalog.Pin != nil {
			pin := one.Catalog.Pin
			fmt.Fprintf(&b, "%s: not as it is locked: %s (%s)\n", ui.CleanLine(one.Name), ui.CleanLine(pin.Difference), ui.CleanLine(pin.Fix))
		}
		if e := one.LastError; e != nil {
			fmt.Fprintf(&b, "%s, %s ago: %s\n", ui.CleanLine(one.Name), since(e.At, now), ui.CleanLine(e.Message))
		}
	}
	return b.String()
}

func backendRow(b *proxy.BackendStatus, now time.Time) []string {
	pids, up := "", ""
	if n := len(b.Connections); n > 0 {
		first := b.Connections[0]
		up = since(first.Since, now)
		if first.PID > 0 {
			pids = strconv.Itoa(first.PID)
		}
		if n > 1 {
			pids = strings.TrimSpace(fmt.Sprintf("%s +%d", pids, n-1))
		}
	}
	p50, p99 := "", ""
	if l := b.Latency; l != nil {
		p50, p99 = latency(l.P50), latency(l.P99)
	}
	rss, cpu := "", ""
	if u := b.Usage; u != nil {
		rss, cpu = memory(u.RSS), computing(u.CPU)
	}
	state := b.State
	if b.Paused {
		state = "paused"
	}
	return []string{
		b.Name, state, pids, up, strconv.FormatUint(b.Calls, 10), strconv.FormatUint(b.FailedCalls, 10), strconv.FormatInt(b.InFlight, 10),
		p50, p99, strconv.FormatUint(b.Restarts, 10), rss, cpu, offers(b.Catalog, now), next(b, now),
	}
}

// offers returns a server's numbers of tools, prompts, resources and templates, and
// their age if they were stored by another process.
func offers(c *proxy.CatalogStatus, now time.Time) string {
	if c == nil {
		return "not known"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.Tools, "tool"}, {c.Prompts, "prompt"}, {c.Resources, "resource"}, {c.Templates, "template"}} {
		if p.n > 0 {
			parts = append(parts, plain.Count(p.n, p.word))
		}
	}
	if parts == nil {
		parts = []string{"nothing"}
	}
	text := strings.Join(parts, ", ")
	if c.Source == proxy.SourceStored {
		text += " (stored"
		if !c.Verified.IsZero() {
			text += " " + since(c.Verified, now) + " ago"
		}
		text += ")"
	}
	if len(c.Missing) > 0 {
		text += ", a list is missing"
	}
	return text
}

// next returns what happens to a server that is not called.
func next(b *proxy.BackendStatus, now time.Time) string {
	switch {
	case !b.NextTry.IsZero():
		return "try in " + since(now, b.NextTry)
	case !b.NextReap.IsZero():
		return "close in " + since(now, b.NextReap)
	}
	return ""
}

// clientsLine lists the clients, the last seen first.
func clientsLine(c proxy.ClientsStatus, now time.Time) string {
	const most = 5
	var parts []string
	for i, one := range c.Recent {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", c.Sessions-most))
			break
		}
		name := strings.TrimSpace(one.Name + " " + one.Version)
		if name == "" {
			name = "unnamed"
		}
		if one.Principal != "" {
			name += " of " + one.Principal
		}
		text := fmt.Sprintf("%s over %s, seen %s ago", name, one.Transport, since(one.LastSeen, now))
		if one.InFlight > 0 {
			text += fmt.Sprintf(", waits for %d", one.InFlight)
		}
		parts = append(parts, ui.CleanLine(text))
	}
	if n := c.Stateless.Requests; n > 0 {
		parts = append(parts, plain.Count(int(n), "request")+" without a session") //nolint:gosec // nobody counts that far
	}
	if parts == nil {
		parts = []string{"none"}
	}
	return "clients: " + strings.Join(parts, "; ") + "\n"
}

// listLines says what lists of tools cost, a line for each.
func listLines(lists []proxy.ListStatus, sessions map[string]int) string {
	var b strings.Builder
	for _, l := range lists {
		what := "tools"
		if l.View != "" {
			what = "view " + ui.CleanLine(l.View)
		}
		fmt.Fprintf(&b, "%s: ≈ %d tokens as a list, %d as search; clients get ", what, l.All, l.Search)
		cost := l.All
		if l.Chosen == views.ListSearch {
			cost = l.Search
			b.WriteString("search")
		} else {
			b.WriteString("the list")
		}
		switch {
		case l.Budget > 0 && cost > l.Budget:
			fmt.Fprintf(&b, ", over the budget of %d", l.Budget)
		case l.Budget > 0:
			fmt.Fprintf(&b, " (budget %d)", l.Budget)
		}
		if n := sessions[l.View]; n > 0 {
			fmt.Fprintf(&b, "; %s", plain.Count(n, "session"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// StatusGeneration returns the beginning of a digest of policies, which is enough to tell two
// apart.
func StatusGeneration(digest string) string {
	const shown = 12
	hex := strings.TrimPrefix(digest, "sha256:")
	return hex[:min(shown, len(hex))]
}

// policyLines returns which policies count, "" where there are none.
func (p *PolicyStatus) policyLines(now time.Time) string {
	if p == nil {
		return ""
	}
	text := "no policies\n"
	if p.Digest != "" {
		text = fmt.Sprintf("%s, generation %s, read %s ago\n", plain.Count(p.Policies, "policy"), StatusGeneration(p.Digest), since(p.Loaded, now))
	}
	if p.Problem != "" {
		text += fmt.Sprintf("  not in force: %s\n", ui.CleanLine(p.Problem))
	}
	for _, unmatched := range p.Unmatched {
		text += fmt.Sprintf("  matches nothing: %s\n", ui.CleanLine(unmatched))
	}
	return text
}

// auditLines says how the audit log is, nothing without one.
func auditLines(a *auditing.Status, now time.Time) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "audit log: %s, %s", plain.Count(int(a.Records), "record"), memory(a.Bytes))
	switch {
	case a.Records == 0:
	case a.Checkpoint.IsZero():
		fmt.Fprintf(&b, ", %d of them signed", a.Signed)
	default:
		fmt.Fprintf(&b, ", %d of them signed, last %s ago", a.Signed, since(a.Checkpoint, now))
	}
	if a.Waiting > 0 {
		fmt.Fprintf(&b, ", %d on their way", a.Waiting)
	}
	b.WriteString("\n")
	if a.Unwritten > 0 {
		fmt.Fprintf(&b, "  not recorded: %s\n", plain.Count(int(min(a.Unwritten, math.MaxInt)), "request"))
	}
	if a.Problem != "" {
		what := "requests are refused"
		if !a.Required {
			what = "requests are not recorded"
		}
		fmt.Fprintf(&b, "  %s: %s\n", what, ui.CleanLine(a.Problem))
	}
	if a.Elsewhere != "" {
		fmt.Fprintf(&b, "  not exported by this process: %s\n", ui.CleanLine(a.Elsewhere))
	}
	for _, e := range a.Exports {
		if e.Dropped > 0 {
			fmt.Fprintf(&b, "  %s has refused %s for good\n", ui.CleanLine(e.Target), plain.Count(int(e.Dropped), "record"))
		}
		if e.Problem != "" {
			fmt.Fprintf(&b, "  %s gets nothing, for %s now: %s\n", ui.CleanLine(e.Target), since(e.Since, now), ui.CleanLine(e.Problem))
		}
	}
	return b.String()
}

// accessLines says who may come and who has, nothing where nobody is asked.
func (a *AccessStatus) accessLines(now time.Time) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "credentials: %s", strings.Join(a.Providers, ", "))
	var refused []string
	for _, reason := range slices.Sorted(maps.Keys(a.Refused)) {
		word := reason
		if reason == access.ErrNoCredential.Reason {
			word = "no credential"
		}
		refused = append(refused, fmt.Sprintf("%s %d", ui.CleanLine(word), a.Refused[reason]))
	}
	if refused != nil {
		fmt.Fprintf(&b, "; refused: %s", strings.Join(refused, ", "))
	}
	if a.IgnoredHeaders > 0 {
		fmt.Fprintf(&b, "; identity headers ignored: %d", a.IgnoredHeaders)
	}
	b.WriteString("\n")
	if a.Problem != "" {
		fmt.Fprintf(&b, "  not in force: %s\n", ui.CleanLine(a.Problem))
	}
	const most = 5
	var parts []string
	for i, one := range a.Recent {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", a.Principals-most))
			break
		}
		parts = append(parts, ui.CleanLine(fmt.Sprintf("%s, %s, seen %s ago", one.ID, plain.Count(int(one.Requests), "request"), since(one.LastSeen, now)))) //nolint:gosec // nobody counts that far
	}
	if parts != nil {
		fmt.Fprintf(&b, "principals: %s\n", strings.Join(parts, "; "))
	}
	return b.String()
}

// since formats the time between two moments; see [ui.Since].
func since(from, to time.Time) string {
	return ui.Since(to.Sub(from))
}

// latency formats a time in milliseconds, with three digits.
func latency(ms float64) string {
	switch {
	case ms < 1:
		return fmt.Sprintf("%.0fµs", ms*1000)
	case ms < 100:
		return fmt.Sprintf("%.3gms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.3gs", ms/1000)
}

// memory formats a number of bytes, "" if unknown.
func memory(n int64) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// computing formats a time in seconds, "" if unknown.
func computing(s float64) string {
	switch {
	case s < 0:
		return ""
	case s < 60:
		return fmt.Sprintf("%.2gs", s)
	}
	return since(time.Time{}, time.Time{}.Add(time.Duration(s*float64(time.Second))))
}
