// Package names chooses every Go name of a generated package at once: of
// methods, types, fields, constants. Names are made of what the server calls
// the thing ([Exported], [Join]); where two things would have the same one,
// each gets a suffix that is made from its own place alone, never a number, so
// that neither order nor additions elsewhere have an influence. What a lock
// file says ([Names]) holds before all that: a name once given stays.
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
// A pointer's steps are those of the schema, save that an element of a list
// without names of its own (the arms of oneOf, anyOf, allOf) should be told by
// what it is, its kind, its discriminator's value, the last step of its $ref,
// and not by its index: an arm added in front of others would hand their names
// on.
func Key(kind, name, pointer string) string {
	return kind + "/" + name + "#" + pointer
}
