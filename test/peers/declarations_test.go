//go:build integration

package peers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// The programs call three tools of the view: one that declares its result, one that the view
// renames and of which it fixes an argument, and one that does not declare its result; then one
// that fails. Each prints the same.
const (
	programTS = `import * as t from "./tools.js";
async function main() {
  const item = await t.shop__get_item({ sku: "oak-board" });
  const order = await t.sell({ customer: { name: "Ann Ö" }, lines: [{ sku: item.sku, quantity: 1 }] });
  const echo = await t.shop__echo({ message: "hi */ \"\"\" ü" });
  console.log([item.name, order.delivery, echo.content[0]?.text].join("\n"));
  await t.shop__get_item({ sku: "none" }).catch((e: Error) => console.log("fails: " + e.message.includes("none")));
}
main().catch((e) => { console.error(e); process.exit(1); });
declare const process: { exit(code: number): never };
`
	programPython = `import tools as t
item = t.shop__get_item({"sku": "oak-board"})
order = t.sell({"customer": {"name": "Ann Ö"}, "lines": [{"sku": item["sku"], "quantity": 1}]})
echo = t.shop__echo({"message": "hi */ \"\"\" ü"})
print("\n".join([item["name"], order["delivery"], echo["content"][0]["text"]]))
try:
    t.shop__get_item({"sku": "none"})
except t.ToolError as e:
    print("fails: " + str("none" in str(e)).lower())
`
	programGo = `package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"example.com/x/tools"
)

func main() {
	ctx := context.Background()
	item, err := tools.ShopGetItem(ctx, tools.ShopGetItemParams{Sku: "oak-board"})
	check(err)
	order, err := tools.Sell(ctx, tools.SellParams{Customer: &tools.SellParamsCustomer{Name: "Ann Ö"}, Lines: []tools.SellParamsLinesItem{{Sku: item.Sku, Quantity: 1}}})
	check(err)
	echo, err := tools.ShopEcho(ctx, tools.ShopEchoParams{Message: "hi */ \"\"\" ü"})
	check(err)
	fmt.Printf("%s\n%s\n%s\n", item.Name, order.Delivery, echo.Content[0]["text"])
	_, err = tools.ShopGetItem(ctx, tools.ShopGetItemParams{Sku: "none"})
	fmt.Println("fails:", strings.Contains(err.Error(), "none"))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`
)

// TestDeclarations: what serve hands out as code, and mcpctl generate writes, is the same, and
// calls three tools through serve, with a token.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	config, home, dir := configure(t, process("shop", nil, binary, "demo-server")), t.TempDir(), t.TempDir()
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(filepath.Dir(config), "config.yaml"), `serve:
  auth: [token: {}]
  views:
    counter:
      tools: ["shop__*", "!shop__open_*"]
      override:
        shop__place_order: {name: sell, arguments: {delivery: {value: pickup}}}
    other: {tools: []}
`)
	token := idp.StaticToken("annannan", strings.Repeat("A", 43))
	sum := sha256.Sum256([]byte(token))
	write(filepath.Join(home, "access-tokens.json"), `{"tokens":[{"id":"annannan","name":"ann","sha256":"`+hex.EncodeToString(sum[:])+`","created":"2026-11-23T00:00:00Z"}]}`)
	d := wire.Serve(t, wire.Setup{Program: binary, Config: config, Home: home})
	url := strings.TrimSuffix(d.URL, "/") + "/counter"
	files := map[string]string{"ts": "tools.ts", "d.ts": "types/tools.d.ts", "py": "tools.py", "go": "tools/tools.go"}
	for end, file := range files {
		file = filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		ok(t, config, "generate", "--lang", map[bool]string{true: "ts", false: end}[end == "d.ts"], "--view", "counter", "--out", file)
		written, err := os.ReadFile(file)
		require.NoError(t, err)
		var read struct{ Contents []struct{ Text string } }
		require.NoError(t, json.Unmarshal([]byte(ok(t, config, "read", "--url", url, "-H", "Authorization: Bearer "+token, "mcpctl+view://counter/tools."+end, "--json")), &read))
		if len(read.Contents) != 1 || read.Contents[0].Text != string(written) {
			t.Errorf("%s: serve hands out something else than is written", end)
		}
	}
	write(filepath.Join(dir, "main.ts"), programTS)
	write(filepath.Join(dir, "main.py"), programPython)
	write(filepath.Join(dir, "main.go"), programGo)
	write(filepath.Join(dir, "go.mod"), "module example.com/x\n\ngo 1.26\n")
	run := func(words []string, env ...string) string {
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", strings.Join(words, " "), err)
		}
		return string(out)
	}
	run(npmtest.TypeScript(t, "--strict", "--target", "es2022", "--module", "commonjs", "--outDir", "js", "main.ts", "tools.ts"))
	const want = "Oak board, 20 × 120 × 1000 mm\npickup\nhi */ \"\"\" ü\nfails: true\n"
	programs := [][]string{{"node", "js/main.js"}, {"go", "run", "."}}
	python := exec.CommandContext(t.Context(), "python3", "-c", "from typing import NotRequired").Run() == nil
	if python {
		programs = append(programs, []string{"python3", "main.py"})
	} else {
		t.Log("without the program of Python: there is no Python 3.11 or newer")
	}
	for _, words := range programs {
		if got := run(words, "MCPCTL_URL="+url, "MCPCTL_TOKEN="+token, "GOWORK=off", "GOFLAGS=", "PYTHONIOENCODING=utf-8"); got != want {
			t.Errorf("%s: got %s", words[0], got)
		}
	}
	if !python {
		return
	}
	write(filepath.Join(dir, "refused.py"), "import tools\ntry:\n    tools.shop__echo({'message': 'x'})\nexcept tools.ToolError as e:\n    print(e)\n")
	for want, env := range map[string][]string{
		"no answer, HTTP status 401":       {"MCPCTL_URL=" + url, "MCPCTL_TOKEN=wrong"},
		"unknown tool: shop__echo":         {"MCPCTL_URL=" + strings.Replace(url, "counter", "other", 1), "MCPCTL_TOKEN=" + token},
		"MCPCTL_URL is not set: it is the": {"MCPCTL_URL="},
	} {
		if got := run([]string{"python3", "refused.py"}, env...); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
