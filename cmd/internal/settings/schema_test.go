package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/schemas"
	"github.com/mcpctl/mcpctl/test/require"
)

// asJSON is a YAML document as editors compare it with a schema: dates are texts there.
func asJSON(t *testing.T, text string) json.RawMessage {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name := range v {
				v[name] = plain(v[name])
			}
		case []any:
			for i := range v {
				v[i] = plain(v[i])
			}
		case time.Time:
			return v.Format(time.DateOnly)
		}
		return v
	}
	raw, err := json.Marshal(plain(v))
	require.NoError(t, err)
	return raw
}

// TestSchema: the published schema takes what config.yaml takes, in the documentation and in
// scripts, has every setting, and no other name at any place.
func TestSchema(t *testing.T) {
	s, err := schema.Parse(schemas.Config())
	require.NoError(t, err)
	texts := map[string]string{"empty": ""}
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?ms)^```yaml config.yaml\n(.*?)^```$")
	for _, path := range pages {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range block.FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1) {
			texts[filepath.Base(path)+": "+m[1]] = m[1]
		}
	}
	scripts, err := filepath.Glob(filepath.Join("..", "..", "mcpctl", "testdata", "script", "*.txtar"))
	require.NoError(t, err)
	for _, path := range scripts {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				texts[filepath.Base(path)+": "+f.Name] = string(f.Data)
			}
		}
	}
	taken := 0
	for name, text := range texts {
		if settings.Check("config.yaml", []byte(text)) != nil {
			continue
		}
		taken++
		if err := s.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if taken < 40 {
		t.Errorf("only %d texts", taken)
	}

	var doc struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	require.NoError(t, json.Unmarshal(schemas.Config(), &doc))
	for _, row := range settings.Table() {
		group, name, nested := strings.Cut(row.Name, ".")
		if _, ok := doc.Properties[group]; row.Name != "" && !ok || nested && doc.Properties[group].Properties[name] == nil {
			t.Errorf("%s is not in the schema", row.Name)
		}
	}
	for _, text := range []string{
		`srv: 1`, `serve: {port: 1}`, `auth: {kind: x}`, `audit: {x: 1}`, `access: {rule: []}`, `serve: {tls: {cert: a, key: b, ca: c}}`,
		`serve: {auth: [tokens: {}]}`, `serve: {auth: [jwt: {issuer: "https://i.example", aud: x}]}`, `serve: {views: {a: {tool: [x]}}}`,
		`serve: {views: {a: {override: {b: {names: x}}}}}`, `access: {rules: [{alow: "*", to: a}]}`, `access: {rules: [{allow: "*", deny: "*"}]}`,
		`serve: {search: {word: x}}`, `audit: {bodies: {too: [x]}}`, `serve: {hooks: [{names: x}]}`,
	} {
		if settings.Check("config.yaml", []byte(text)) == nil {
			t.Errorf("%s is a setting", text)
		}
		if s.Validate(asJSON(t, text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
