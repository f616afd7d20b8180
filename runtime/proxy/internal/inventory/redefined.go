package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// semanticMembers returns the members of a tool that say what it does, to a model and
// to the person who has approved it.
func semanticMembers() []string {
	return []string{"description", "title", "inputSchema", "outputSchema", "annotations"}
}

// Redefined logs tools that a server defines otherwise than before under the same
// name: what a person has approved may not be what is called. How a definition is
// written does not matter: it may differ by era.
func Redefined(log *slog.Logger, before, after *Inventory) {
	if before == nil || after == nil {
		return
	}
	old := map[string][]byte{}
	for _, it := range before.Items[Tools] {
		old[it.Key] = it.Raw
	}
	for _, it := range after.Items[Tools] {
		was, ok := old[it.Key]
		if !ok || bytes.Equal(was, it.Raw) {
			continue
		}
		a, b := semantics(was), semantics(it.Raw)
		var members []string
		for i, name := range semanticMembers() {
			if a != nil && b != nil && !bytes.Equal(a[i], b[i]) {
				members = append(members, name)
			}
		}
		if members != nil {
			log.Warn("tool has changed under its name", "tool", it.Key,
				"members", strings.Join(members, ","), "before", digest(a), "after", digest(b))
		}
	}
}

// semantics returns the semantic members of a tool in normal form, nil where it is no
// object.
func semantics(tool []byte) [][]byte {
	names := semanticMembers()
	at, out := make([]rawjson.Span, len(names)), make([][]byte, len(names))
	if rawjson.Fields(tool, at, names...) != nil {
		return nil
	}
	for i := range at {
		out[i] = rawjson.Normal(at[i].Of(tool))
	}
	return out
}

// digest returns a hash of semantics.
func digest(semantics [][]byte) string {
	h := sha256.New()
	for i, name := range semanticMembers() {
		h.Write([]byte(name + "\x00"))
		h.Write(semantics[i])
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
