package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// Verdict is what generated code has to say to a value.
type Verdict string

const (
	// Valid values decode, pass Validate and encode to the same value.
	Valid Verdict = "valid"
	// Invalid ones are refused, by decoding or by Validate, with the pointer of
	// what is wrong.
	Invalid Verdict = "invalid"
	// Lenient ones are invalid, but results of a newer server: they decode and
	// encode to the same value.
	Lenient Verdict = "lenient"
)

// Side is the schema of a tool that a value is for.
type Side string

// The sides, by their schemas.
const (
	In  Side = "in"  // inputSchema
	Out Side = "out" // outputSchema
)

// Instance is one value with what is to be said of it.
type Instance struct {
	Line    int
	Tool    string
	Side    Side
	Verdict Verdict
	Pointer string // of an Invalid one
	Value   json.RawMessage
}

// Tool is what a case needs of a tool's definition.
type Tool struct {
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// Schema returns the schema of one side.
func (t Tool) Schema(s Side) json.RawMessage {
	if s == Out {
		return t.OutputSchema
	}
	return t.InputSchema
}

// Case is one folder of testdata: the tools that a package is generated from,
// in tools.json, and values for them, in instances.txt.
type Case struct {
	Name      string // of the folder and of the Go package
	Dir       string
	Tools     map[string]Tool
	Order     []string // of the tools in the file
	Instances []Instance
}

// Load reads all cases of a testdata folder, sorted by name. Folders without
// an instances.txt have a tools.json only.
func Load(testdata string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(testdata, "*", "tools.json"))
	if err != nil {
		return nil, err
	}
	cases := make([]Case, 0, len(paths))
	for _, path := range paths {
		c, err := load(filepath.Dir(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Dir(path), err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func load(dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir), Dir: dir, Tools: map[string]Tool{}}
	data, err := os.ReadFile(filepath.Join(dir, "tools.json"))
	if err != nil {
		return c, err
	}
	var list struct {
		Tools []Tool `json:"tools"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return c, err
	}
	for _, t := range list.Tools {
		c.Tools[t.Name] = t
		c.Order = append(c.Order, t.Name)
	}
	data, err = os.ReadFile(filepath.Join(dir, "instances.txt"))
	if os.IsNotExist(err) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(data)) {
		i, err := parse(strings.TrimSpace(line))
		if err != nil {
			return c, fmt.Errorf("instances.txt:%d: %w", len(c.Instances)+1, err)
		}
		if c.Tools[i.Tool].Schema(i.Side) == nil {
			return c, fmt.Errorf("instances.txt:%d: tool %q has no such schema", len(c.Instances)+1, i.Tool)
		}
		i.Line = len(c.Instances) + 1
		c.Instances = append(c.Instances, i)
	}
	return c, nil
}

// parse reads a line: tool, side, verdict, the pointer of an invalid value
// ("" as two quotes) and the value.
func parse(line string) (Instance, error) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 4 {
		return Instance{}, fmt.Errorf("too few words")
	}
	i := Instance{Tool: words[0], Side: Side(words[1]), Verdict: Verdict(words[2])}
	value := words[3]
	switch i.Verdict {
	case Valid, Lenient:
	case Invalid:
		i.Pointer, value, _ = strings.Cut(value, " ")
		if i.Pointer == `""` {
			i.Pointer = ""
		}
	default:
		return i, fmt.Errorf("no verdict: %q", words[2])
	}
	if !json.Valid([]byte(value)) {
		return i, fmt.Errorf("not JSON: %s", value)
	}
	i.Value = json.RawMessage(value)
	return i, nil
}

// Equal reports whether two JSON texts are the same value, every digit of every
// number counted.
func Equal(a, b []byte) bool {
	x, err := codegen.Canonical(a)
	if err != nil {
		return false
	}
	y, err := codegen.Canonical(b)
	return err == nil && bytes.Equal(x, y)
}
