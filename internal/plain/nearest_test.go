package plain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpctl/mcpctl/internal/plain"
)

func TestNames(t *testing.T) {
	tools := []string{"read_text_file", "write_file", "list_directory", "echo", "get-sum"}
	servers := []string{"filesystem", "fetch", "github", "git", "memory"}
	for _, tt := range []struct {
		names []string
		in    string
		want  []string
	}{
		{tools, "wrte_file", []string{"write_file"}},
		{tools, "readTextFile", []string{"read_text_file"}},
		{tools, "ehco", []string{"echo"}},
		{tools, "getsum", []string{"get-sum"}},
		{tools, "read", []string{"read_text_file"}},
		{tools, "file", []string{"read_text_file", "write_file"}},
		{tools, "zzz", nil},
		{tools, "", nil},
		{tools, strings.Repeat("x", 1000), nil},
		{servers, "gihtub", []string{"github"}},
		{servers, "GIT", []string{"git", "github"}},
		{servers, "file", []string{"filesystem"}},
		{servers, "memmory", []string{"memory"}},
		{servers, "x", nil},
	} {
		if diff := cmp.Diff(tt.want, plain.Nearest(tt.in, tt.names, 3), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.in, diff)
		}
	}
}

func TestSlip(t *testing.T) {
	for pair, want := range map[string]bool{
		"shpo shop": true, "sho shop": true, "Shop shop": true, "fake-mcp fake": false, "gh ghes": false, "git github": false, "a b": false, "x shop": false, "alcie alice": true,
	} {
		name, other, _ := strings.Cut(pair, " ")
		if got := plain.IsSlip(name, other); got != want {
			t.Errorf("%s: %v", pair, got)
		}
	}
	if plain.IsSlip("", "a") || plain.IsSlip("a", "") {
		t.Error("nothing is a slip of nothing")
	}
}
