package args

import (
	"slices"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// sampleDepth bounds how deep a sample goes into nested arguments.
const sampleDepth = 4

// Sample returns words that give a tool its required arguments, or its first one if none
// is required.
func Sample(in *schema.Schema) []string {
	var words []string
	props := in.Root().Properties()
	needed := slices.DeleteFunc(slices.Clone(props), func(p schema.Property) bool { return !p.Required })
	if len(needed) == 0 && len(props) > 0 {
		needed = props[:1]
	}
	for _, p := range needed {
		words = append(words, samplePairs(p.Name, p.Node, 1)...)
	}
	return words
}

// samplePairs returns words that give an argument a value of its type.
func samplePairs(path string, n schema.Node, depth int) []string {
	k := n.Kinds()
	if values := n.Enum(); len(values) > 0 {
		if text, ok := values[0].(string); ok {
			return []string{path + "=" + text}
		}
		return []string{path + ":=" + schema.Text(values[0])}
	}
	for _, sample := range append(n.Examples(), n.Default()) {
		if sample != "" && sample != "null" && len(sample) <= 40 {
			return []string{path + ":=" + sample}
		}
	}
	switch {
	case k&schema.String != 0 && k == schema.Any:
		return []string{path + ":=null"}
	case k&schema.String != 0:
		return []string{path + "=" + sampleText(n)}
	case k&schema.Integer != 0:
		return []string{path + "=1"}
	case k&schema.Boolean != 0:
		return []string{path + "=true"}
	case k&schema.Array != 0 && depth < sampleDepth:
		item := n.Item(0)
		if item.Kinds() == schema.Any || item.Kinds()&schema.Array != 0 {
			return []string{path + ":=[]"}
		}
		if item.Kinds()&schema.Object != 0 {
			return samplePairs(path+"[0]", item, depth+1)
		}
		return samplePairs(path, item, depth+1)
	case k&schema.Object != 0 && depth < sampleDepth:
		var out []string
		for _, p := range n.Properties() {
			if p.Required {
				out = append(out, samplePairs(path+"."+p.Name, p.Node, depth+1)...)
			}
		}
		if out != nil {
			return out
		}
		return []string{path + ":={}"}
	}
	return []string{path + ":=null"}
}

func sampleText(n schema.Node) string {
	if n.ContentEncoding() == "base64" {
		return "@FILE"
	}
	switch n.Format() {
	case "uri", "url":
		return "https://example.com/"
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "email":
		return "me@example.com"
	}
	return "TEXT"
}
