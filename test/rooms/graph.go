package main

import (
	"maps"
	"slices"
	"strings"
)

// graph is what rooms import, by room.
type graph map[string]map[string]bool

// houseGraph returns the rooms of layers 0 to 5 and what they import of each
// other. Packages that only one room knows are part of that room.
func houseGraph(files []source) graph {
	return newGraph(files, func(pkg string) string {
		for _, room := range []string{"runtime/internal", "runtime/proxy", "scaffold/gogen", "generated"} {
			if strings.HasPrefix(pkg, room+"/") {
				return room
			}
		}
		return pkg
	})
}

// proxyGraph returns the rooms of runtime/proxy, the facade among them, and
// what they import of each other.
func proxyGraph(files []source) graph {
	return newGraph(files, func(pkg string) string {
		if pkg == facade {
			return facade
		}
		room, _ := strings.CutPrefix(pkg, proxyRooms)
		if room == pkg {
			return ""
		}
		return room
	})
}

const facade = "runtime/proxy"

// newGraph returns the graph of the rooms that room returns for packages, ""
// for none.
func newGraph(files []source, room func(pkg string) string) graph {
	g := graph{}
	for _, f := range files {
		if r, ok := find(layerTable(), f.pkg); !ok || r.layer > 5 {
			continue
		}
		from := room(f.pkg)
		if from == "" {
			continue
		}
		if g[from] == nil {
			g[from] = map[string]bool{}
		}
		for _, imp := range f.imports {
			own, ok := strings.CutPrefix(imp, module+"/")
			if to := room(own); ok && to != "" && to != from {
				g[from][to] = true
			}
		}
	}
	for _, targets := range g {
		maps.DeleteFunc(targets, func(to string, _ bool) bool { return g[to] == nil })
	}
	return g
}

// rooms returns the rooms, sorted.
func (g graph) rooms() []string { return slices.Sorted(maps.Keys(g)) }

// targets returns what a room imports, sorted.
func (g graph) targets(room string) []string { return slices.Sorted(maps.Keys(g[room])) }

// reduced returns the graph without the imports that a chain of others says
// already (the transitive reduction). g has no circle: the compiler refuses one.
func (g graph) reduced() graph {
	reach := map[string]map[string]bool{}
	var from func(room string) map[string]bool
	from = func(room string) map[string]bool {
		if all, ok := reach[room]; ok {
			return all
		}
		all := map[string]bool{}
		reach[room] = all
		for to := range g[room] {
			all[to] = true
			maps.Copy(all, from(to))
		}
		return all
	}
	out := graph{}
	for room, to := range g {
		out[room] = map[string]bool{}
		for t := range to {
			indirect := false
			for other := range to {
				indirect = indirect || other != t && from(other)[t]
			}
			if !indirect {
				out[room][t] = true
			}
		}
	}
	return out
}

// ranks returns, for rooms of one layer, how many others of it lie above each
// on the longest chain of imports.
func (g graph) ranks(layer []string) map[string]int {
	ranks := map[string]int{}
	var rank func(room string) int
	rank = func(room string) int {
		if r, ok := ranks[room]; ok {
			return r
		}
		r := 0
		for _, above := range layer {
			if g[above][room] {
				r = max(r, rank(above)+1)
			}
		}
		ranks[room] = r
		return r
	}
	for _, room := range layer {
		rank(room)
	}
	return ranks
}
