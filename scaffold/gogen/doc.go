// Package gogen turns the tools of an MCP server into Go source: a typed client with one method
// and one parameter struct for each tool. mcpctl generate uses it; a build tool can, too.
//
//	out, err := gogen.Generate(gogen.Input{Server: "gh", Tools: tools})
//	if err != nil {
//		return err
//	}
//	for _, f := range out.Files {
//		err = os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644)
//	}
//
// Data goes one way. Schemas are read and built into a model (internal/build, internal/model),
// names are chosen for all of it at once (internal/names), and source is written from the model,
// never from a schema (internal/emit). [ParseLock] reads the lock file of an earlier run: names
// in it stay, and [Changes] says what has changed since.
//
// # Promises
//
// The output depends on the input alone: not on the order of tools, properties or map iteration,
// nor on time, machine or paths. No result is typed more narrowly than its schema allows. What
// Go's types cannot express becomes [json.RawMessage] with a comment and a [Warning], and does
// not fail the run. The package writes no files, and its functions may be called concurrently.
//
// # Errors
//
// A tool list that cannot become a package is an [*Error] that names the tool and the place. A
// lock file that cannot be read, or contradicts itself, is a [*LockError].
package gogen
