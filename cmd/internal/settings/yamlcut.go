package settings

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// WithoutYAML returns the text of a mapping without some of its values, each a path, so that two
// can be compared without them. One that cannot be read stays as it is.
func WithoutYAML(text []byte, paths ...[]string) []byte {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) > 0 && doc.Content[0].Kind != yaml.MappingNode {
		return text
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	for _, path := range paths {
		remove(root, path)
	}
	if len(root.Content) == 0 {
		return nil
	}
	out, err := yaml.Marshal(&doc)
	if err != nil {
		return text
	}
	return out
}

// remove takes a value out of a mapping, and what is empty without it.
func remove(n *yaml.Node, path []string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != path[0] {
			continue
		}
		of := n.Content[i+1]
		if len(path) > 1 {
			remove(of, path[1:])
		}
		if len(path) == 1 || of.Kind == yaml.MappingNode && len(of.Content) == 0 {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
		return
	}
}
