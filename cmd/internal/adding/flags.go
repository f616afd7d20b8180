package adding

// The help of the command.
const (
	Short = "Update servers that were added from a registry"
	Long  = "Look for newer versions of servers that were added from a registry: of those named, by default of all. The registry\n" +
		"is the one that the entry names. mcpctl shows what would change of the entry and of the server's tools, and asks about\n" +
		"each server.\n\n" +
		"Your own edits and the values that you have filled in stay. Where you and the publisher have changed the same,\n" +
		"your value stays too, and the conflict is named. To compare the tools, mcpctl starts the new version.\n\n" +
		"With --check nothing is started or written, and the exit code is 10 if there is a newer version."
	Example = "  mcpctl update\n  mcpctl update fs --dry-run\n  mcpctl update --check\n  mcpctl update fs gh --yes"
)

// Flag is one flag of the command.
type Flag struct {
	Value              *bool
	Name, Short, Usage string
}

// Flags returns the flags of the command, which set the options.
func (o *UpdateOptions) Flags() []Flag {
	return []Flag{
		{&o.Check, "check", "", "write nothing; exit 10 if there is a newer version"},
		{&o.Pre, "pre", "", "take prereleases"},
		{&o.DryRun, "dry-run", "", "print what would change and write nothing"},
		{&o.Yes, "yes", "y", "update without questions"},
		{&o.NoStart, "no-start", "", "start no server to compare its tools"},
		{&o.Theirs, "theirs", "", "in a conflict take the registry's value"},
		{&o.Force, "force", "", "take a version that is refused as dangerous"},
	}
}
