package proxy

// changeKinds are the lists whose changes a client wants to be told of.
type changeKinds struct{ tools, prompts, resources bool }

// with gives the lists that are among either.
func (k changeKinds) with(o changeKinds) changeKinds {
	return changeKinds{k.tools || o.tools, k.prompts || o.prompts, k.resources || o.resources}
}

// has tells whether a list_changed notification is among them.
func (k changeKinds) has(method string) bool {
	switch method {
	case tools.listing().changed:
		return k.tools
	case prompts.listing().changed:
		return k.prompts
	case resources.listing().changed:
		return k.resources
	}
	return false
}
