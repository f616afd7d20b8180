package rules

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/guards"
)

const guardsExample = "as in guards: {secrets: redact, hidden: label, size: 1MiB, canaries: [blue-heron-42]}"

// readGuards reads what is looked for in messages.
func (s *Section) readGuards(n *yaml.Node) error {
	all, err := s.mapping(n, "access.guards", []string{"secrets", "hidden", "size", "canaries"}, guardsExample)
	if err != nil {
		return err
	}
	for name, mode := range map[string]*guards.Mode{"secrets": &s.Guards.Secrets, "hidden": &s.Guards.Hidden} {
		if v := all[name]; v != nil {
			word, err := s.word("access.guards."+name, v, "write off, label or redact", string(guards.Off), string(guards.Label), string(guards.Redact))
			if err != nil {
				return err
			}
			*mode = guards.Mode(word)
		}
	}
	if v := all["size"]; v != nil {
		var ok bool
		if s.Guards.Size, ok = parseSize(v.Value); v.Kind != yaml.ScalarNode || !ok {
			return s.fault(v, "access.guards.size is no size", "write one such as 64KiB or 1MiB")
		}
	}
	if v := all["canaries"]; v != nil {
		items, err := s.list("access.guards.canaries", v, guardsExample)
		if err != nil {
			return err
		}
		for _, i := range items {
			s.Guards.Canaries = append(s.Guards.Canaries, i.Value)
		}
	}
	if _, err := guards.New(s.Guards); err != nil {
		return s.fault(n, "access.guards: "+err.Error(), guardsExample)
	}
	return nil
}

// parseSize reads a number of bytes above zero, with KiB, MiB or neither.
func parseSize(text string) (int64, bool) {
	unit := int64(1)
	for name, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, ok := strings.CutSuffix(text, name); ok {
			text, unit = strings.TrimSpace(rest), n
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
