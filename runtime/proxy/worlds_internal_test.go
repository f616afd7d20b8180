package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
)

var (
	worlds     = flag.Int("worlds", 100, "how many random worlds TestOwnership builds; make test has 2,000 besides, make ownership-worlds 1,000,000")
	worldsSeed = flag.Uint64("worlds-seed", 0, "of the random worlds; 0 takes one at random")
)

// TestOwnership builds random worlds of servers that list names and URIs in each
// other's forms, come, go, fail, are renamed and replaced, and has a client ask
// for all that it has been shown, and for what it makes up. What has been shown
// as one server's, what names a server, and what one server alone has listed
// never reaches another.
func TestOwnership(t *testing.T) {
	t.Parallel()
	first := *worldsSeed
	if first == 0 {
		first = rand.Uint64()
	}
	n := *worlds
	t.Logf("seeds from %d on, %d worlds", first, n)
	const workers = 4
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex // guards sum
		sum  worldTally
		bad  = make(chan error, workers)
		stop = make(chan struct{})
		once sync.Once
	)
	for i := range workers {
		wg.Go(func() {
			var mine worldTally
			for w := i; w < n; w += workers {
				select {
				case <-stop:
					return
				default:
				}
				if w > 0 && w%100_000 == 0 {
					t.Logf("%d worlds", w)
				}
				if err := liveWorld(first+uint64(w), &mine); err != nil {
					bad <- fmt.Errorf("-worlds 1 -worlds-seed %d: %w", first+uint64(w), err)
					once.Do(func() { close(stop) })
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(mine)
		})
	}
	wg.Wait()
	close(bad)
	for err := range bad {
		t.Error(err)
	}
	t.Logf("%+v", sum)
	if !t.Failed() && (sum.Reached*10 < sum.Asked || sum.Refused*10 < sum.Asked) {
		t.Errorf("too much of one kind proves little: %+v", sum)
	}
}

// worldTally counts the requests of a client and what became of them.
type worldTally struct{ Asked, Reached, Refused int }

func (w *worldTally) add(o worldTally) {
	w.Asked += o.Asked
	w.Reached += o.Reached
	w.Refused += o.Refused
}

// worldServer is a server of a world. What it offers changes.
type worldServer struct {
	runtime.Transport
	w    *testWorld
	name string

	mu    sync.Mutex // guards what follows
	lists [inventory.Kinds][]string
	links []string // its results have
	fails [inventory.Kinds]bool
	down  bool
}

func (s *worldServer) Notify(context.Context, *runtime.Request) error { return nil }
func (s *worldServer) Close() error                                   { return nil }

// Call notes that a server is asked.
func (s *worldServer) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range inventory.Kinds {
		if req.Method != k.Listing().Method {
			continue
		}
		if s.fails[k] {
			return nil, &runtime.Error{Code: runtime.CodeInternalError, Message: "broken"}
		}
		return s.page(k), nil
	}
	var p struct{ Name, URI string }
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, err
	}
	s.w.reached(s.name)
	switch req.Method {
	case "tools/call":
		out := []byte(`{"content":[`)
		for i, uri := range s.links {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(rawjson.Quote(append(out, `{"type":"resource_link","name":"n","uri":`...), uri), '}')
		}
		return append(out, `]}`...), nil
	case "resources/read":
		return append(rawjson.Quote([]byte(`{"contents":[{"text":"","uri":`), p.URI), `}]}`...), nil
	}
	return json.RawMessage(`{"messages":[]}`), nil
}

// page lists what the server offers; each item names the server.
func (s *worldServer) page(k inventory.Kind) []byte {
	l := k.Listing()
	out := []byte(`{"` + l.Member + `":[`)
	for i, key := range s.lists[k] {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.Quote(append(out, `{"description":`...), s.name)
		if l.Key != "name" {
			out = append(out, `,"name":"n"`...)
		}
		if k == inventory.Tools && strings.Contains(key, "ui") {
			out = append(rawjson.Quote(append(out, `,"_meta":{"ui":{"resourceUri":`...), "ui://page/"+key), `}}`...)
		}
		out = append(rawjson.Quote(append(out, `,"`+l.Key+`":`...), key), '}')
	}
	return append(out, `]}`...)
}

// testWorld is a proxy over servers, a client and what it knows.
type testWorld struct {
	r       *rand.Rand
	p       *Proxy
	o       Options
	servers map[string]*worldServer // all there ever were
	present []string
	digest  int

	mu    sync.Mutex // guards what follows
	story []string   // what has happened
	got   []string   // the servers that a request has reached
	ever  [inventory.Kinds]map[string]map[string]bool
	shown [inventory.Kinds]map[string]string // exposed names and URIs, and whose they are
}

// tell records what happens, to find out what went wrong.
func (w *testWorld) tell(format string, a ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf(format, a...))
}

func (w *testWorld) reached(server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, server)
}

// look notes who lists what, as the proxy has heard. The caller holds the lock.
func (w *testWorld) look() {
	for _, b := range w.p.router.Set.All() {
		has := w.p.router.Catalog.Inventory(b)
		if has == nil {
			continue
		}
		for k := range inventory.Kinds {
			for _, it := range has.Items[k] {
				w.claims(b.Name, k, it.Key)
				if k == inventory.Tools && strings.Contains(it.Key, "ui") {
					w.claims(b.Name, inventory.Resources, "ui://page/"+it.Key)
				}
			}
		}
	}
}

func (w *testWorld) claims(server string, k inventory.Kind, key string) {
	if w.ever[k] == nil {
		w.ever[k] = map[string]map[string]bool{}
	}
	if w.ever[k][key] == nil {
		w.ever[k][key] = map[string]bool{}
	}
	w.ever[k][key][server] = true
}

// show notes what the client has been shown as a server's.
func (w *testWorld) show(k inventory.Kind, key, server string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k == inventory.Templates {
		k = inventory.Resources
	}
	if w.shown[k] == nil {
		w.shown[k] = map[string]string{}
	}
	if named, _, ok := catalog.Unwrap(key); k == inventory.Resources && ok && w.servers[named] != nil {
		if named != server {
			return fmt.Errorf("%q is shown as %s's", key, server)
		}
		w.shown[k][key] = server // perhaps another's, before that server was configured
	}
	if was := w.shown[k][key]; was != "" && was != server {
		return fmt.Errorf("%s %q was shown as %s's, and now as %s's", k.Listing().Member, key, was, server)
	}
	w.shown[k][key] = server
	return nil
}

var (
	worldNames = []string{"good", "evil", "go", "good_x", "GOOD", "a.b", "a_b", "tail_", "organisation", "organisation-wide-ticket-system", "organisation-wide-ticket-board"}
	worldTools = []string{"x", "ui", "go_ui", "gone", "search_items", "_x", "é", "administration_of_projects_and_boards_create", "administration_of_projects_and_boards_delete"}
	worldURIs  = []string{"file:///a", "file:///b", "vault://x/1", "vault://x/2", "https://w/1", "https://w/2", "ui://page/1", "ui://page/ui", "new:1", "relative"}
	templated  = []string{"file:///{+p}", "vault://x/{id}", "https://w/{id}", "{+any}", "mcpctl+{+rest}", "ui://{a}/{b}", "ui://page/{x}", "vault:{+x}"}
)

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// aName returns a name for a tool or prompt: a word, or what looks like another
// server's.
func (w *testWorld) aName(k inventory.Kind) string {
	switch w.r.IntN(6) {
	case 0:
		return one(w.r, worldNames) + w.o.Separator + one(w.r, worldTools)
	case 1, 2:
		if known := w.known(k); known != nil {
			name := one(w.r, known)
			if w.r.IntN(2) == 0 { // as a server would have to call it to get that name
				name = strings.TrimPrefix(name, catalog.CleanName(one(w.r, worldNames)+w.o.Separator))
			}
			if name != "" {
				return name
			}
		}
	}
	return one(w.r, worldTools)
}

// aURI returns a URI or a template: a word, or what looks like another server's.
func (w *testWorld) aURI(words []string) string {
	uri := one(w.r, words)
	switch w.r.IntN(6) {
	case 0:
		uri = catalog.Wrap(one(w.r, worldNames), uri)
	case 1:
		if known := w.known(inventory.Resources); known != nil {
			uri = one(w.r, known)
		}
	case 2:
		uri = "ui://" + one(w.r, worldNames) + "/" + strings.TrimPrefix(uri, "ui://")
	}
	if w.r.IntN(12) == 0 {
		uri = strings.Replace(strings.Replace(uri, "mcpctl+", "MCPCTL+", 1), "ui:", "UI:", 1)
	}
	return uri
}

// known are what the client has been shown, in a stable order.
func (w *testWorld) known(k inventory.Kind) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for key := range w.shown[k] {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// offer sets what a server lists.
func (w *testWorld) offer(s *worldServer) {
	var lists [inventory.Kinds][]string
	for range w.r.IntN(4) {
		lists[inventory.Tools] = append(lists[inventory.Tools], w.aName(inventory.Tools))
		lists[inventory.Resources] = append(lists[inventory.Resources], w.aURI(worldURIs))
	}
	for range w.r.IntN(2) {
		lists[inventory.Prompts] = append(lists[inventory.Prompts], w.aName(inventory.Prompts))
		lists[inventory.Templates] = append(lists[inventory.Templates], w.aURI(templated))
	}
	var links []string
	for range w.r.IntN(3) {
		links = append(links, w.aURI(worldURIs))
	}
	for k := range lists {
		slices.Sort(lists[k])
		lists[k] = slices.Compact(lists[k])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.tell("%s offers %q, links %q", s.name, lists, links)
	s.lists, s.links, s.fails = lists, links, [inventory.Kinds]bool{}
	if w.r.IntN(8) == 0 {
		s.fails[w.r.IntN(int(inventory.Kinds))] = true
	}
	s.down = w.r.IntN(10) == 0
}

func (w *testWorld) dial(_ context.Context, key Key, _ runtime.Handler) (*runtime.Client, error) {
	w.mu.Lock()
	s := w.servers[key.Server]
	w.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errors.New("down")
	}
	return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{
		Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{},"prompts":{},"resources":{}}`),
	}}), nil
}

// configure returns the entries of those present.
func (w *testWorld) configure() (out []Server) {
	for _, name := range w.present {
		w.mu.Lock()
		if w.servers[name] == nil {
			w.servers[name] = &worldServer{w: w, name: name}
		}
		w.mu.Unlock()
		out = append(out, Server{Name: name})
	}
	return out
}

func liveWorld(seed uint64, sum *worldTally) (err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &testWorld{r: r, servers: map[string]*worldServer{}}
	w.o = Options{NoPrefix: r.IntN(5) == 0, Separator: one(r, []string{"__", "__", "__", "_", "-", "."}), Dial: w.dial}
	for range 1 + r.IntN(3) {
		if name := one(r, worldNames); !slices.Contains(w.present, name) {
			w.present = append(w.present, name)
		}
	}
	w.o.Servers = w.configure()
	for _, name := range w.present {
		w.offer(w.servers[name])
	}
	p, err := newAllowed(w.o)
	if err != nil {
		return err
	}
	w.p = p
	defer func() { _ = p.Close() }()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, strings.Join(w.story, "\n"))
		}
	}()
	if err := w.list(); err != nil {
		return err
	}
	for range 4 + r.IntN(5) {
		if err := w.change(); err != nil {
			return err
		}
		for range 1 + r.IntN(5) {
			if err := w.ask(sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// change changes the world, and perhaps the client looks.
func (w *testWorld) change() error {
	switch n := w.r.IntN(8); n {
	case 0, 1, 2, 3: // a server lists other things
		b := one(w.r, w.p.router.Set.All())
		w.offer(w.servers[b.Name])
		if c := b.Primary.Ready.Load(); c != nil {
			if n == 0 {
				b.Primary.ConnLost(c, errKilled)
			} else {
				b.Lists.Reload(inventory.ListSet{})
			}
		}
	case 4, 5, 6: // servers come and go
		name := one(w.r, worldNames)
		if i := slices.Index(w.present, name); i < 0 {
			w.present = slices.Insert(slices.Clone(w.present), w.r.IntN(len(w.present)+1), name)
		} else if len(w.present) > 1 {
			w.present = slices.Delete(slices.Clone(w.present), i, i+1)
		}
		servers := w.configure()
		w.offer(w.servers[name])
		w.tell("configured: %v", w.present)
		if _, err := w.p.Reconfigure(servers); err != nil {
			return err
		}
	case 7: // one is reached otherwise
		w.digest++
		servers := w.configure()
		changed := &servers[w.r.IntN(len(servers))]
		changed.Connection = fmt.Sprint(w.digest)
		w.tell("%s is reached otherwise", changed.Name)
		if _, err := w.p.Reconfigure(servers); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.look()
	w.mu.Unlock()
	if w.r.IntN(3) > 0 {
		return w.list()
	}
	return nil
}

// request serves a request of the client.
func (w *testWorld) request(method, params string) ([]byte, error) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
	r := router.Request{Line: line, Msg: new(rawjson.Message), Method: method, From: old()}
	if err := rawjson.Scan(line, r.Msg); err != nil {
		return nil, err
	}
	return w.p.router.Answer(context.Background(), &r)
}

// list has the client see all lists.
func (w *testWorld) list() error {
	w.tell("the client lists")
	for k := range inventory.Kinds {
		l := k.Listing()
		result, err := w.request(l.Method, `{}`)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.look()
		w.mu.Unlock()
		var page map[string]json.RawMessage
		var items []map[string]any
		if err := json.Unmarshal(result, &page); err != nil {
			return err
		}
		if err := json.Unmarshal(page[l.Member], &items); err != nil {
			return err
		}
		for _, it := range items {
			key, _ := it[l.Key].(string)
			server, _ := it["description"].(string)
			if err := w.show(k, key, server); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask has the client ask for something, and judges whom it has reached.
func (w *testWorld) ask(sum *worldTally) error {
	k := one(w.r, []inventory.Kind{inventory.Tools, inventory.Tools, inventory.Prompts, inventory.Resources, inventory.Resources})
	method, member, key := "tools/call", "name", ""
	switch k {
	case inventory.Prompts:
		method, key = "prompts/get", w.aName(k)
	case inventory.Resources:
		method, member, key = "resources/read", "uri", w.aURI(worldURIs)
	case inventory.Tools, inventory.Templates, inventory.Kinds:
		key = w.aName(k)
	}
	if known := w.known(k); known != nil && w.r.IntN(2) == 0 {
		key = one(w.r, known)
	}
	w.tell("%s %q", method, key)
	w.mu.Lock()
	w.got = nil
	w.look()
	before := w.claimed(k, key)
	w.mu.Unlock()
	result, err := w.request(method, string(rawjson.Quote([]byte(`{"`+member+`":`), key))+"}")
	w.mu.Lock()
	got := w.got
	may, why := w.allowed(k, key, before) // a server that cannot be reached just then has said nothing
	w.mu.Unlock()
	sum.Asked++
	if len(got) == 0 {
		sum.Refused++
		return nil
	}
	sum.Reached++
	for _, server := range got {
		if !may(server) {
			return fmt.Errorf("%s %q has reached %s: %s (configured: %v)", method, key, server, why, w.present)
		}
	}
	if err != nil || k != inventory.Tools {
		return nil //nolint:nilerr // what the server answers is its own
	}
	var answer struct{ Content []struct{ URI string } }
	if err := json.Unmarshal(result, &answer); err != nil {
		return err
	}
	for _, c := range answer.Content {
		w.mu.Lock()
		whose := w.shown[inventory.Resources][c.URI]
		if whose == "" || whose == got[0] {
			w.claims(got[0], inventory.Resources, c.URI)
		}
		w.mu.Unlock()
	}
	return nil
}

// claimed returns who has ever listed something or, of a URI, a template for it.
// The caller holds the lock.
func (w *testWorld) claimed(k inventory.Kind, key string) map[string]bool {
	out := map[string]bool{}
	maps.Copy(out, w.ever[k][key])
	if k != inventory.Resources {
		return out
	}
	for text, servers := range w.ever[inventory.Templates] {
		if text == key {
			maps.Copy(out, servers)
		}
		if scheme, _, ok := strings.Cut(text, ":"); !ok || strings.Contains(scheme, "{") || !expands(text, key) {
			continue
		}
		maps.Copy(out, servers)
	}
	return out
}

// expands reports whether a URI is what a template with expressions like {x} and
// {+x} can become.
func expands(template, uri string) bool {
	literal, rest, ok := strings.Cut(template, "{")
	if !ok {
		return template == uri
	}
	if !strings.HasPrefix(uri, literal) {
		return false
	}
	uri = uri[len(literal):]
	name, after, _ := strings.Cut(rest, "}")
	for i := 0; i <= len(uri); i++ {
		if expands(after, uri[i:]) {
			return true
		}
		if i < len(uri) && uri[i] == '/' && !strings.HasPrefix(name, "+") {
			return false
		}
	}
	return false
}

// allowed returns who may get a request, by what the client knows and by who has
// claimed it. The caller holds the lock.
func (w *testWorld) allowed(k inventory.Kind, key string, claimed map[string]bool) (may func(server string) bool, why string) {
	only := func(names ...string) func(string) bool {
		return func(server string) bool { return slices.Contains(names, server) }
	}
	owner := w.shown[k][key]
	if k == inventory.Resources {
		if server, _, ok := catalog.Unwrap(key); ok && w.servers[server] != nil {
			return only(server), "it names " + server
		}
		switch {
		case len(claimed) > 1:
			return only(), fmt.Sprintf("%d servers have listed it", len(claimed))
		case len(claimed) == 1:
			return func(server string) bool { return claimed[server] }, "another has listed it"
		}
		return func(string) bool { return true }, ""
	}
	if owner != "" {
		return only(owner), "it was shown as " + owner + "'s"
	}
	named, length := "", 0
	for server := range w.servers {
		full := catalog.CleanName(server + w.o.Separator)
		if strings.HasPrefix(key, full) && len(full) > length {
			named, length = server, len(full)
		}
	}
	switch {
	case named != "":
		return func(server string) bool {
			return catalog.CleanName(server+w.o.Separator) == catalog.CleanName(named+w.o.Separator)
		}, "it begins with " + named
	case w.o.NoPrefix || len(claimed) == 0: // it has been shown as nobody's
		return func(string) bool { return true }, ""
	}
	return func(server string) bool { return claimed[server] && len(claimed) == 1 }, fmt.Sprintf("%d servers have listed it", len(claimed))
}
