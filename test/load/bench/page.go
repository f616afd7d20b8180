package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// publish writes the raw figures, the plots, and the parts of the page that
// stand between <!-- bench:NAME --> and <!-- bench:end -->.
func publish(root string, r *report) error {
	r.Rows = evaluate(r)
	if err := save(filepath.Join(root, filepath.FromSlash(figureFile)), r); err != nil {
		return err
	}
	files, err := rendered(root, r)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rendered returns everything that follows from the figures, by the file's name
// in the checkout.
func rendered(root string, r *report) (map[string]string, error) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(pageFile)))
	if err != nil {
		return nil, err
	}
	text, err := fill(string(page), map[string]string{
		"machine": machineText(r), "speed": speedTable(r), "runs": runsTable(r), "callers": callersTable(r), "lists": listTable(r),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pageFile, err)
	}
	files := map[string]string{pageFile: text}
	for name, plot := range plots(r) {
		files[figureDir+"/"+name+".svg"] = plot.svg()
	}
	return files, nil
}

// fill puts parts between their marks.
func fill(page string, parts map[string]string) (string, error) {
	for name, text := range parts {
		begin := "<!-- bench:" + name + " -->\n"
		const end = "<!-- bench:end -->"
		head, rest, ok := strings.Cut(page, begin)
		if !ok {
			return "", fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
		}
		i := strings.Index(rest, end)
		if i < 0 {
			return "", fmt.Errorf("%q has no end", strings.TrimSpace(begin))
		}
		page = head + begin + "\n" + text + "\n" + rest[i:]
	}
	return page, nil
}

func machineText(r *report) string {
	m := r.Machine
	changed := ""
	if m.Changed {
		changed = ", with changes that are not committed"
	}
	noisy := 0
	for _, row := range r.Rows {
		if row.Noisy {
			noisy++
		}
	}
	text := fmt.Sprintf("Measured on %s by `make bench` in %.0f s: %d cores of %s, %s, %s, Linux %s, %s; commit %s%s.\n",
		m.Date, r.Seconds, m.Cores, m.CPU, m.Memory, m.OS, m.Kernel, m.Go, m.Commit, changed)
	if !strings.HasPrefix(m.OS, "linux") {
		text = strings.Replace(text, "Linux ", "", 1)
	}
	for _, group := range slices.Sorted(maps.Keys(r.Apart)) {
		m := r.Apart[group]
		text += fmt.Sprintf("\nMeasured apart, on %s: %s, on %d cores of %s, %s; commit %s.\n", m.Date, group, m.Cores, m.CPU, m.Go, m.Commit)
	}
	if r.Short {
		text += "\n**This was a quick look, with few and short rounds: its figures are not to be trusted.**\n"
	}
	if noisy > 0 {
		text += fmt.Sprintf("\n**%d of these rows were measured on a machine that was not quiet, and are marked: their figures are not to be trusted.**\n", noisy)
	}
	return text
}

func speedTable(r *report) string {
	var b strings.Builder
	b.WriteString("| what | reference | mcpctl | measured | required | |\n|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		reference, got := row.Reference, row.Got
		if reference == "" { // what is measured is the figure itself
			reference, got = "–", "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | **%s** | %s | %s |\n", row.What, reference, got, row.value(), row.required(), row.verdict())
	}
	return b.String()
}

func runsTable(r *report) string {
	var b strings.Builder
	b.WriteString("| runs of the table | calls/s | p50 | p99 | CPU a call | most memory |\n|---|---|---|---|---|---|\n")
	for _, group := range []struct{ name, what string }{
		{"stdio", "stdio, 32 callers"},
		{"single", "stdio, 1 caller"},
		{"large", "stdio, 64 KiB, 8 callers"},
		{"http", "HTTP, 32 callers"},
		{"bridge", "stdio → HTTP, 32 callers"},
		{"sessions", "HTTP, 64 sessions × 4 callers"},
		{"identity", "HTTP, 32 callers"},
		{"policy", "HTTP, 32 callers"},
		{"policy-stdio", "stdio, 32 callers"},
		{"policy-single", "stdio, 1 caller"},
		{"audit", "HTTP, 32 callers"},
		{"audit-stdio", "stdio, 32 callers"},
	} {
		l := r.Loads[group.name]
		if l == nil {
			continue
		}
		for _, who := range []string{"relay", "direct", "serve", "serve-stateless", "serve-remote", "bridge", "token", "jwt", "policy", "arguments", "audit"} {
			runs := l[who]
			if len(runs) == 0 {
				continue
			}
			m := func(k kind) string { return fmt.Sprintf(k.show, median(values(runs, k))) }
			fmt.Fprintf(&b, "| %s: %s | %s | %s | %s | %s | %.1f MB |\n", group.what, names[who],
				strings.TrimSuffix(m(rate), "/s"), m(halfTime), m(worstTime), m(cpu), mb(peakOf(runs)))
		}
	}
	if m := r.Memory; m["idle"] > 0 {
		fmt.Fprintf(&b, "\nMemory with 50 servers × 100 tools configured and nobody calling: %.1f MB, %.1f MB after all tools were listed once. After the "+
			"calls of 256 callers: %.1f MB over stdio, %.1f MB over HTTP; at most, meanwhile, %.1f MB and %.1f MB.\n",
			mb(m["idle"]), mb(m["idle-listed"]), mb(m["after-calls-stdio"]), mb(m["after-calls-http"]), mb(m["peak-calls-stdio"]), mb(m["peak-calls-http"]))
	}
	return b.String()
}

// names are what the page calls those that were measured.
var names = map[string]string{
	"relay": "a relay", "direct": "the server, called directly", "serve": "serve", "serve-stateless": "serve, stateless client", "serve-remote": "serve, server over HTTP",
	"bridge": "bridge", "token": "serve, with a token", "jwt": "serve, with an access token",
	"policy": "the same, 50 policies", "arguments": "the same, two of them about arguments",
	"audit": "the same, 50 policies and the audit log",
}

func callersTable(r *report) string {
	var b strings.Builder
	b.WriteString("| callers |")
	for _, c := range curveNames {
		fmt.Fprintf(&b, " %s: calls/s | p99 |", c.title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|---|", len(curveNames)) + "\n")
	for i, n := range callersOf(r) {
		fmt.Fprintf(&b, "| %d |", n)
		for _, c := range curveNames {
			rate, worst := curvePoint(r, c.key, i)
			fmt.Fprintf(&b, " %.0f | %.2f ms |", rate, worst/1000)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func listTable(r *report) string {
	var b strings.Builder
	b.WriteString("| tools | servers | pages | size | start → first list | its first page | again | a page again | nothing known | servers started |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, l := range r.Lists {
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %.1f ms | %.1f ms | %.2f ms | %.2f ms | %.0f ms | %d |\n", thousands(l.Tools), l.Backends, l.Pages,
			size(l.Bytes), median(l.First), median(l.FirstPage), median(l.Again), median(l.Page), median(l.Cold), l.Started)
	}
	return b.String()
}

func size(bytes int) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%d kB", (bytes+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// callersOf are the numbers of callers of the curves.
func callersOf(r *report) []int {
	var out []int
	for _, rounds := range r.Curves[curveNames[0].key] {
		if len(rounds) > 0 {
			out = append(out, rounds[0].Callers)
		}
	}
	return out
}

// curvePoint returns the medians of calls a second and of p99.
func curvePoint(r *report, key string, i int) (perSecond, worst float64) {
	if i >= len(r.Curves[key]) {
		return 0, 0
	}
	rounds := r.Curves[key][i]
	return median(values(rounds, rate)), median(values(rounds, worstTime))
}
