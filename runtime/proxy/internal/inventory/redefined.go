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
		if members := differing(was, it.Raw); members != nil {
			log.Warn("tool has changed under its name", "tool", it.Key,
				"members", strings.Join(members, ","), "before", digest(was), "after", digest(it.Raw))
		}
	}
}

// differing returns the semantic members that differ.
func differing(a, b []byte) []string {
	names := semanticMembers()
	inA, inB := make([]rawjson.Span, len(names)), make([]rawjson.Span, len(names))
	if rawjson.Fields(a, inA, names...) != nil || rawjson.Fields(b, inB, names...) != nil {
		return nil
	}
	var out []string
	for i, name := range names {
		if !bytes.Equal(rawjson.Normal(inA[i].Of(a)), rawjson.Normal(inB[i].Of(b))) {
			out = append(out, name)
		}
	}
	return out
}

// digest returns a hash of a tool's semantic members.
func digest(tool []byte) string {
	names := semanticMembers()
	at := make([]rawjson.Span, len(names))
	if rawjson.Fields(tool, at, names...) != nil {
		return ""
	}
	h := sha256.New()
	for i, name := range names {
		h.Write([]byte(name + "\x00"))
		h.Write(rawjson.Normal(at[i].Of(tool)))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
