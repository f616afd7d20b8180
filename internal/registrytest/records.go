package registrytest

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
)

//go:embed records/*.json
var recordFiles embed.FS

// Workshop is the sample whose URL a demo replaces with that of its own server.
const Workshop = "com.example.demo/workshop"

// Records returns the sample records, sorted by file name: npm, PyPI and
// container packages, remotes with a secret header and with a templated URL, a
// deprecated one, one whose latest version is a prerelease, two with the same
// last part, a bundle that cannot be added, a deleted one. The publishers and
// packages are made up.
func Records() ([]json.RawMessage, error) {
	names, err := RecordNames()
	if err != nil {
		return nil, err
	}
	out := make([]json.RawMessage, 0, len(names))
	for _, name := range names {
		raw, err := RecordFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// RecordNames returns the file names of the samples, such as "thing-1.3.0.json".
func RecordNames() ([]string, error) {
	files, err := recordFiles.ReadDir("records")
	if err != nil {
		return nil, fmt.Errorf("sample records: %w", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names, nil
}

// RecordFile returns one sample by its file name.
func RecordFile(name string) (json.RawMessage, error) {
	raw, err := recordFiles.ReadFile(path.Join("records", name))
	if err != nil {
		return nil, fmt.Errorf("sample record %s: %w", name, err)
	}
	return raw, nil
}
