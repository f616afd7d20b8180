package inventory

// ListSet are the lists whose changes a client wants to be told of.
type ListSet struct{ Tools, Prompts, Resources bool }

// With gives the lists that are among either.
func (k ListSet) With(o ListSet) ListSet {
	return ListSet{k.Tools || o.Tools, k.Prompts || o.Prompts, k.Resources || o.Resources}
}

// Has tells whether a list_changed notification is among them.
func (k ListSet) Has(method string) bool {
	switch method {
	case Tools.Listing().Changed:
		return k.Tools
	case Prompts.Listing().Changed:
		return k.Prompts
	case Resources.Listing().Changed:
		return k.Resources
	}
	return false
}
