package build

import "github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"

// breakCycles makes a field a pointer where a struct or tuple would otherwise
// contain itself. Only required fields hold them by value; unions, lists and
// maps hold what is inside them behind a pointer.
func breakCycles(decls []*model.Decl) {
	const (
		unseen = iota
		open
		done
	)
	state := map[*model.Decl]int{}
	var visit func(d *model.Decl)
	visit = func(d *model.Decl) {
		state[d] = open
		for _, f := range d.Fields {
			if f.Presence != model.Always || f.Type.Kind != model.Named {
				continue
			}
			inner := f.Type.Decl
			if inner.Form != model.Struct && inner.Form != model.Tuple {
				continue
			}
			switch state[inner] {
			case open:
				f.Indirect = true
			case unseen:
				visit(inner)
			}
		}
		state[d] = done
	}
	for _, d := range decls {
		if state[d] == unseen {
			visit(d)
		}
	}
}
