package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSearchResults(t *testing.T) {
	s := newShop(t, `{"mcpServers":{"g":{"command":"x","origin":{"registry":"r","name":"com.example.digest/github-digest"}}}}`)
	for name, tt := range map[string]struct {
		words []string
		want  []string
		note  string
	}{
		"words":        {[]string{"github", "issues"}, []string{"io.github.acme/github-issues 1.0.3 false", "com.example.digest/github-digest 0.2.0 true"}, ""},
		"type":         {[]string{"github", "issues", "--type", "npm"}, []string{"io.github.acme/github-issues 1.0.3 false"}, ""},
		"remote":       {[]string{"calendar", "--type", "remote"}, []string{"com.example.oak/calendar 3.0.1 false"}, ""},
		"release":      {[]string{"atlas"}, []string{"io.github.acme/atlas 2.1.0 false"}, ""},
		"prerelease":   {[]string{"atlas", "--pre"}, []string{"io.github.acme/atlas 3.0.0-rc.1 false"}, ""},
		"limit":        {[]string{"calendar", "--limit", "1"}, []string{"com.example.oak/calendar 3.0.1 false"}, "1 of 2 servers shown; --limit 2 shows all"},
		"nothing":      {[]string{"zebra"}, nil, "nothing found"},
		"deleted ones": {[]string{"gone"}, nil, "nothing found"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.run(t, append([]string{"search"}, tt.words...)...)
			var res struct {
				Servers []struct {
					Name, Version     string
					Installed         bool
					Packages, Remotes []string
				}
			}
			if err := json.Unmarshal([]byte(got.out), &res); got.code != exitOK || err != nil || res.Servers == nil {
				t.Fatalf("got %+v %v", got, err)
			}
			var list []string
			for _, h := range res.Servers {
				list = append(list, h.Name+" "+h.Version+" "+map[bool]string{true: "true", false: "false"}[h.Installed])
				if h.Packages == nil || h.Remotes == nil {
					t.Errorf("%s: packages or remotes are null", h.Name)
				}
			}
			if diff := cmp.Diff(tt.want, list); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(got.errOut, tt.note) || tt.note == "" && got.errOut != "" {
				t.Errorf("got notes %q, want %q", got.errOut, tt.note)
			}
		})
	}
	table := s.run(t, "-o", "text", "search", "old-clock")
	want := "NAME                    VERSION  TYPES  STATUS      TITLE\nio.github.acme/old-clock  0.9.0    npm    deprecated  Old Clock: Tells the time in one time zone\n"
	if strings.Join(strings.Fields(table.out), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got %q", table.out)
	}
	for _, words := range [][]string{{"ab"}, {"atlas", "--limit", "0"}, {"atlas", "--type", "deb"}, {}} {
		if got := s.run(t, append([]string{"search"}, words...)...); got.code != exitUsage {
			t.Errorf("%q: got %+v, want exit %d", words, got, exitUsage)
		}
	}
	if got := s.run(t, "search", "atlas", "--registry", "http://127.0.0.1:1"); got.code != exitConnect {
		t.Errorf("unreachable: got %+v, want exit %d", got, exitConnect)
	}
}

func TestSearchWorksBesideABrokenFile(t *testing.T) {
	s := newShop(t, `{`)
	if got := s.run(t, "search", "atlas"); got.code != exitOK {
		t.Errorf("got %+v", got)
	}
}

func TestInfo(t *testing.T) {
	s := newShop(t, "")
	got := s.run(t, "info", "thing")
	var res map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.out), &res); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	for key, want := range map[string]string{
		"server": `"identifier":"@acme/thing-mcp"`, "_meta": `"isLatest":true`, "entry": `"@acme/thing-mcp@1.3.0"`,
		"required": `"THING_TOKEN"`, "optional": `"THING_TRACE"`, "warnings": `[]`,
	} {
		if !strings.Contains(string(res[key]), want) {
			t.Errorf("%s: got %s, want %s in it", key, res[key], want)
		}
	}
	refused := s.run(t, "info", "desk-bundle")
	if refused.code != exitOK || !strings.Contains(refused.out, `"entry":null`) || !strings.Contains(refused.out, "only bundles") {
		t.Errorf("refused: got %+v", refused)
	}
	text := s.run(t, "-o", "text", "info", "old-clock")
	for _, want := range []string{
		"Status        deprecated: Use io.github.acme/atlas", "Namespace     GitHub user or organisation acme", "Package 1     npm @acme/old-clock 0.9.0",
		"add writes, as old-clock:\n{\n", "warning: io.github.acme/old-clock 0.9.0 is deprecated",
	} {
		if !strings.Contains(text.out, want) {
			t.Errorf("%q is not in\n%s", want, text.out)
		}
	}
	if got := s.run(t, "info", "com.example/none"); got.code != exitOther {
		t.Errorf("missing: got %+v, want exit %d", got, exitOther)
	}
}
