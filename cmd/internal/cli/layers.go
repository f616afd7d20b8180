package cli

// editable returns the file that a command edits: the user's, or that of the project.
func (env *environment) editable(project bool) (*Target, error) {
	return NewTarget(env.ui, env.getenv, env.settings, project)
}
