//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorded has the serves with policies keep an audit log, in which each refusal has to be,
// with the policy that has decided.
var recorded = os.Getenv("MCPCTL_TEST_AUDIT") != ""

// refusals are the records that answers have named, with the policies that these have named;
// "" for none.
var refusals struct {
	sync.Mutex
	by map[string]string
}

var (
	recordIn = regexp.MustCompile(`"record":"([a-z0-9]+-[0-9]+)"`)
	policyIn = regexp.MustCompile(`"policy":"([^"]+)"`)
)

// noteRefusal notes the record that a denial names; it must name one.
func noteRefusal(t testing.TB, answer string) {
	t.Helper()
	if !recorded || !strings.Contains(answer, `"code":-31009`) && !strings.Contains(answer, `"code":-31029`) {
		return
	}
	ref := recordIn.FindStringSubmatch(answer)
	if ref == nil {
		t.Errorf("no record is named: %.500s", answer)
		return
	}
	refusals.Lock()
	defer refusals.Unlock()
	if refusals.by == nil {
		refusals.by = map[string]string{}
	}
	refusals.by[ref[1]] = ""
	if policy := policyIn.FindStringSubmatch(answer); policy != nil {
		refusals.by[ref[1]] = policy[1]
	}
}

// logged is a record as it is printed.
type logged struct {
	Run, Verdict string
	N            int
	By           []string
}

// logOf reads the log of a serve, once it has all that answers have named: records get there
// after a moment.
func (p *policed) logOf(t testing.TB) (all map[string]logged, text string) {
	t.Helper()
	for n := 0; ; n++ {
		o := p.home.mcpctl(t, "", "audit", "--json")
		all = map[string]logged{}
		runs, missing := map[string]bool{}, false
		for line := range strings.Lines(o.stdout) {
			var r logged
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Errorf("%v: %s", err, line)
			}
			all[fmt.Sprintf("%s-%d", r.Run, r.N)], runs[r.Run] = r, true
		}
		refusals.Lock()
		for ref := range refusals.by {
			run, _, _ := strings.Cut(ref, "-")
			_, is := all[ref]
			missing = missing || runs[run] && !is
		}
		refusals.Unlock()
		if len(all) > 0 && !missing || n == 3000 {
			if o.code != 0 || len(all) == 0 {
				t.Errorf("exit code %d: %.500s", o.code, o.output())
			}
			return all, o.output()
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkRefusals checks that the log of a serve has the records that its answers have named,
// with the policies that decided, and no credential.
func (p *policed) checkRefusals(t testing.TB) {
	t.Helper()
	all, text := p.logOf(t)
	for _, secret := range p.tokens {
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("a token is in the log")
		}
	}
	runs := map[string]bool{}
	for _, r := range all {
		runs[r.Run] = true
	}
	refusals.Lock()
	defer refusals.Unlock()
	checked := 0
	for ref, policy := range refusals.by {
		if run, _, _ := strings.Cut(ref, "-"); !runs[run] {
			continue // of another serve
		}
		if r := all[ref]; r.Verdict != "deny" && r.Verdict != "limit" || policy != "" && !slices.Contains(r.By, policy) {
			t.Errorf("%s: the log has %+v, the answer named the policy %q", ref, r, policy)
		}
		delete(refusals.by, ref)
		checked++
	}
	t.Logf("%d refusals have their record", checked)
}
