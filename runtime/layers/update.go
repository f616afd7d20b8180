package layers

import "github.com/mcpctl/mcpctl/runtime/config"

// UpdateProject edits the file of a project as [config.Update] does. What the user has
// written is trusted: the file is trusted afterwards if it was before, or had no servers.
// It reports whether that is so.
func UpdateProject(path string, t Trust, edit func(*config.File) error) (trusted bool, err error) {
	decision, _, err := t.of(path)
	if err != nil {
		return false, err
	}
	after := ""
	err = config.Update(path, func(f *config.File) error {
		trusted = len(f.Entries()) == 0 || decision.Trusted && decision.Digest == f.Digest()
		if err := edit(f); err != nil {
			return err
		}
		after = f.Digest() // of what is written, whatever becomes of the file
		return nil
	})
	if err != nil || !trusted {
		return false, err
	}
	return true, t.Decide(path, after, true)
}
