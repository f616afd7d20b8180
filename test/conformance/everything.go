package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/test/wire"
)

// The Go SDK's everything-server is what the suite's server scenarios are
// about. It is a program, so it is built from a copy in a temporary directory,
// in which the last line is another: ours serves both eras and tells its port.
const (
	sdkModule    = "github.com/modelcontextprotocol/go-sdk"
	dualPackage  = "github.com/mcpctl/mcpctl/test/conformance/dual"
	serveLine    = "http.ListenAndServe(*httpAddr, handler)"
	serveBoth    = "dual.Serve(*httpAddr, server, handler)"
	importBefore = "import (\n"
)

// buildEverything builds the server into dir. Without flags the program is a
// stdio server of both eras, with -http ADDR what package dual serves.
func buildEverything(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", sdkModule).Output()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", sdkModule, err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "conformance", "everything-server", "main.go"))
	if err != nil {
		return "", err
	}
	source, err := serveBothEras(string(text))
	if err != nil {
		return "", err
	}
	main := filepath.Join(dir, "everything.go")
	if err := os.WriteFile(main, []byte(source), 0o600); err != nil {
		return "", err
	}
	return wire.Build(ctx, filepath.Join(dir, "everything"), main)
}

func serveBothEras(source string) (string, error) {
	if strings.Count(source, serveLine) != 1 || !strings.Contains(source, importBefore) {
		return "", errors.New("the SDK's everything-server is not as it was: see test/conformance/everything.go")
	}
	source = strings.Replace(source, serveLine, serveBoth, 1)
	return strings.Replace(source, importBefore, importBefore+"\t\""+dualPackage+"\"\n", 1), nil
}
