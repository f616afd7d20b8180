package views

// Every reports whether a view leaves out no item of a kind by its name or URI.
func (v *View) Every(k Kind) bool { return v != nil && v.shows[k].all && v.shows[k].out == nil }
