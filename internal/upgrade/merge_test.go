package upgrade_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base, mine, theirs string
		want               string // of mine
		wantTheirs         string // "" is the same
		conflicts          []string
	}{
		"only theirs": {`{"a":"1"}`, `{"a":"1"}`, `{"a":"2","b":"3"}`, `{"a":"2","b":"3"}`, "", nil},
		"only mine":   {`{"a":"1","b":"2"}`, `{"b":"2","c":"4"}`, `{"a":"1","b":"2"}`, `{"b":"2","c":"4"}`, "", nil},
		"a filled value stays": {
			`{"env":{"T":"${T}"},"args":["-y","p@1","${DIR}"]}`, `{"env":{"T":"x"},"args":["-y","p@1","/notes"]}`, `{"env":{"T":"${T}","N":"${N}"},"args":["-y","p@2","${DIR}"]}`,
			`{"env":{"T":"x","N":"${N}"},"args":["-y","p@2","/notes"]}`, "", nil,
		},
		"an addition beside a change": {
			`{"args":["run","-e","A","img:1"]}`, `{"args":["run","-e","A","-e","B","img:1","--mine"]}`, `{"args":["run","--new","-e","A","img:2"]}`,
			`{"args":["run","--new","-e","A","-e","B","img:2","--mine"]}`, "", nil,
		},
		"the same change":          {`{"args":["p@1","x"]}`, `{"args":["p@2","x"]}`, `{"args":["p@2","x"]}`, `{"args":["p@2","x"]}`, "", nil},
		"both changed a member":    {`{"a":"1"}`, `{"a":"m"}`, `{"a":"t"}`, `{"a":"m"}`, `{"a":"t"}`, []string{`a: "m" or "t"`}},
		"both changed an element":  {`{"args":["p@1","x"]}`, `{"args":["p@0","x"]}`, `{"args":["p@2","x"]}`, `{"args":["p@0","x"]}`, `{"args":["p@2","x"]}`, []string{`args: ["p@0"] or ["p@2"]`}},
		"both added in one place":  {`{"args":["p"]}`, `{"args":["p","m"]}`, `{"args":["p","t"]}`, `{"args":["p","m"]}`, `{"args":["p","t"]}`, []string{`args: ["m"] or ["t"]`}},
		"removed and changed":      {`{"env":{"A":"1"}}`, `{"env":{}}`, `{"env":{"A":"2"}}`, `{"env":{}}`, `{"env":{"A":"2"}}`, []string{`env A: none or "2"`}},
		"changed and removed":      {`{"env":{"A":"1"}}`, `{"env":{"A":"2"}}`, `{"env":{}}`, `{"env":{"A":"2"}}`, `{"env":{}}`, []string{`env A: "2" or none`}},
		"another kind of value":    {`{"a":["x"]}`, `{"a":"x"}`, `{"a":["y"]}`, `{"a":"x"}`, `{"a":["y"]}`, []string{`a: "x" or ["y"]`}},
		"new members of one name":  {`{}`, `{"env":{"A":"1"}}`, `{"env":{"A":"1","B":"2"}}`, `{"env":{"A":"1","B":"2"}}`, "", nil},
		"another spelling is same": {`{"a":"A","n":1.0}`, `{"a":"\u0041","n":1.0}`, `{"a":"B","n":2}`, `{"a":"B","n":2}`, "", nil},
		"a long clash is one": {
			`{"args":["a","b","c","d","e"]}`, `{"args":["a","M","d","N"]}`, `{"args":["a","b","T"]}`,
			`{"args":["a","M","d","N"]}`, `{"args":["a","b","T"]}`,
			[]string{`args: ["M","d","N"] or ["b","T"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for side, want := range map[upgrade.Side]string{upgrade.Mine: tt.want, upgrade.Theirs: tt.wantTheirs} {
				if want == "" {
					want = tt.want
				}
				got, err := upgrade.Objects(json.RawMessage(tt.base), json.RawMessage(tt.mine), json.RawMessage(tt.theirs), side)
				require.NoError(t, err)
				var conflicts []string
				for _, c := range got.Conflicts {
					conflicts = append(conflicts, fmt.Sprintf("%s: %s or %s", strings.Join(c.Path, " "), orNone(c.Mine), orNone(c.Theirs)))
				}
				if string(got.Object) != want || !slices.Equal(conflicts, tt.conflicts) {
					t.Errorf("side %d: got %s, conflicts %q; want %s, %q", side, got.Object, conflicts, want, tt.conflicts)
				}
			}
		})
	}
}

func orNone(raw json.RawMessage) string {
	if raw == nil {
		return "none"
	}
	return string(raw)
}

func TestNotObjects(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "[]", `"x"`, "{", `{"a"}`} {
		good := json.RawMessage("{}")
		for _, args := range [][3]json.RawMessage{{json.RawMessage(bad), good, good}, {good, json.RawMessage(bad), good}, {good, good, json.RawMessage(bad)}} {
			if got, err := upgrade.Objects(args[0], args[1], args[2], upgrade.Mine); err == nil {
				t.Errorf("%q: got %s", args, got.Object)
			}
		}
	}
}

// cases is how many random cases a test has: few beside other tests, many in the nightly run.
func cases() int {
	if os.Getenv("MCPCTL_NIGHTLY") != "" {
		return 5000
	}
	return 100
}

// An entry of the property test: some members, and two lists of some slots.
type sample struct {
	Env, Headers map[string]string
	Args, Other  []string
}

func (s sample) encode(t *testing.T) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	return raw
}

func decode(t *testing.T, raw json.RawMessage) (s sample) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

// edit is one edit of one place of a sample. Places do not touch one another: those of a
// list are three elements apart.
type edit struct {
	place, kind int
	text        string
}

const places = 16 // 4 members of each object, 4 slots of each list

// base returns a sample whose elements are all different.
func base() sample {
	s := sample{Env: map[string]string{}, Headers: map[string]string{}}
	for i := range 4 {
		s.Env[fmt.Sprint("E", i)], s.Headers[fmt.Sprint("H", i)] = fmt.Sprint("e", i), fmt.Sprint("h", i)
	}
	for i := range 12 {
		s.Args, s.Other = append(s.Args, fmt.Sprint("a", i)), append(s.Other, fmt.Sprint("o", i))
	}
	return s
}

// with returns a sample with some edits, at most one of each place: a change, a removal or
// an addition.
func with(edits []edit) sample {
	s := base()
	slices.SortFunc(edits, func(a, b edit) int { return b.place - a.place }) // lists from their end
	for _, e := range edits {
		switch i := e.place % 4; e.place / 4 {
		case 0:
			set(s.Env, fmt.Sprint("E", i), e)
		case 1:
			set(s.Headers, fmt.Sprint("H", i), e)
		case 2:
			s.Args = splice(s.Args, 3*i, e)
		default:
			s.Other = splice(s.Other, 3*i, e)
		}
	}
	return s
}

func set(m map[string]string, name string, e edit) {
	switch e.kind {
	case 0:
		m[name] = e.text
	case 1:
		delete(m, name)
	default:
		m[name+"-"+e.text] = e.text
	}
}

func splice(list []string, at int, e edit) []string {
	switch e.kind {
	case 0:
		return slices.Replace(list, at, at+1, e.text)
	case 1:
		return slices.Delete(list, at, at+1)
	}
	return slices.Insert(list, at, e.text)
}

// TestProperties: whatever two sides edit in different places is all there, without a
// conflict, and a place that both edit otherwise is one, which the preferred side decides.
func TestProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range cases() {
		var mine, theirs, both, clashesMine, clashesTheirs []edit
		for place := range places {
			m, th := edit{place, random.IntN(3), fmt.Sprint("m", place)}, edit{place, random.IntN(3), fmt.Sprint("t", place)}
			switch random.IntN(5) {
			case 0:
				mine, both = append(mine, m), append(both, m)
			case 1:
				theirs, both = append(theirs, th), append(both, th)
			case 2: // the same
				mine, theirs, both = append(mine, m), append(theirs, m), append(both, m)
			case 3:
				m.kind, th.kind = 0, 0
				mine, theirs = append(mine, m), append(theirs, th)
				clashesMine, clashesTheirs = append(clashesMine, m), append(clashesTheirs, th)
			}
		}
		b, m, th := base().encode(t), with(mine).encode(t), with(theirs).encode(t)
		for side, clashes := range map[upgrade.Side][]edit{upgrade.Mine: clashesMine, upgrade.Theirs: clashesTheirs} {
			got, err := upgrade.Objects(b, m, th, side)
			require.NoError(t, err)
			if want := with(slices.Concat(both, clashes)); !reflect.DeepEqual(decode(t, got.Object), want) || len(got.Conflicts) != len(clashes) {
				t.Fatalf("mine %v, theirs %v: got %s with %d conflicts, want %s with %d", mine, theirs, got.Object, len(got.Conflicts), want.encode(t), len(clashes))
			}
		}
	}
}

// TestLaws: with lists at random, where edits touch and repeat, who changed nothing gets
// what the other has, the two sides are equal but for the conflicts, and no element comes
// from nowhere.
func TestLaws(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	list := func() sample {
		var s sample
		for range random.IntN(9) {
			s.Args = append(s.Args, string(rune('a'+random.IntN(4))))
		}
		return s
	}
	for range cases() {
		x, y, z := list(), list(), list()
		b, m, th := x.encode(t), y.encode(t), z.encode(t)
		for _, law := range []struct {
			base, mine, theirs json.RawMessage
			want               sample
		}{{b, m, b, y}, {b, b, th, z}, {b, m, m, y}} {
			got, err := upgrade.Objects(law.base, law.mine, law.theirs, upgrade.Mine)
			require.NoError(t, err)
			if !slices.Equal(decode(t, got.Object).Args, law.want.Args) || len(got.Conflicts) > 0 {
				t.Fatalf("%s, %s, %s: got %s, %v", law.base, law.mine, law.theirs, got.Object, got.Conflicts)
			}
		}
		one, err := upgrade.Objects(b, m, th, upgrade.Mine)
		require.NoError(t, err)
		other, err := upgrade.Objects(b, th, m, upgrade.Theirs)
		require.NoError(t, err)
		if !slices.Equal(decode(t, one.Object).Args, decode(t, other.Object).Args) || len(one.Conflicts) != len(other.Conflicts) {
			t.Fatalf("%s, %s, %s: %s and %s", b, m, th, one.Object, other.Object)
		}
		for _, e := range decode(t, one.Object).Args {
			if !slices.Contains(slices.Concat(x.Args, y.Args, z.Args), e) {
				t.Fatalf("%s is from nowhere in %s", e, one.Object)
			}
		}
		for _, pair := range [][2][]string{{x.Args, y.Args}, {x.Args, z.Args}} {
			if got := upgrade.Apply(pair[0], upgrade.Hunks(pair[0], pair[1])); !slices.Equal(got, pair[1]) {
				t.Fatalf("%q to %q: got %q", pair[0], pair[1], got)
			}
		}
	}
}

// TestLongLists: lists too long for a table are compared by their ends, in no time.
func TestLongLists(t *testing.T) {
	t.Parallel()
	var a, b []string
	for i := range 20_000 {
		a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
	}
	a, b = append(a, "end"), append(b, "end")
	hunks := upgrade.Hunks(a, b)
	if len(hunks) != 1 || hunks[0].Start != 0 || hunks[0].End != 20_000 || !slices.Equal(upgrade.Apply(a, hunks), b) {
		t.Errorf("got %d hunks", len(hunks))
	}
}
