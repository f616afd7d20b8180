package policy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

var (
	policyCases = flag.Int("policy-cases", 10_000, "how many requests TestRandom decides")
	policySeed  = flag.Uint64("policy-seed", 1, "where TestRandom begins")
)

// oracle decides as §4.5 of the specification says, by asking cedar about each policy of
// the whole set. It knows nothing of views.
type oracle struct {
	config   policy.Config
	servers  []policy.Server
	policies []*cedar.Policy
	text     string
}

// chance makes worlds and requests.
type chance struct{ *rand.Rand }

func (c chance) of(texts ...string) string { return texts[c.IntN(len(texts))] }

func (c chance) some(texts ...string) (out []string) {
	for _, t := range texts {
		if c.IntN(2) == 0 {
			out = append(out, t)
		}
	}
	return out
}

var (
	randomServers = []string{"gh", "fs", "mail"}
	randomGroups  = []string{"eng", "ops", "idp:engineers"}
	randomLabels  = []string{"outbound", "private", "gh/*", "fs/read_*", "*/get_*", "resource:fs/file:///data/**", "prompt:gh/*"}
	randomTools   = []string{"get_a", "read_b", "pay", "a/b"}
	randomURIs    = []string{"file:///data/x", "file:///data/d/y", "file:///etc/passwd"}
)

func (c chance) condition(depth int) string {
	if depth > 0 && c.IntN(3) == 0 {
		a, b := c.condition(depth-1), c.condition(depth-1)
		switch c.IntN(4) {
		case 0:
			return "(" + a + " && " + b + ")"
		case 1:
			return "(" + a + " || " + b + ")"
		case 2:
			return "!(" + a + ")"
		default:
			return "(if " + a + " then " + b + " else " + c.condition(depth-1) + ")"
		}
	}
	n := strconv.Itoa(c.IntN(4))
	return c.of(
		"context.args.n > "+n, "context.args has n", "context.args has n && context.args.n + 9223372036854775806 > 0",
		`context.args has s && context.args.s == "a"`, `context.args.s like "a*"`, "context.args has d && context.args.d.lessThan(decimal(\"1.5\"))",
		"context.args has o && context.args.o has n && context.args.o.n == "+n, `context.args has l && context.args.l.contains("a")`,
		`context.clean has p && context.clean.p like "/data/*"`, `context.host has u && context.host.u == "a.example"`,
		`context.seen.contains("private")`, `context.seen.containsAll(["private", "outbound"])`, `context.found.contains("secret")`,
		`context.now > datetime("2026-01-01")`, `context has ip && context.ip.isInRange(ip("10.0.0.0/8"))`, `context.front == "http"`, "context.task",
		"resource.readOnly", "resource.pinned", `resource.name == "pay"`, `resource.uri like "*passwd"`, `resource is Tool`, `resource in Server::"gh"`,
		`resource in Label::"private"`, `resource == Tool::"gh/pay"`, `principal in Group::"eng"`, `principal.name == "a"`, `principal.issuer == "token"`,
		`principal.hasTag("team") && principal.getTag("team").contains("blue")`, `principal.getTag("team").contains("blue")`, `principal has client`,
		`principal == User::"token|b"`, `[Group::"eng", Group::"ops"].contains(Group::"eng")`, "9223372036854775807 + 1 > 0", "true", "false",
		`principal in (if context.task then Group::"eng" else Group::"ops")`, `resource.name == context.args.s`, `principal.name == context.front`,
		`context.args.n == "a" || true`, `action == Action::"call"`, `{"a": context.args.n}.a == 2`, `[context.args.n, 1].contains(1)`,
	)
}

func (c chance) policy(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@id(%q) ", id)
	permit := c.IntN(2) == 0
	switch {
	case permit && c.IntN(5) == 0:
		b.WriteString(`@scope("` + strings.Join([]string{c.of("x", "y"), c.of("y", "z")}, " ") + `") `)
	case !permit && c.IntN(5) == 0:
		b.WriteString(`@ask("sure?") `)
	case !permit && c.IntN(5) == 0:
		b.WriteString(`@over("5/m") `)
	}
	if c.IntN(8) == 0 {
		b.WriteString("@shadow ")
	}
	b.WriteString(map[bool]string{true: "permit (", false: "forbid ("}[permit])
	b.WriteString(c.of("principal", "principal", `principal in Group::"`+c.of(randomGroups...)+`"`, `principal == User::"token|`+c.of("a", "b")+`"`, `principal is User in Group::"local"`))
	b.WriteString(", " + c.of("action", `action == Action::"call"`, `action in [Action::"call", Action::"read"]`, `action == Action::"`+c.of("get", "deliver", "question")+`"`))
	b.WriteString(", " + c.of("resource", "resource", `resource in Server::"`+c.of(randomServers...)+`"`, `resource in Label::"`+c.of(randomLabels...)+`"`,
		`resource == Tool::"gh/`+c.of(randomTools...)+`"`, "resource is "+c.of("Tool", "Prompt", "Resource"), `resource is Tool in Label::"`+c.of(randomLabels...)+`"`) + ")")
	for range c.IntN(3) {
		b.WriteString(c.of(" when {", " unless {") + c.condition(2) + "}")
	}
	return b.String() + ";\n"
}

func (c chance) snapshot() (*oracle, []policy.Item) {
	o := new(oracle)
	for i := range 1 + c.IntN(6) {
		o.text += c.policy("p" + strconv.Itoa(i))
	}
	if c.IntN(2) == 0 {
		o.text += "@id(\"all\") permit (principal, action, resource);\n"
	}
	o.config = policy.Config{
		Groups:          map[string][]string{"eng": c.some("token|a", "idp:engineers", "local"), "ops": c.some("eng", "b@example.com", "ops")},
		Labels:          map[string][]string{"outbound": c.some("mail", "gh/pay", "*/a/b"), "private": c.some("fs", "fs/file:///data/*", "resource:fs/file:///data/**", "gh/read_*")},
		FromAnnotations: c.IntN(4) == 0,
		Sources:         []policy.Source{{Name: "random.cedar", Text: []byte(o.text)}},
	}
	for _, name := range randomServers {
		o.servers = append(o.servers, policy.Server{Name: name, Transport: "stdio", Labels: c.some("private", "outbound"), Trusted: c.IntN(2) == 0})
	}
	list, err := cedar.NewPolicyListFromBytes("", []byte(o.text))
	if err != nil {
		panic(o.text + err.Error())
	}
	o.policies = list
	var items []policy.Item
	for range 2 + c.IntN(5) {
		it := policy.Item{Server: c.of(randomServers...), Kind: policy.Kind(c.IntN(3)), Pinned: c.IntN(3) == 0}
		switch it.Kind {
		case policy.Tool:
			it.Name = c.of(randomTools...)
			it.Definition = []byte(`{"annotations":{"readOnlyHint":` + c.of("true", "false") + `,"openWorldHint":` + c.of("true", "false") + `},"inputSchema":{"type":"object","properties":` +
				`{"n":{"type":"integer"},"s":{"type":"string"},"d":{"type":"number"},"o":{"type":"object","properties":{"n":{"type":"integer"}}},"l":{"type":"array","items":{"type":"string"}}}}}`)
		case policy.Prompt:
			it.Name = c.of(randomTools...)
		default:
			it.Name = c.of(randomURIs...)
			it.Definition = []byte(`{"uri":"x","mimeType":"text/plain"}`)
		}
		items = append(items, it)
	}
	return o, items
}

func (c chance) principal() *access.Principal {
	if c.IntN(5) == 0 {
		return nil
	}
	id := c.of("a", "b", "c")
	p := &access.Principal{ID: "token|" + id, Name: c.of("a", "b"), Provider: "token", Groups: c.some("eng", "idp:engineers", "local"), Scopes: c.some("x", "y", "z")}
	if c.IntN(6) == 0 {
		p.ID, p.Provider = "local|"+id, access.Local
	}
	if c.IntN(2) == 0 {
		p.Email = id + "@example.com"
	}
	if c.IntN(2) == 0 {
		p.Tags = map[string][]string{"team": c.some("blue", "red")}
	}
	return p
}

func (c chance) request(p *access.Principal) *policy.Request {
	r := &policy.Request{
		Principal: p, Seen: c.some("private", "outbound"), Found: c.some("secret"), Transport: c.of("http", "stdio", "a"), Task: c.IntN(2) == 0,
		Now: time.Date(2025+c.IntN(2), 6, 1, 0, 0, 0, 0, time.UTC),
	}
	if c.IntN(2) == 0 {
		r.Addr = netip.MustParseAddr(c.of("10.1.2.3", "192.0.2.1", "::1"))
	}
	members := c.some(`"n":`+strconv.Itoa(c.IntN(4)), `"s":"`+c.of("a", "ab", "pay")+`"`, `"d":`+c.of("1", "1.25", "2e0"), `"o":{"n":`+strconv.Itoa(c.IntN(4))+`}`, `"l":["a","b"]`,
		`"p":"`+c.of("/data/../data/x", "/data/../etc", "/etc")+`"`, `"u":"`+c.of("https://A.example/", "http://b.example")+`"`)
	if len(members) > 0 || c.IntN(2) == 0 {
		r.Arguments = []byte("{" + strings.Join(members, ",") + "}")
	}
	return r
}

// labelsOf returns the labels of an item or, without a kind, of a server.
func (o *oracle) labelsOf(id string, kind *policy.Kind, tool bool) (out []string) {
	all := make(map[string][]string)
	maps.Copy(all, o.config.Labels)
	for _, g := range randomLabels {
		if strings.Contains(g, "/") {
			all[g] = []string{g}
		}
	}
	for name, globs := range all {
		for _, g := range globs {
			of := map[string]policy.Kind{"prompt": policy.Prompt, "resource": policy.Resource}
			if prefix, rest, ok := strings.Cut(g, ":"); ok && (prefix == "prompt" || prefix == "resource") {
				if kind == nil || *kind != of[prefix] {
					continue
				}
				g = rest
			}
			if strings.Contains(g, "/") != (kind != nil) {
				continue
			}
			text := regexp.QuoteMeta(g)
			text = strings.ReplaceAll(strings.ReplaceAll(text, `\*\*`, ".*"), `\*`, "[^/]*")
			if regexp.MustCompile("^" + text + "$").MatchString(id) {
				out = append(out, name)
			}
		}
	}
	return out
}

func uid(kind, id string) types.EntityUID {
	return types.NewEntityUID(types.EntityType(kind), types.String(id))
}

func strs(texts []string) types.Set {
	var out []types.Value
	for _, t := range texts {
		out = append(out, types.String(t))
	}
	return types.NewSet(out...)
}

// entities returns the principal, the item and its server.
func (o *oracle) entities(p *access.Principal, it policy.Item) (types.EntityMap, types.EntityUID, types.EntityUID) {
	out := make(types.EntityMap)
	user := types.Entity{UID: uid("User", "local"), Attributes: types.NewRecord(types.RecordMap{"id": types.String("local"), "name": types.String("local"), "issuer": types.String("local"), "client": types.String("")})}
	in := map[string]bool{}
	if p == nil || p.Provider == access.Local {
		in["local"] = true
	}
	if p != nil {
		for _, g := range p.Groups {
			in[g] = in[g] || g != "local"
		}
		user.UID = uid("User", p.ID)
		issuer, _, _ := strings.Cut(p.ID, "|")
		user.Attributes = types.NewRecord(types.RecordMap{"id": types.String(p.ID), "name": types.String(p.Name), "issuer": types.String(issuer), "client": types.String("")})
		tags := types.RecordMap{}
		for name, values := range p.Tags {
			tags[types.String(name)] = strs(values)
		}
		user.Tags = types.NewRecord(tags)
	}
	for range 3 {
		for name, members := range o.config.Groups {
			for _, m := range members {
				if in[m] || p != nil && (p.ID == m || p.Email == m) {
					in[name] = true
				}
			}
		}
	}
	var groups []types.EntityUID
	for g, is := range in {
		if is {
			groups = append(groups, uid("Group", g))
		}
	}
	user.Parents = types.NewEntityUIDSet(groups...)
	out[user.UID] = user

	i := slices.IndexFunc(o.servers, func(s policy.Server) bool { return s.Name == it.Server })
	srv := types.Entity{UID: uid("Server", it.Server)}
	var labels []types.EntityUID
	for _, l := range slices.Concat(o.servers[i].Labels, o.labelsOf(it.Server, nil, false)) {
		labels = append(labels, uid("Label", l))
	}
	srv.Parents = types.NewEntityUIDSet(labels...)
	out[srv.UID] = srv

	e := types.Entity{UID: uid([]string{"Tool", "Prompt", "Resource"}[it.Kind], it.Server+"/"+it.Name)}
	labels = []types.EntityUID{srv.UID}
	for _, l := range o.labelsOf(it.Server+"/"+it.Name, &it.Kind, true) {
		labels = append(labels, uid("Label", l))
	}
	attrs := types.RecordMap{"pinned": types.Boolean(it.Pinned)}
	if it.Kind == policy.Resource {
		attrs["uri"], attrs["scheme"], attrs["mime"] = types.String(it.Name), types.String("file"), types.String("text/plain")
	} else {
		attrs["name"] = types.String(it.Name)
	}
	if it.Kind == policy.Tool {
		var d struct {
			Annotations struct{ ReadOnlyHint, OpenWorldHint bool }
		}
		if err := json.Unmarshal(it.Definition, &d); err != nil {
			panic(err)
		}
		trusted := it.Pinned || o.servers[i].Trusted
		attrs["readOnly"], attrs["openWorld"] = types.Boolean(trusted && d.Annotations.ReadOnlyHint), types.Boolean(!trusted || d.Annotations.OpenWorldHint)
		attrs["destructive"], attrs["idempotent"] = types.True, types.False
		if o.config.FromAnnotations && trusted && d.Annotations.OpenWorldHint {
			labels = append(labels, uid("Label", "outbound"), uid("Label", "untrusted"))
		}
	}
	e.Attributes, e.Parents = types.NewRecord(attrs), types.NewEntityUIDSet(labels...)
	out[e.UID] = e
	return out, user.UID, e.UID
}

// context returns the whole context of a request.
func contextOf(r *policy.Request, call bool) types.Record {
	out := types.RecordMap{
		"seen": strs(r.Seen), "found": strs(r.Found), "now": types.NewDatetime(r.Now), "front": types.String(r.Transport), "task": types.Boolean(r.Task),
	}
	if r.Addr.IsValid() {
		out["ip"] = types.IPAddr(netip.PrefixFrom(r.Addr, r.Addr.BitLen()))
	}
	if !call {
		return types.NewRecord(out)
	}
	var a struct {
		N    *int64
		S    *string
		D    *float64
		O    *struct{ N int64 }
		L    []string
		P, U *string
	}
	if r.Arguments != nil {
		if err := json.Unmarshal(r.Arguments, &a); err != nil {
			panic(err)
		}
	}
	args, clean, host := types.RecordMap{}, types.RecordMap{}, types.RecordMap{}
	if a.N != nil {
		args["n"] = types.Long(*a.N)
	}
	if a.S != nil {
		args["s"] = types.String(*a.S)
	}
	if a.D != nil {
		d, err := types.NewDecimalFromFloat(*a.D)
		if err != nil {
			panic(err)
		}
		args["d"] = d
	}
	if a.O != nil {
		args["o"] = types.NewRecord(types.RecordMap{"n": types.Long(a.O.N)})
	}
	if a.L != nil {
		args["l"] = strs(a.L)
	}
	if a.P != nil {
		clean["p"] = types.String(path.Clean(*a.P))
	}
	if a.U != nil {
		host["u"] = types.String(map[string]string{"https://A.example/": "a.example", "http://b.example": "b.example"}[*a.U])
	}
	out["args"], out["clean"], out["host"] = types.NewRecord(args), types.NewRecord(clean), types.NewRecord(host)
	return types.NewRecord(out)
}

// decide returns the outcome in words.
func (o *oracle) decide(action string, it policy.Item, r *policy.Request) string {
	entities, user, item := o.entities(r.Principal, it)
	request := cedar.Request{Principal: user, Action: uid("Action", action), Resource: item, Context: contextOf(r, action == "call")}
	var permits, plain, over, ask, would []string
	var missing []string
	for _, p := range o.policies {
		notes := p.Annotations()
		set := cedar.NewPolicySet()
		set.Add("it", p)
		_, said := cedar.Authorize(set, entities, request)
		forbid := p.Effect() == cedar.Forbid
		if len(said.Reasons) == 0 && (len(said.Errors) == 0 || !forbid) {
			continue
		}
		id := string(notes["id"])
		_, shadow := notes["shadow"]
		switch {
		case shadow && forbid:
			would = append(would, id)
		case shadow:
		case forbid && notes["over"] != "":
			over = append(over, id)
		case forbid && notes["ask"] != "":
			ask = append(ask, id)
		case forbid:
			plain = append(plain, id)
		default:
			lacks := 0
			for s := range strings.FieldsSeq(string(notes["scope"])) {
				if r.Principal == nil || !slices.Contains(r.Principal.Scopes, s) {
					lacks++
				}
			}
			if lacks > 0 {
				missing = append(missing, fmt.Sprint(lacks, id, strings.Fields(string(notes["scope"]))))
			} else {
				permits = append(permits, id)
			}
		}
	}
	slices.Sort(missing)
	slices.Sort(would)
	switch {
	case len(plain) > 0:
		return fmt.Sprint("deny by ", plain, " would ", would)
	case len(permits) == 0 && action != "deliver":
		if len(missing) > 0 {
			return fmt.Sprint("deny for ", missing[0][1:], " would ", would)
		}
		return fmt.Sprint("deny would ", would)
	case len(ask) > 0:
		return fmt.Sprint("ask over ", over, " ask ", ask, " would ", would)
	}
	return fmt.Sprint("allow over ", over, " would ", would)
}

func ids(list []*policy.Policy) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.ID)
	}
	return out
}

func words(out policy.Outcome) string {
	would := ids(out.Would)
	switch {
	case out.Verdict == policy.Deny && out.Scopes != nil:
		return fmt.Sprint("deny for ", out.By[0].ID, out.Scopes, " would ", would)
	case out.Verdict == policy.Deny && len(out.By) > 0:
		return fmt.Sprint("deny by ", ids(out.By), " would ", would)
	case out.Verdict == policy.Deny:
		return fmt.Sprint("deny would ", would)
	case out.Verdict == policy.Ask:
		return fmt.Sprint("ask over ", ids(out.Over), " ask ", ids(out.Ask), " would ", would)
	}
	return fmt.Sprint("allow over ", ids(out.Over), " would ", would)
}

// TestRandom: verdict tables, plain evaluation and explanations decide as cedar does about
// the whole set, with the rule for errors; and what no request may use is hidden.
func TestRandom(t *testing.T) {
	var hidden, allowed, decided int
	for done, seed := 0, *policySeed; done < *policyCases; seed++ {
		c := chance{rand.New(rand.NewPCG(seed, 7))}
		o, items := c.snapshot()
		set, err := policy.Compile(o.config)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, o.text)
		}
		o.config.Plain = true
		plainSet, err := policy.Compile(o.config)
		if err != nil {
			t.Fatal(err)
		}
		w, plain := set.Snapshot(o.servers, items), plainSet.Snapshot(o.servers, items)
		for range 4 {
			p := c.principal()
			v, pv := w.View(p), plain.View(p)
			if v != w.View(p) {
				t.Fatalf("seed %d: a principal has two views", seed)
			}
			for i, it := range items {
				for _, action := range []string{[]string{"call", "get", "read"}[it.Kind], "deliver"} {
					for range 2 {
						done++
						r := c.request(p)
						want := o.decide(action, it, r)
						where := func() string {
							return fmt.Sprintf("seed %d: %+v %s %s/%s %s\n%s\n%+v", seed, p, action, it.Server, it.Name, r.Arguments, o.text, o.config)
						}
						var visible, pvisible bool
						var conditions, pconditions *policy.Conditions
						if action == "deliver" {
							conditions, _ = v.Delivery(i)
							pconditions, _ = pv.Delivery(i)
							visible, pvisible = true, true
						} else {
							visible, conditions = v.Item(i)
							pvisible, pconditions = pv.Item(i)
						}
						if visible != pvisible {
							t.Fatalf("visible %v, plainly %v: %s", visible, pvisible, where())
						}
						e := v.Explain(policy.Action(action), it, r)
						switch {
						case !visible:
							hidden++
							if !strings.HasPrefix(want, "deny") || strings.HasPrefix(want, "deny for") {
								t.Fatalf("hidden, and %s: %s", want, where())
							}
							if e.Visible || e.Outcome.Verdict != policy.Deny {
								t.Fatalf("hidden, and explained as %s: %s", words(e.Outcome), where())
							}
							continue
						case conditions == nil:
							allowed++
							if want != "allow over [] would []" {
								t.Fatalf("allowed, and %s: %s", want, where())
							}
						default:
							decided++
							if got := words(conditions.Decide(r)); got != want {
								t.Fatalf("got %s, want %s: %s", got, want, where())
							}
						}
						if got := words(e.Outcome); got != want {
							t.Fatalf("explained as %s, want %s: %s", got, want, where())
						}
						if pconditions == nil {
							if want != "allow over [] would []" {
								t.Fatalf("plainly allowed, and %s: %s", want, where())
							}
						} else if got := words(pconditions.Decide(r)); got != want {
							t.Fatalf("plainly %s, want %s: %s", got, want, where())
						}
					}
				}
			}
		}
	}
	if min(hidden, allowed, decided) < *policyCases/50 {
		t.Errorf("too few of a kind: %d hidden, %d allowed, %d decided", hidden, allowed, decided)
	}
}

// TestList: an item is in a list if some permit holds for some request, and no forbid that
// refuses holds for all of them. All requests are tried.
func TestList(t *testing.T) {
	var requests []*policy.Request
	for bits := range 1 << 6 {
		r := &policy.Request{Task: bits&1 != 0, Transport: []string{"http", "stdio"}[bits>>1&1]}
		if bits&4 != 0 {
			r.Seen = []string{"private"}
		}
		if bits&8 != 0 {
			r.Found = []string{"secret"}
		}
		r.Arguments = []byte([]string{`{}`, `{"n":1,"s":"a"}`, `{"n":3,"p":"/data/x"}`, `{"s":"b","p":"/etc"}`}[bits>>4])
		requests = append(requests, r)
	}
	var visible, hidden int
	for done, seed := 0, *policySeed; done < *policyCases/10; seed++ {
		c := chance{rand.New(rand.NewPCG(seed, 11))}
		o, items := c.snapshot()
		o.text = ""
		for i := range 1 + c.IntN(5) {
			text := c.policy("p" + strconv.Itoa(i))
			text, _, _ = strings.Cut(text[:len(text)-2], ") when")
			text, _, _ = strings.Cut(text, ") unless")
			o.text += strings.TrimSuffix(text, ")") + ")"
			if c.IntN(2) == 0 {
				o.text += c.of(" when {", " unless {") + c.of("context.task", `context.front == "http"`, `context.seen.contains("private")`, `context.found.contains("secret")`,
					"resource.pinned", `principal in Group::"eng"`, `action == Action::"get"`, "true", "false", "9223372036854775807 + 1 > 0") + "}"
			}
			o.text += ";\n"
		}
		if c.IntN(2) == 0 {
			o.text += "@id(\"all\") permit (principal, action, resource);\n"
		}
		var err error
		if o.policies, err = cedar.NewPolicyListFromBytes("", []byte(o.text)); err != nil {
			t.Fatalf("%v\n%s", err, o.text)
		}
		o.config.Sources[0].Text = []byte(o.text)
		set, err := policy.Compile(o.config)
		if err != nil {
			t.Fatalf("%v\n%s", err, o.text)
		}
		w := set.Snapshot(o.servers, items)
		for range 3 {
			p := c.principal()
			for i, it := range items {
				done++
				want := o.couldPass(p, it, requests)
				got, _ := w.View(p).Item(i)
				if got != want {
					t.Fatalf("seed %d: visible %v, want %v: %+v %+v\n%s\n%+v", seed, got, want, p, it, o.text, o.config)
				}
				if got {
					visible++
				} else {
					hidden++
				}
			}
		}
	}
	if min(visible, hidden) < *policyCases/50 {
		t.Errorf("%d visible, %d hidden", visible, hidden)
	}
}

// couldPass is what TestList says, by cedar.
func (o *oracle) couldPass(p *access.Principal, it policy.Item, requests []*policy.Request) bool {
	action := []string{"call", "get", "read"}[it.Kind]
	entities, user, item := o.entities(p, it)
	could := false
	for _, rule := range o.policies {
		notes := rule.Annotations()
		if _, shadow := notes["shadow"]; shadow {
			continue
		}
		some, all := false, true
		set := cedar.NewPolicySet()
		set.Add("it", rule)
		for _, r := range requests {
			_, said := cedar.Authorize(set, entities, cedar.Request{Principal: user, Action: uid("Action", action), Resource: item, Context: contextOf(r, action == "call")})
			holds := len(said.Reasons) > 0 || len(said.Errors) > 0 && rule.Effect() == cedar.Forbid
			some, all = some || holds, all && holds
		}
		if rule.Effect() == cedar.Permit {
			could = could || some
		} else if all && notes["ask"] == "" && notes["over"] == "" {
			return false
		}
	}
	return could
}
