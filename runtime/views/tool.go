package views

// ToolEdit is what a view changes of one tool. Nil changes nothing.
type ToolEdit struct {
	o Override
}

// Name returns the name that a tool has in the view.
func (t *ToolEdit) Name(exposed string) string {
	if t == nil || t.o.Name == "" {
		return exposed
	}
	return t.o.Name
}

// Present returns the definition of a tool as the view lists it, but for its name: title,
// description and arguments. All other bytes stay, and where nothing is changed the definition
// itself comes back. An error says that the schema cannot be edited safely: the tool must not be
// listed or called then.
func (v *View) Present(server, exposed string, definition []byte) ([]byte, error) {
	return definition, nil
}

// Rewrites reports whether [ToolEdit.Rewrite] has to look at the arguments of calls.
func (t *ToolEdit) Rewrites() bool { return false }

// Rewrite returns the arguments of a call as the server gets them: fixed and default values
// are added at the end of the object, all other bytes stay. No arguments, and null, are an empty
// object. The text of an error is for the client: an argument is sent that is fixed or hidden,
// one is there twice, or the arguments are no object.
func (t *ToolEdit) Rewrite(arguments []byte) ([]byte, error) { return arguments, nil }
