package policies_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// loadPolicies returns those of a config.yaml.
func loadPolicies(t *testing.T, text string) *policies.Policies {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte(text), 0o600))
	return &policies.Policies{Settings: settings.Settings{ConfigPath: filepath.Join(dir, "servers.json")}, Log: slog.New(slog.DiscardHandler)}
}

func entry(t *testing.T, text string) config.Entry {
	t.Helper()
	f, err := config.Parse("servers.json", []byte(`{"mcpServers":{"fs":`+text+`}}`))
	require.NoError(t, err)
	return f.Entries()[0]
}

// TestShown: a stored list has what could be used, by names, labels and annotations that
// are believed; of policies that cannot be read nothing is shown.
func TestShown(t *testing.T) {
	t.Parallel()
	items := []json.RawMessage{
		json.RawMessage(`{"name":"read","annotations":{"readOnlyHint":true}}`), json.RawMessage(`{"name":"write"}`), json.RawMessage(`{"title":"no name"}`),
	}
	for _, tt := range []struct{ policies, entry, want string }{
		{"", `{"command":"a"}`, "read write "},
		{"access: {rules: [{deny: '*', to: fs/write}]}", `{"command":"a"}`, "read"},
		{"access: {rules: [{deny: '*', to: other/write}]}", `{"command":"a"}`, "read write "},
		{"access: {rules: [{deny: '*', to: fs/write, when: {args.a: {eq: x}}}]}", `{"command":"a"}`, "read write"},
		{"access: {default: read-only}", `{"command":"a"}`, ""},
		{"access: {default: read-only}", `{"command":"a","trustAnnotations":true}`, "read"},
		{"access: {labels: {closed: [other]}, rules: [{deny: '*', to: closed}]}", `{"command":"a","labels":["closed"]}`, ""},
		{"access: {default: deny}", `{"command":"a"}`, ""},
		{"access: {rules: [{deny: '*'}]}", `{"command":"a"}`, ""},
	} {
		var got []string
		for _, item := range loadPolicies(t, tt.policies).Shown(entry(t, tt.entry), "tools", items) {
			var named struct{ Name string }
			require.NoError(t, json.Unmarshal(item, &named))
			got = append(got, named.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s, %s: got %q, want %q", tt.policies, tt.entry, got, tt.want)
		}
	}
	var none *policies.Policies
	if got := none.Shown(entry(t, `{"command":"a"}`), "tools", items); len(got) != len(items) {
		t.Errorf("got %s", got)
	}
}

// TestUnread: what reads no message refuses a server that a policy is about.
func TestUnread(t *testing.T) {
	t.Parallel()
	var said []string
	say := func(format string, a ...any) { said = append(said, fmt.Sprintf(format, a...)) }
	e := entry(t, `{"command":"a"}`)
	about := loadPolicies(t, "access: {rules: [{deny: '*', to: fs/write}]}")
	err := about.Unread(e, "run", false, say)
	if kind, ok := errors.AsType[interface {
		error
		ExitKind() string
	}](err); !ok || kind.ExitKind() != "denied" || said != nil {
		t.Errorf("got %v, %q", err, said)
	}
	require.NoError(t, loadPolicies(t, "access: {rules: [{deny: '*', to: other}]}").Unread(e, "run", false, say))
	require.NoError(t, about.Unread(e, "run", true, say))
	if want := []string{"warning: --no-policy: no policy decides about fs"}; strings.Join(said, "\n") != want[0] {
		t.Errorf("got %q", said)
	}
	if loadPolicies(t, "access: {rules: [{deny: '*'}]}").Unread(e, "run", false, say) == nil {
		t.Error("policies that cannot be read refuse nothing")
	}
}

// TestRefused: refusals of our policies have a hint, those of another mcpctl have none, and
// other errors stay as they are.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code       int64
		data, want string
	}{
		{access.CodeDenied, `{"kind":"denied","server":"fs","tool":"a b"}`, "denied mcpctl policy explain call 'fs/a b' --as local"},
		{access.CodeDenied, `{"kind":"denied","server":"fs","prompt":"p"}`, "denied mcpctl policy explain get fs/p --as local"},
		{access.CodeDenied, `{"kind":"denied","server":"fs","uri":"x:y"}`, "denied mcpctl policy explain read fs/x:y --as local"},
		{access.CodeLimited, `{"kind":"limit","server":"theirs","tool":"t"}`, "limit "},
		{access.CodeDenied, `{"kind":"denied"}`, "denied "},
		{access.CodeDenied, `{"kind":"other"}`, ""},
		{access.CodeDenied, ``, ""},
		{-32602, `{"kind":"denied"}`, ""},
	} {
		rpc := &runtime.Error{Code: tt.code, Message: "m", Data: json.RawMessage(tt.data)}
		err := policies.Refused(fmt.Errorf("x: %w", rpc), "fs")
		r, ok := errors.AsType[*policies.Refusal](err)
		switch {
		case !ok && tt.want == "":
		case !ok, r.Kind+" "+r.Hint() != tt.want, r.Error() != "m", r.ExitKind() != "denied", !errors.Is(err, rpc):
			t.Errorf("%d %s: got %v", tt.code, tt.data, err)
		}
	}
	if policies.Refused(nil, "fs") != nil {
		t.Error("an error of none")
	}
}
