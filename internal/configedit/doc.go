// Package configedit reads and changes single values of servers.json and config.yaml.
// A change leaves every other byte of the file alone, comments too, and is refused if it
// would make the file invalid.
//
// A value of servers.json is named by a path from its server on, such as gh.env.TOKEN or
// gh.args[0]:
//
//	path    = step { "." step | "[" number "]" | "[]" | "[" string "]" }
//	step    = name | string
//	name    = characters except . [ ] " and white space
//	string  = a JSON string, for names with other characters
//
// [] is the place behind the last element of an array.
package configedit
