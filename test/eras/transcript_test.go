package eras_test

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// wireCase is one transcript: a client of a revision, over an endpoint, and a
// server behind the proxy.
type wireCase struct {
	bridge, revision, endpoint, back string
}

func (c wireCase) name() string {
	return fmt.Sprintf("%s-%s-%s-to-%s", c.bridge, c.revision, c.endpoint, c.back)
}

// wireCases are the transcripts that there are: for each revision and transport
// a server of each era.
func wireCases() []wireCase {
	var out []wireCase
	for _, c := range []struct{ revision, endpoint, legacy, modern string }{
		{runtimetest.Rev2024, "sse", "sse", "modern-http"},
		{runtimetest.RevMar, "stdio", "stdio", "modern-stdio"},
		{runtimetest.RevMar, "http", "http", "modern-http"},
		{runtimetest.RevJune, "stdio", "stdio", "modern-stdio"},
		{runtimetest.RevJune, "http", "http", "modern-http"},
		{runtimetest.RevNov, "stdio", "stdio", "modern-stdio"},
		{runtimetest.RevNov, "http", "http", "modern-http"},
	} {
		out = append(out, wireCase{"D", c.revision, c.endpoint, c.legacy}, wireCase{"B", c.revision, c.endpoint, c.modern})
	}
	for _, c := range slices.Clone(out) { // tools are found: see searchSteps
		if c.bridge == "D" {
			out = append(out, wireCase{"S", c.revision, c.endpoint, c.back})
		}
	}
	return append(out,
		wireCase{"S", runtimetest.Rev2024, "stdio", "stdio"},
		wireCase{"S", runtimetest.RevJuly, "modern-stdio", "stdio"}, wireCase{"S", runtimetest.RevJuly, "modern-http", "http"},
		wireCase{"C", runtimetest.RevJuly, "modern-stdio", "stdio"}, wireCase{"C", runtimetest.RevJuly, "modern-http", "http"},
		wireCase{"A", runtimetest.RevJuly, "modern-stdio", "modern-stdio"}, wireCase{"A", runtimetest.RevJuly, "modern-http", "modern-http"})
}

// TestTranscripts plays the client's side of each file of testdata/wire against
// a proxy and checks for the same bytes on all four legs; testdata/wire/README.md
// says how to read them. With -update it writes what there is instead.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	for _, c := range wireCases() {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "wire", c.name()+".txtar")
			want, err := os.ReadFile(path)
			if err != nil && !*update {
				t.Fatal(err)
			}
			tr := &transcript{c: c, want: string(want)}
			if err := tr.play(); err != nil {
				t.Errorf("%v", err)
			}
			if *update && !t.Failed() {
				require.NoError(t, os.WriteFile(path, []byte(tr.got), 0o600))
				return
			}
			if d := cmp.Diff(strings.Split(tr.want, "\n"), strings.Split(tr.got, "\n")); d != "" {
				t.Errorf("(-transcript +now)\n%s", d)
			}
		})
	}
}

// transcript is one being played.
type transcript struct {
	c         wireCase
	p         *pair
	want, got string
	names     names
	err       error // the first of a step
}

// play starts everything, runs the steps, and ends everything.
func (t *transcript) play() error {
	rec := newRecorder()
	endpoint := endpoints()[slices.IndexFunc(endpoints(), func(f endpoint) bool { return f.name == t.c.endpoint })]
	back := backends()[slices.IndexFunc(backends(), func(b backend) bool { return b.name == t.c.back })]
	entry, w, done, err := startRecorded(back, rec)
	if err != nil {
		return err
	}
	defer done()
	if t.c.bridge == "B" {
		entry.ProtocolVersion = revision.Modern // no handshake is tried beside the calls: see TestUnlisted
	}
	t.p = &pair{endpoint: endpoint, back: back, world: w, ring: seal.NewKeyring(), rec: rec}
	var cancel context.CancelFunc
	t.p.ctx, cancel = context.WithTimeout(context.Background(), *limit)
	defer cancel()
	if t.p.proxy, t.p.guard, err = newProxy(t.p.ring, map[string]backend{entry.Name: back}, []config.Entry{entry}, func(o *proxy.Options) {
		o.Servers[0].Start = proxy.StartCached // so that each step has what it causes
		if t.c.bridge == "S" {
			o.Search.List, o.Search.Expose = views.ListSearch, 2
		}
	}); err != nil {
		return err
	}
	if endpoint.http {
		t.p.serve()
	}
	t.steps()
	if t.err != nil { // the last step has not been
		t.p.c.close()
		if endpoint.http {
			t.p.stopServing()
		}
		_ = t.p.proxy.Close()
	}
	return t.err
}

// startRecorded starts the server of a transcript.
func startRecorded(b backend, rec *recorder) (config.Entry, serverControl, func(), error) {
	if b.http {
		s := wireServer(b.versions()...)
		h := s.Handler(b.o)
		path := "/"
		if b.sse {
			h, path = s.LegacySSE(), "/sse"
		}
		srv := httptest.NewServer(rec.handler(serverLeg, h))
		w := &localServer{s, srv}
		return config.Entry{Name: "b", URL: srv.URL + path}, w, w.close, nil
	}
	w, err := newChildServers()
	if err != nil {
		return config.Entry{}, nil, nil, err
	}
	tap, err := newTaps(rec)
	if err != nil {
		return config.Entry{}, nil, nil, err
	}
	command, env := runtimetest.Command(strings.Join(b.versions(), ","))
	env[tapAddress], env[controlAddress] = tap.l.Addr().String(), w.l.Addr().String()
	return config.Entry{Name: "b", Command: command[0], Args: command[1:], Env: env}, w, func() {
		w.close()
		tap.close()
	}, nil
}

// step does something and waits for what follows from it: what the transcript
// has, or, without one, what comes until nothing comes any more. It is over once
// all of that is there, so no step shows what is another's.
func (t *transcript) step(name string, do func()) {
	if t.err != nil {
		return
	}
	t.err = wrap(attempt(do), name)
	last, since := "", time.Now()
	for start := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		names := t.names.clone()
		now := t.section(name, &names, false)
		if now != last {
			last, since = now, time.Now()
		}
		rest, known := strings.CutPrefix(t.want, t.got+now)
		known = known && !strings.HasPrefix(rest, "-- "+name+": ") && (rest == "" || strings.HasPrefix(rest, "-- "))
		if known && !*update || t.err != nil || *update && time.Since(since) > 700*time.Millisecond || time.Since(start) > *limit {
			break
		}
	}
	t.got += t.section(name, &t.names, true)
}

// section shows the four legs since the last step.
func (t *transcript) section(name string, n *names, end bool) string {
	clientUp, clientDown := t.p.rec.show(clientLeg, n.known, end)
	serverUp, serverDown := t.p.rec.show(serverLeg, func(s string) string { return n.known(maskIDs(s)) }, end)
	if name == "close" && (!t.p.back.http || t.p.back.name == "sse") {
		// The end of a process's input, or of the stream, is what closes it; whether
		// a word about what was still open gets through before is not certain.
		serverUp, serverDown = "", ""
	} else if name == "close" {
		serverUp, serverDown = withoutCancel(serverUp, serverDown)
	}
	var out strings.Builder
	for _, part := range [][2]string{{clientLeg.up, clientUp}, {serverLeg.up, serverUp}, {serverLeg.down, serverDown}, {clientLeg.down, clientDown}} {
		if part[1] != "" {
			fmt.Fprintf(&out, "-- %s: %s --\n%s", name, part[0], part[1])
		}
	}
	return n.replace(lifetime.ReplaceAllString(out.String(), `"ttlMs":TTL`))
}

var (
	exchangeNumber = regexp.MustCompile(`(?m)^#\d+`)
	delayedCancel  = regexp.MustCompile(`(?m)^#\d+ POST .*\n(?:[A-Z].*\n)*\{.*"notifications/cancelled".*\n`)
)

// withoutCancel takes the cancel of a call that was still open out of the end of an
// HTTP server, and renumbers what is left: whether it is sent is not certain there
// either.
func withoutCancel(up, down string) (string, string) {
	cancel := delayedCancel.FindString(up)
	if cancel == "" {
		return up, down
	}
	number := exchangeNumber.FindString(cancel)
	up = strings.Replace(up, cancel, "", 1)
	down = regexp.MustCompile(`(?m)^`+number+` .*\n`).ReplaceAllString(down, "")
	renumber := func(n string) string {
		if len(n) > len(number) || len(n) == len(number) && n > number {
			i, _ := strconv.Atoi(n[1:])
			return "#" + strconv.Itoa(i-1)
		}
		return n
	}
	return exchangeNumber.ReplaceAllStringFunc(up, renumber), exchangeNumber.ReplaceAllStringFunc(down, renumber)
}

// TestWithoutCancel: at the end, in the middle, and nothing else.
func TestWithoutCancel(t *testing.T) {
	t.Parallel()
	const cancel = " POST /\nAccept: a\n{\"method\":\"notifications/cancelled\"}\n"
	for _, c := range [][2]string{
		{"#9 DELETE /\nA: b\n#10 DELETE /\n#11" + cancel, "#9 204\n#10 204\n#11 202\n"},
		{"#9" + cancel + "#10 DELETE /\nA: b\n#11 DELETE /\n", "#9 202\n#10 204\n#11 204\n"},
		{"#9 DELETE /\nA: b\n#10 DELETE /\n", "#9 204\n#10 204\n"},
	} {
		up, down := withoutCancel(c[0], c[1])
		if up != "#9 DELETE /\nA: b\n#10 DELETE /\n" || down != "#9 204\n#10 204\n" {
			t.Errorf("got %q, %q", up, down)
		}
	}
}

// lifetime is what is left of a minute; zero stays.
var lifetime = regexp.MustCompile(`"ttlMs":[1-9]\d*`)

var (
	ownID    = regexp.MustCompile(`"(id|requestId)":\d+`)
	ownToken = regexp.MustCompile(`"progressToken":("p)?\d+"?`)
)

// maskIDs hides the ids and progress tokens that mcpctl makes: it counts as its
// messages go out, some of them side by side.
func maskIDs(text string) string {
	return ownToken.ReplaceAllString(ownID.ReplaceAllString(text, `"$1":ID`), `"progressToken":TOKEN`)
}

// names are the stable names of what differs from run to run, by value.
type names map[string]string

func (n *names) clone() names {
	out := names{}
	maps.Copy(out, *n)
	return out
}

// volatile finds such values, each in the first group.
var volatile = []struct {
	name string
	re   *regexp.Regexp
}{
	{"STATE", regexp.MustCompile(`"requestState":"([^"]+)"`)},
	{"SESSION", regexp.MustCompile(`(?m)(?:^Mcp-Session-Id: |\?sessionId=)(\S+)`)},
	{"ELICITATION", regexp.MustCompile(`"elicitationId":"([^"]+)"`)},
}

// eventID is not numbered: servers count theirs as they send.
var eventID = regexp.MustCompile(`(?m)^(id|Last-Event-Id): ?\S+`)

// known returns a text with the names in it of the values that have one.
func (n *names) known(text string) string {
	for _, key := range slices.Sorted(maps.Keys(*n)) {
		_, value, _ := strings.Cut(key, " ")
		if len(value) > 8 { // else it may stand for something else
			text = strings.ReplaceAll(text, value, (*n)[key])
		}
	}
	return eventID.ReplaceAllString(text, "$1: EVENT")
}

// replace names the values that have no name yet, numbered as they come.
func (n *names) replace(text string) string {
	if *n == nil {
		*n = names{}
	}
	for _, v := range volatile {
		text = replaceGroup(v.re, text, func(value string) string {
			if strings.HasPrefix(value, v.name+"-") {
				return value
			}
			key := v.name + " " + value
			if (*n)[key] == "" {
				count := 1
				for k := range *n {
					if strings.HasPrefix(k, v.name+" ") {
						count++
					}
				}
				(*n)[key] = fmt.Sprintf("%s-%d", v.name, count)
			}
			return (*n)[key]
		})
	}
	return text
}

// replaceGroup replaces what the first group of an expression matches.
func replaceGroup(re *regexp.Regexp, text string, by func(string) string) string {
	var out strings.Builder
	at := 0
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[at:m[2]] + by(text[m[2]:m[3]]))
		at = m[3]
	}
	return out.String() + text[at:]
}
