package gateway

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// TestCheckAddress: an address that can never be listened on, or that others
// reach, is a usage error.
func TestCheckAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:0":     "",
		"[::1]:65535":     "",
		"localhost:http":  "",
		"foo":             "want HOST:PORT",
		"8080":            "",
		"0":               "",
		"65536":           "at most 65535",
		":8080":           "no authentication",
		"127.0.0.1:65536": "at most 65535",
		"127.0.0.1:-1":    "at most 65535",
		"0.0.0.0:80":      "no authentication",
	} {
		o := &Options{HTTP: addr}
		err := o.checkAddress()
		if _, noHost := strconv.Atoi(addr); noHost == nil && o.HTTP != "127.0.0.1:"+addr {
			t.Errorf("%s means %s", addr, o.HTTP)
		}
		if want == "" && err == nil {
			continue
		}
		if err == nil || kindOf(err) != "usage" || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", addr, err, want)
		}
	}
}

func kindOf(err error) string {
	if e, ok := errors.AsType[*ui.Error](err); ok {
		return e.ExitKind()
	}
	return ""
}
