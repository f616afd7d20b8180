package catalog

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func exposedBy(servers ...string) Names { return NewNames("__", 44, servers, Names{}) }

func TestExposedNames(t *testing.T) {
	n := exposedBy("gh", "a", "A", "tail_", "my.srv")
	for _, c := range []struct{ server, name, want string }{
		{"gh", "create_issue", "gh__create_issue"},
		{"gh", "get.user", "gh__get_user"},
		{"gh", strings.Repeat("x", 40), "gh__" + strings.Repeat("x", 40)},
		{"gh", strings.Repeat("x", 41), "gh__HASH_"},
		{"a", "b", "a__HASH_b"}, // A and a look alike
		{"tail_", "x", "tail___HASH_x"},
		{"gh", "_x", "gh__HASH__x"},
		{"gh", "日本", "gh__HASH___"},
		{"my.srv", "x", "my_srv__x"},
	} {
		got := n.Exposed(c.server, []string{c.name})[0]
		want := regexp.MustCompile("^" + strings.Replace(regexp.QuoteMeta(c.want), "HASH", "[a-z2-7]{8}", 1))
		if !want.MatchString(got) || len(got) > 44 {
			t.Errorf("%s %s: got %s, want %s", c.server, c.name, got, c.want)
		}
	}
}

// TestShortNamesKeepTheEnd: tools of one server differ at the tail.
func TestShortNamesKeepTheEnd(t *testing.T) {
	n := exposedBy("organisation-wide-ticket-system")
	got := n.Exposed("organisation-wide-ticket-system", []string{
		"administration_of_projects_and_boards_create", "administration_of_projects_and_boards_delete",
	})
	if !strings.HasSuffix(got[0], "_create") || !strings.HasSuffix(got[1], "_delete") || len(got[0]) != 44 {
		t.Errorf("got %v", got)
	}
}

// TestNamesAreDistinct exposes hostile names of servers and tools: no two get
// the same name, even to who ignores case, and all are short and plain.
func TestNamesAreDistinct(t *testing.T) {
	plain := regexp.MustCompile(`^[A-Za-z0-9_-]{1,44}$`)
	words := []string{"a", "A", "b", "_", "__", "-", ".", "a_b", "é", strings.Repeat("long", 12), " "}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var servers []string
		for i := range 1 + r.IntN(5) {
			servers = append(servers, fmt.Sprintf("%s%s%d%s", words[r.IntN(7)], words[r.IntN(7)], i%3, words[r.IntN(len(words))]))
		}
		servers = unique(servers)
		n := NewNames([]string{"__", "_", ".", "-"}[r.IntN(4)], 44, servers, Names{})
		seen := map[string]string{}
		for _, s := range servers {
			var names []string
			for range 1 + r.IntN(20) {
				names = append(names, words[r.IntN(len(words))]+words[r.IntN(len(words))]+words[r.IntN(len(words))])
			}
			names = unique(names)
			for i, got := range n.Exposed(s, names) {
				key := s + " " + names[i]
				if other, taken := seen[strings.ToLower(got)]; taken {
					t.Fatalf("%q and %q are both exposed as %s", key, other, got)
				}
				if !plain.MatchString(got) {
					t.Fatalf("%q is exposed as %q", key, got)
				}
				seen[strings.ToLower(got)] = key
			}
		}
	}
}

func unique(in []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
