package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// aloneTools has a tool with one of everything, one whose schema takes a
// validator, and one whose types would like names of the support code.
const aloneTools = `{"tools":[
  {"name":"buy","inputSchema":{"type":"object","required":["kind","when"],"additionalProperties":false,"properties":{
    "kind":{"enum":["apple","pear"]},"count":{"type":["integer","null"],"minimum":1},"when":{"type":"string","format":"date-time"},
    "label":{"oneOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]},
    "mode":{"enum":["auto",1]},"at":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":false}}},
   "outputSchema":{"type":"object","required":["total"],"properties":{"total":{"type":"integer"},"kind":{"enum":["apple"]}}}},
  {"name":"pick","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"not":{"required":["a","b"]}}},
  {"name":"tool","inputSchema":{"type":"object","properties":{"result":{"type":"object","properties":{"error":{"type":"string"}}}}}}
]}`

const aloneMain = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/alone/shop"
)

// tiny answers with what it was asked.
type tiny struct{}

func (tiny) CallTool(_ context.Context, name string, args json.RawMessage, _ *shop.CallOptions) (*shop.ToolResult, error) {
	fmt.Println(name, string(args))
	if name == "pick" {
		return shop.ParseToolResult([]byte(` + "`" + `{"content":[{"type":"text","text":"none left"}],"isError":true}` + "`" + `))
	}
	return shop.ParseToolResult([]byte(` + "`" + `{"content":[],"structuredContent":{"total":1e3,"kind":"plum","more":9007199254740993}}` + "`" + `))
}

func main() {
	ctx := context.Background()
	c := shop.New(tiny{})
	p := shop.BuyParams{
		Kind: shop.BuyKindApple, When: "2026-01-02T03:04:05.60Z", Count: shop.Null[int64](),
		Label: new(shop.NewBuyLabel(shop.BuyLabelObject{Name: "x"})), Mode: new(shop.BuyMode1), At: &shop.BuyAt{V0: new(1.5)},
	}
	r, err := c.Buy(ctx, p)
	fmt.Println(r.Total, *r.Kind, r.Kind.Valid(), string(r.Extra["more"]), string(r.Raw.Structured), err)

	p.Count = shop.Some(int64(0))
	_, err = c.Buy(ctx, p)
	var field *shop.FieldError
	fmt.Println(errors.As(err, &field), field.Pointer)

	_, err = c.Pick(ctx, shop.PickParams{A: new("1"), B: new("2")}, shop.WithTimeout(1))
	var failed *shop.ToolError
	fmt.Println(errors.As(err, &failed), err)

	_, err = c.Tool(ctx)
	fmt.Println(err)
}
`

const aloneWant = `buy {"kind":"apple","when":"2026-01-02T03:04:05.60Z","at":[1.5],"count":null,"label":{"name":"x"},"mode":1}
1000 plum false 9007199254740993 {"total":1e3,"kind":"plum","more":9007199254740993} <nil>
true /count
pick {"a":"1","b":"2"}
true tool pick: none left
tool {}
<nil>
`

// TestStandalone generates a package that stands alone into a module that
// requires nothing, and calls through it.
func TestStandalone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/alone\n\ngo 1.26\n", "tools.json": aloneTools, "main.go": aloneMain, "servers.json": `{}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(name string, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "MCPCTL_CONFIG="+filepath.Join(dir, "servers.json"), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", noRaceSleep)
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), log.String())
		}
		return out.String(), log.String()
	}
	_, warned := run("mcpctl", "generate", "shop", "--from", "tools.json", "--standalone", "--out", "shop")
	if want := "warning: shop: tool pick at /inputSchema: not: not checked by a package that stands alone\n"; !strings.Contains(warned, want) {
		t.Errorf("stderr is\n%swant %s", warned, want)
	}
	if strings.Contains(warned, "double") {
		t.Errorf("it has no double, whatever the module: %s", warned)
	}
	run("go", "vet", "./shop")
	deps, _ := run("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./shop")
	if strings.TrimSpace(deps) != "example.com/alone/shop" {
		t.Errorf("it needs %s", deps)
	}
	if got, _ := run("go", "run", "."); got != aloneWant {
		t.Errorf("the program prints\n%swant\n%s", got, aloneWant)
	}
}
