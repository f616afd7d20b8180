// Command tokens compares mcpctl's estimate of tokens with o200k_base, the vocabulary that
// it is made for: over published tools in a folder, and for the definitions that the tests
// of internal/tokens have, whose counts it writes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/tiktoken-go/tokenizer"

	"github.com/mcpctl/mcpctl/internal/tokens"
)

// counted is a definition, and how many tokens it is.
type counted struct {
	Server     string          `json:"server"`
	Tokens     int             `json:"tokens"`
	Definition json.RawMessage `json:"definition"`
}

func main() {
	corpus := flag.String("corpus", "", "folder with tools.jsonl: compare with its definitions")
	file := flag.String("file", "", "file of definitions: write their counts anew")
	flag.Parse()
	if err := errors.Join(compare(*corpus), rewrite(*file)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rewrite writes the counts of a file again.
func rewrite(path string) error {
	if path == "" {
		return nil
	}
	var out bytes.Buffer
	err := each(path, func(line []byte) error {
		var c counted
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		n, err := count(c.Definition)
		if err != nil {
			return err
		}
		c.Tokens = n
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		return e.Encode(c)
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// compare prints how far the estimate is off in published tools. It is an error if that is
// more than mcpctl says.
func compare(dir string) error {
	if dir == "" {
		return nil
	}
	type sum struct{ is, estimate int }
	servers := map[string]*sum{}
	var all sum
	var ofTool []float64
	err := each(filepath.Join(dir, "tools.jsonl"), func(line []byte) error {
		var tool struct {
			Server      string          `json:"server,omitempty"`
			Name        string          `json:"name"`
			Title       string          `json:"title,omitempty"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(line, &tool); err != nil {
			return err
		}
		server := tool.Server
		tool.Server = ""
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(tool); err != nil {
			return err
		}
		definition := bytes.TrimSpace(text.Bytes())
		n, err := count(definition)
		if err != nil {
			return err
		}
		if servers[server] == nil {
			servers[server] = &sum{}
		}
		for _, s := range []*sum{servers[server], &all} {
			s.is += n
			s.estimate += tokens.Estimate(definition)
		}
		ofTool = append(ofTool, math.Abs(float64(tokens.Estimate(definition))/float64(n)-1))
		return nil
	})
	if err != nil {
		return err
	}
	near := 0
	var ofServer []float64
	for _, s := range servers {
		off := math.Abs(float64(s.estimate)/float64(s.is) - 1)
		ofServer = append(ofServer, off)
		if off <= 0.12 {
			near++
		}
	}
	slices.Sort(ofServer)
	slices.Sort(ofTool)
	total := float64(all.estimate)/float64(all.is) - 1
	fmt.Printf("%d tokens, estimated %d (%+.1f %%)\n", all.is, all.estimate, 100*total)
	fmt.Printf("off by, of a server: p50 %.1f %%, p90 %.1f %%; of a tool: p50 %.1f %%, p90 %.1f %%\n",
		100*ofServer[len(ofServer)/2], 100*ofServer[len(ofServer)*9/10], 100*ofTool[len(ofTool)/2], 100*ofTool[len(ofTool)*9/10])
	fmt.Printf("%d of %d servers within 12 %%\n", near, len(servers))
	if near*10 < len(servers)*9 || math.Abs(total) > 0.01 {
		return errors.New("the estimate is further off than it may be")
	}
	return nil
}

func each(path string, f func(line []byte) error) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(raw) {
		if err := f(line); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func count(text []byte) (int, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return 0, err
	}
	return codec.Count(string(text))
}
