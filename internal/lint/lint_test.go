package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/lint"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

const head = `"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json","name":"io.example/thing"`

// doc returns a document that is fine but for its other members.
func doc(members string) string {
	return `{` + head + `,"version":"1.0.0","description":"Things",` + members + `}`
}

// npm returns a document with a package that is fine but for its other members.
func npm(members string) string {
	return doc(`"packages":[{"registryType":"npm","identifier":"thing","version":"1.0.0","transport":{"type":"stdio"}` + members + `}]`)
}

func oci(image, members string) string {
	return doc(`"packages":[{"registryType":"oci","identifier":"` + image + `","transport":{"type":"stdio"}` + members + `}]`)
}

func remote(url, members string) string {
	return doc(`"remotes":[{"type":"streamable-http","url":"` + url + `"` + members + `}]`)
}

func header(members string) string {
	return remote("https://x.example.com", `,"headers":[{`+members+`}]`)
}

func env(members string) string { return npm(`,"environmentVariables":[{` + members + `}]`) }

func arg(members string) string { return npm(`,"packageArguments":[{` + members + `}]`) }

// runtime returns a document with an argument of docker.
func runtime(members string) string {
	return oci("ghcr.io/a/b:1", `,"runtimeHint":"docker","runtimeArguments":[{`+members+`}]`)
}

// TestRules: one document for each rule, or more; each has that finding alone, and no rule
// is without one.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tt := range []struct{ doc, want string }{ // want: SEVERITY NAME POINTER
		{"{\n // mine\n}", "error syntax "},
		{`{"name":"x",}`, "error syntax "},
		{`{"name":"x"`, "error syntax "},
		{`{} {}`, "error syntax "},
		{"\xEF\xBB\xBF{}", "error syntax "},
		{strings.Repeat("[", 300), "error syntax "},
		{`[]`, "error kind "},
		{npm(`,"version":"1.0.0"`), "error duplicate-member /packages/0/version"},
		{env(`"name":"A","isRequired":"maybe"`), "error kind /packages/0/environmentVariables/0/isRequired"},
		{npm(`,"packageArguments":["serve"]`), "error kind /packages/0/packageArguments/0"},
		{env(`"name":"A","required":true`), "warning unknown-member /packages/0/environmentVariables/0/required"},
		{npm(`,"runtime_hint":"npx"`), "warning old-spelling /packages/0/runtime_hint"},
		{strings.Replace(npm(""), "2025-12-11", "2025-10-17", 1), "warning schema /$schema"},
		{strings.Replace(npm(""), "2025-12-11", "2025-07-09", 1), "error schema /$schema"},
		{strings.Replace(npm(""), "io.example/thing", "thing", 1), "error name /name"},
		{strings.Replace(npm(""), `"version":"1.0.0","desc`, `"version":"^1.0","desc`, 1), "error version /version"},
		{strings.Replace(npm(""), `"version":"1.0.0","desc`, `"version":"spring","desc`, 1), "warning version-order /version"},
		{strings.Replace(npm(""), "Things", strings.Repeat("ü", 101), 1), "error description /description"},
		{npm(`}],"title":"","packages":[{"registryType":"npm","identifier":"thing","version":"1.0.0","transport":{"type":"stdio"}`), "error duplicate-member /packages|error title /title"},
		{npm(``)[:len(npm(``))-1] + `,"websiteUrl":"http://x.example.com"}`, "error website /websiteUrl"},
		{npm(``)[:len(npm(``))-1] + `,"repository":{"url":"https://x.example.com","source":"github"}}`, "error website /repository/url"},
		{doc(`"packages":[]`), "error nothing-to-run "},
		{doc(`"packages":[{"registryType":"mcpb","identifier":"https://github.com/a/b.mcpb","fileSha256":"` + strings.Repeat("a", 64) + `","transport":{"type":"stdio"}}],"remotes":[{"type":"sse","url":"https://x.example.com"}]`), ""},
		{doc(`"packages":[{"registryType":"conda","identifier":"b","transport":{"type":"stdio"}}],"remotes":[{"type":"sse","url":"https://x.example.com"}]`), "warning package-type /packages/0/registryType"},
		{doc(`"packages":[{"registryType":"mcpb","identifier":"https://github.com/a/b.mcpb","transport":{"type":"stdio"}}],"remotes":[{"type":"sse","url":"https://x.example.com"}]`), "error file-hash /packages/0"},
		{strings.Replace(npm(""), `"identifier":"thing"`, `"identifier":"git+https://x/y"`, 1), "error identifier /packages/0/identifier"},
		{strings.Replace(npm(""), `"version":"1.0.0","trans`, `"version":">=1","trans`, 1), "error identifier /packages/0/version|error package-version /packages/0/version"},
		{strings.Replace(npm(""), `"version":"1.0.0","trans`, `"version":" 1","trans`, 1), "error package-version /packages/0/version"},
		{oci("ghcr.io/a/b", ""), "warning unpinned /packages/0/identifier"},
		{oci("ghcr.io/a/b:1", `,"version":"2"`), "warning image-version /packages/0/version"},
		{doc(`"packages":[{"registryType":"cargo","identifier":"thing","version":"1.0.0","transport":{"type":"stdio"}}]`), "error cargo-name /packages/0/identifier"},
		{npm(`,"transport2":1`), "warning unknown-member /packages/0/transport2"},
		{doc(`"packages":[{"registryType":"npm","identifier":"thing","version":"1.0.0"}]`), "error transport /packages/0"},
		{strings.Replace(npm(""), `"stdio"`, `"streamable-http"`, 1), "error transport /packages/0/transport|error url /packages/0"},
		{npm(`,"runtimeHint":"bash","runtimeArguments":[{"type":"positional","value":"-c"}]`), "warning dropped-arguments /packages/0/runtimeArguments|warning runtime-hint /packages/0/runtimeHint"},
		{runtime(`"type":"named","name":"--privileged"`), "error runner-option /packages/0/runtimeArguments/0/name"},
		{runtime(`"type":"named","name":"--network","value":"host"`), "warning runner-effect /packages/0/runtimeArguments/0/value"},
		{runtime(`"type":"positional","value":"--rm"`), "warning repeated-operand /packages/0/runtimeArguments/0"},
		{arg(`"type":"positional"`), "error empty-argument /packages/0/packageArguments/0"},
		{arg(`"type":"named","name":"--{x}","value":"1"`), "warning template-in-name /packages/0/packageArguments/0/name"},
		{arg(`"type":"named","name":"--a b"`), "warning joined-argument /packages/0/packageArguments/0/name"},
		{arg(`"type":"named","name":"--a","value":"--a=1"`), "error repeated-name /packages/0/packageArguments/0/value"},
		{arg(`"type":"named","name":"--key","isRequired":true,"isSecret":true`), "warning secret-argument /packages/0/packageArguments/0/name"},
		{env(`"name":"A=B","isRequired":true`), "error env-name /packages/0/environmentVariables/0/name"},
		{env(`"name":"NODE_OPTIONS","value":"--require x"`), "error env-dangerous /packages/0/environmentVariables/0/name"},
		{npm(`,"environmentVariables":[{"name":"A1","default":"1"},{"name":"A1","default":"2"}]`), "warning duplicate /packages/0/environmentVariables/0/name"},
		{env(`"name":"A_TOKEN","isSecret":true,"default":"abc"`), "warning secret-default /packages/0/environmentVariables/0/default"},
		{env(`"name":"API_KEY","isRequired":true`), "warning secret-mark /packages/0/environmentVariables/0/name"},
		{env(`"name":"A1","default":"<your org>"`), "warning example-default /packages/0/environmentVariables/0/default"},
		{env(`"name":"A1","default":"c","choices":["a","b"]`), "warning bad-default /packages/0/environmentVariables/0/name"},
		{env(`"name":"A1","value":"x {org}"`), "warning undeclared-variable /packages/0/environmentVariables/0/name"},
		{remote("https://{org}.example.com", ""), "error undeclared-variable /remotes/0/url"},
		{env(`"name":"A1","value":"${}"`), "warning dollar /packages/0/environmentVariables/0/name"},
		{env(`"name":"A1","value":"x","variables":{"org":{}}`), "warning unused-variable /packages/0/environmentVariables/0/variables/org"},
		{doc(`"remotes":[{"type":"websocket","url":"https://x.example.com"},{"type":"sse","url":"https://x.example.com"}]`), "error remote-type /remotes/0/type"},
		{remote("ftp://x.example.com", ""), "error url /remotes/0/url"},
		{remote("http://x.example.com", ""), "error http /remotes/0/url"},
		{remote("http://localhost:1", ""), "error http /remotes/0/url"},
		{remote("https://user@x.example.com", ""), "error address /remotes/0/url"},
		{remote("{base}/mcp", `,"variables":{"base":{"isRequired":true}}`), "warning url-placeholder /remotes/0/url"},
		{header(`"name":"A B","value":"x"`), "error header-name /remotes/0/headers/0/name"},
		{header(`"name":"Content-Type","value":"x"`), "warning header-reserved /remotes/0/headers/0/name"},
		{header(`"name":"X-A","value":"a\nb"`), "error header-value /remotes/0/headers/0/name"},
		{header(`"name":"X-A","value":"a\u0000b"`), "error nul /remotes/0"},
		{npm(`,"registryBaseUrl":"nowhere"`), "warning registry-base-url /packages/0/registryBaseUrl"},
		{npm(`,"registryBaseUrl":"https://npm.example.com"`), "warning registry-base-url /packages/0/registryBaseUrl"},
		{npm(`,"environmentVariables":[` + strings.TrimSuffix(strings.Repeat(`{"name":"A1","default":"{x}"},`, 5001), ",") + `]`), "error too-many "},
		{npm(""), ""},
	} {
		var got []string
		for _, f := range lint.Document([]byte(tt.doc)) {
			got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Name, f.Pointer))
			seen[f.Name] = true
			if f.Rule == "" || f.Line < 1 || f.Column < 1 || f.Message == "" || f.Fix == "" {
				t.Errorf("%s: %+v", tt.doc, f)
			}
		}
		slices.Sort(got)
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%.2000s\ngot  %.2000s\nwant %s", tt.doc, strings.Join(got, "|"), tt.want)
		}
	}
	for _, r := range lint.Rules() {
		if !seen[r.Name] {
			t.Errorf("no document has %s %s", r.Number, r.Name)
		}
	}
}

// TestPlace: lines and characters count from 1, and a record's document may be in server.
func TestPlace(t *testing.T) {
	t.Parallel()
	text := "{\"server\": {\n  " + head + ",\n  \"description\": \"Größe\", \"version\": \"latest\",\n  \"packages\": [{\"registryType\":\"npm\",\"identifier\":\"thing\",\"version\":\"1.0.0\",\"transport\":{\"type\":\"stdio\"}}]\n}}"
	got := lint.Document([]byte(text))
	if len(got) != 1 || got[0].Line != 3 || got[0].Column != 38 || got[0].Pointer != "/server/version" || got[0].Rule != "L112" {
		t.Errorf("got %+v", got)
	}
}

// corpus returns a collection of published documents; nil where there is none.
func corpus(t *testing.T, name string) [][]byte {
	t.Helper()
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS") // see make registry-corpus
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skip("no published documents here")
	}
	return bytes.Split(bytes.TrimSpace(b), []byte("\n"))
}

// byAdd are the rules by which add refuses what the registry takes.
const byAdd = "nothing-to-run identifier runner-option file-hash"

// TestPublished: a document that the registry has taken has no errors but those of add, and
// one that it refuses has at least one.
func TestPublished(t *testing.T) {
	t.Parallel()
	for _, raw := range corpus(t, "servers.jsonl") {
		for _, f := range lint.Document(raw) {
			if f.Severity == lint.Error && !slices.Contains(strings.Fields(byAdd), f.Name) {
				t.Errorf("%+v", f)
			}
		}
	}
	for _, line := range corpus(t, "refused.jsonl") {
		var item struct {
			Reason string
			Server json.RawMessage
		}
		require.NoError(t, json.Unmarshal(line, &item))
		isError := func(f lint.Finding) bool { return f.Severity == lint.Error }
		if !slices.ContainsFunc(lint.Document(item.Server), isError) && !strings.Contains(item.Reason, "already used") {
			t.Errorf("no error, where the registry says %s", item.Reason)
		}
	}
}

// TestSamples: the samples of the demo are good examples.
func TestSamples(t *testing.T) {
	t.Parallel()
	all, err := registrytest.Records()
	require.NoError(t, err)
	for _, raw := range all {
		for _, f := range lint.Document(raw) {
			if f.Severity == lint.Error && f.Name != "nothing-to-run" {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestPage: docs/lint.md has the rules as they are.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "lint.md"))
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| L") {
			rows++
		}
	}
	for _, r := range lint.Rules() {
		if row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.Number, r.Name, r.Severity, r.About, r.Fix); !strings.Contains(string(page), row) {
			t.Errorf("not in docs/lint.md:\n%s", row)
		}
	}
	if rows != len(lint.Rules()) {
		t.Errorf("docs/lint.md has %d rules, want %d", rows, len(lint.Rules()))
	}
}

// FuzzDocument: no text is too odd.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(npm("")))
	f.Add([]byte(`{"server":{"name":null,"packages":[null,1,[]],"remotes":{"a":1}},"_meta":[]}`))
	f.Add([]byte(runtime(`"type":"named","name":"-e","value":"A={b}","variables":{"b":[]}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, found := range lint.Document(raw) {
			if found.Line < 1 || found.Column < 1 || found.Rule == "" {
				t.Errorf("%q: %+v", raw, found)
			}
		}
	})
}
