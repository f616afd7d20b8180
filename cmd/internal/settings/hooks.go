package settings

import (
	"go.yaml.in/yaml/v3"
)

// Hooks returns the hooks of a config.yaml, which need not exist. Its error is a
// [*config.Problem]. What they say may change while serve runs: only this file has to be watched.
func Hooks(path string) ([]HookEntry, error) {
	src := source{}
	if err := src.readFile(path); err != nil {
		return nil, err
	}
	return src.file.readHooks(src.file.node(HookName))
}

func (f *file) readHooks(n *yaml.Node) ([]HookEntry, error) {
	return ReadHooks(hookReader{f}, n, f.node(auditName) != nil)
}

// hookReader is the file as its hooks are read.
type hookReader struct{ f *file }

func (r hookReader) Decode(name string, n *yaml.Node, to any, example string) error {
	return r.f.decode(name, n, to, example)
}

func (r hookReader) Problem(n *yaml.Node, of, message, remedy string) error {
	if at := member(n, of); at != nil {
		n = at
	}
	return r.f.problemAt(n, message, remedy)
}

func (r hookReader) Has(n *yaml.Node, of string) bool { return member(n, of) != nil }
