package link_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestApproval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := seal.NewKeyring()
		want := link.Approval{ID: "ABC", Principal: "token|alice"}
		at, err := url.Parse(want.Page(ring, &url.URL{Scheme: "https", Host: "gate.example", Path: "/team/mcp"}))
		require.NoError(t, err)
		sealed := at.Query().Get("s")
		if at.Host != "gate.example" || at.Path != "/team/approve" || strings.Contains(at.String(), "alice") {
			t.Errorf("got %s", at)
		}
		if got, err := link.OpenApproval(ring, sealed); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
		for name, other := range map[string]string{"none": "", "cut": sealed[1:], "of an account": link.Link{Principal: "token|alice"}.Seal(ring), "of another serve": want.Page(seal.NewKeyring(), at)[40:], "long": strings.Repeat("x", 5000)} {
			if _, err := link.OpenApproval(ring, other); !errors.Is(err, link.ErrInvalid) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := link.Open(ring, sealed); !errors.Is(err, link.ErrInvalid) {
			t.Errorf("it links an account: %v", err)
		}
		time.Sleep(link.TTL)
		if _, err := link.OpenApproval(ring, sealed); !errors.Is(err, link.ErrInvalid) {
			t.Errorf("too late: %v", err)
		}
	})
}
