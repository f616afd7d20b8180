// Package names chooses every Go name of a generated package at once: of
// methods, types, fields, constants. Names are made of what the server calls
// the thing ([Exported], [Join]); where two things would have the same one,
// each gets a suffix that is made from its own place alone, never a number, so
// that neither order nor additions elsewhere have an influence. Names in a lock
// file ([Names]) come first: a name does not change once it is in use.
package names

// Key is the spelling of model.Decl.Key: the kind of what the declaration
// belongs to, that thing's own name, and the place inside it.
//
//	names.Key("tools", "echo", "/inputSchema")                            the parameters
//	names.Key("tools", "echo", "/inputSchema/properties/labels/items")
//	names.Key("tools", "echo", "/outputSchema/$defs/Label/oneOf/string")  an arm of a union
//	names.Key("prompts", "complex", "/arguments")
//	names.Key("resourceTemplates", "demo://text/{id}", "/uriTemplate")
//
// A pointer's steps are those of the schema, except that an element of a list
// without names (the arms of oneOf, anyOf, allOf) should be identified by its
// kind, its discriminator's value or the last step of its $ref rather than by its
// index: an arm added before others would pass their names on.
func Key(kind, name, pointer string) string {
	return kind + "/" + name + "#" + pointer
}
