package layers

import "github.com/mcpctl/mcpctl/runtime/config"

// UpdateProject edits the file of a project as [config.Update] does. What the user has
// written is trusted: the file is trusted afterwards if it was before, or had no servers.
// It reports whether that is so. A file that is not in the project, by a symbolic link, is an
// [*OutsideError].
func UpdateProject(path string, t Trust, edit func(*config.File) error) (trusted bool, err error) {
	if err := Inside(ProjectDir(path), path); err != nil {
		return false, err
	}
	before := ""
	err = config.Update(path, func(f *config.File) error {
		// Under the lock of the file: another edit may just have made it a trusted one.
		decision, _, err := t.of(path)
		if err != nil {
			return err
		}
		own := len(f.Entries()) == 0 || decision.Trusted && decision.Digest == f.Digest()
		before = f.Digest()
		if err := edit(f); err != nil || !own {
			return err
		}
		trusted = true
		return t.Decide(path, f.Digest(), true)
	})
	if err != nil && trusted { // decided, and then not written
		return false, t.undo(path, before, err)
	}
	return trusted && err == nil, err
}

// undo trusts what a file said before an edit that failed, and returns why it failed.
func (t Trust) undo(path, before string, failed error) error {
	if err := t.Decide(path, before, true); err != nil {
		return err
	}
	return failed
}
