package mirror

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/registry"
)

const (
	// maxRecord bounds one record, in bytes; the largest published one has 37 kB. A larger
	// one is left out.
	maxRecord = 256 << 10
	// maxText bounds the title and description that are searched, in bytes; published ones
	// have 100 characters each.
	maxText = 2000
)

// stored is the form of a record in the file, compressed.
type stored struct {
	Server json.RawMessage `json:"server"`
	Meta   json.RawMessage `json:"_meta,omitempty"`
}

// packer makes the stored form of records. It is reused, since a compressor has half a
// megabyte.
type packer struct {
	b bytes.Buffer
	w *flate.Writer
}

// pack returns the stored form of a record, nil for one that is too large.
func (p *packer) pack(r *registry.Record) ([]byte, error) {
	if len(r.Server.Raw)+len(r.Meta.Raw) > maxRecord {
		return nil, nil
	}
	raw, err := json.Marshal(stored{r.Server.Raw, r.Meta.Raw})
	if err != nil {
		return nil, err
	}
	p.b.Reset()
	if p.w == nil {
		if p.w, err = flate.NewWriter(&p.b, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	p.w.Reset(&p.b)
	if _, err := p.w.Write(raw); err != nil {
		return nil, err
	}
	if err := p.w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(p.b.Bytes()), nil
}

// unpack returns the record of a stored form.
func unpack(blob []byte) (*registry.Record, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(blob)), 2*maxRecord))
	if err != nil {
		return nil, fmt.Errorf("stored record: %w", err)
	}
	return registry.ParseRecord(raw)
}

// doc returns what is searched of a server. Of a namespace on GitHub the user counts,
// of another one what follows the top-level domain.
func doc(s *registry.Server) search.Doc {
	namespace, last := registry.SplitName(s.Name)
	if user, ok := strings.CutPrefix(namespace, "io.github."); ok {
		namespace = user
	} else if _, rest, ok := strings.Cut(namespace, "."); ok {
		namespace = rest
	}
	return search.Doc{Group: namespace, Name: last, Text: cut(s.Title) + " " + cut(s.Description)}
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxText)], "") }

// types returns the types of a server's packages, and remote, each with a space around.
func types(s *registry.Server) string {
	var all []string
	for _, p := range s.Packages {
		if p.RegistryType != "" && !slices.Contains(all, p.RegistryType) && len(all) < 20 {
			all = append(all, p.RegistryType)
		}
	}
	if len(s.Remotes) > 0 {
		all = append(all, "remote")
	}
	return " " + strings.Join(all, " ") + " "
}
