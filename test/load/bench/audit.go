package main

import (
	"context"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/load/gen"
)

// audited is the section that turns the audit log on.
const audited = "audit: {}\n"

// auditGroup compares serve that decides by policies and writes an audit log with serve
// that does neither.
func (b *bench) auditGroup(ctx context.Context) error {
	key := idp.NewKey("1", "ES256")
	issuer := idp.NewServer(key)
	defer issuer.Close()
	both := accessText(manyPolicies, nobody, "") + audited
	for _, g := range []struct {
		name string
		of   func() ([]contender, error)
	}{
		{"audit", func() ([]contender, error) {
			return contenders([]string{"jwt", "audit"}, func(name string, i int) (contender, error) {
				return b.asking("audit-"+name, withJWT(issuer, key).asked([]string{"", both}[i]), gen.Target{})
			})
		}},
		{"audit-stdio", func() ([]contender, error) {
			return b.overPolicies([]string{"serve", "audit"}, []string{"", both})
		}},
	} {
		b.report.Busy[g.name] = b.report.Busy["audit"]
		if err := b.loadGroup(g.name, g.of, gen.Work{Callers: 32})(ctx); err != nil {
			return err
		}
	}
	return nil
}
