// Package scaffold turns a registry record into an entry of servers.json: it
// chooses what to run, writes the command line or URL, with placeholders for
// values that the user must supply, and reports what the user should know.
//
//	plan, err := scaffold.New(record.Server, scaffold.Options{})
//	if err != nil {
//		return err
//	}
//	err = config.Update(path, func(f *config.File) error { return f.Set(plan.Alias, plan.Entry, false) })
//
// It is pure: no file, no environment, no network; the same record and options
// result in the same bytes. It runs nothing and looks for no program, so the
// choice does not depend on the machine.
//
// Records of a registry were written by strangers. Their text never expands: a
// dollar is escaped, and the only placeholders in an entry are those of this
// package and those that the user typed. What a record may set is on lists: the
// options of each runner, with the values they may have; names and versions by
// their registry's grammar; mounts that the user names; variables that choose no
// program, code or address. The rest is refused ([RefusedError]) unless the user
// forces it. An option that does not fit the record is a [UsageError].
//
// All functions may be called concurrently.
package scaffold
