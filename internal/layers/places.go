package layers

import (
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Names of layers.
const (
	System  = "system"
	User    = "user"
	Project = "project"
)

// SystemVariable names the environment variable that has the path of the system's file,
// in place of the platform's.
const SystemVariable = "MCPCTL_SYSTEM_CONFIG"

// folder is the folder of a project that has its file.
const folder = ".mcpctl"

// Places are where the files of the layers are; "" for none. The files need not exist,
// except that of the project.
type Places struct {
	System, User, Project string
}

// Find returns the places of the layers for a program that works in dir, a path without
// symbolic links. user is the path of the user's file. The project's file is looked for in dir and the folders above it,
// up to the root of the file system; the home directory and those above it are no project.
func Find(getenv func(string) string, user, dir string) Places {
	p := Places{System: systemPath(goruntime.GOOS, getenv), User: user}
	// This is in the way of every command: one call of the system for each folder, and more
	// only where there is a file.
	for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
		path := PathIn(at)
		if _, err := os.Lstat(path); err == nil {
			if isProject(getenv, dir, at) && !samePlace(path, user) {
				p.Project = path
			}
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return p
}

// isProject reports whether a folder at or above dir can be a project.
func isProject(getenv func(string) string, dir, at string) bool {
	for other := range upwards(getenv, dir) {
		if other == at {
			return true
		}
	}
	return false
}

// ProjectPath returns where the file of the project is that dir belongs to, or would be:
// in the nearest folder that has one or is a repository of git, else in dir. It is "" in
// the home directory.
func ProjectPath(getenv func(string) string, dir string) string {
	nearest := ""
	for at := range upwards(getenv, dir) {
		path := PathIn(at)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
		if nearest == "" {
			if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
				nearest = path
			}
		}
	}
	if nearest != "" {
		return nearest
	}
	for at := range upwards(getenv, dir) {
		return PathIn(at)
	}
	return ""
}

// PathIn returns the path of the file of the project in a folder.
func PathIn(dir string) string { return filepath.Join(dir, folder, config.FileName) }

// Canonical returns the path of a project's file under which decisions about it are kept:
// with the project's folder without symbolic links.
func Canonical(path string) string {
	if dir, err := filepath.EvalSymlinks(ProjectDir(path)); err == nil {
		return PathIn(dir)
	}
	return path
}

// ProjectDir returns the folder of a project, by the path of its file.
func ProjectDir(path string) string { return filepath.Dir(filepath.Dir(path)) }

// upwards yields dir and the folders above it that can be projects, without symbolic
// links: the same folder has the same path, however it was reached.
func upwards(getenv func(string) string, dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if !filepath.IsAbs(dir) {
			return
		}
		home := getenv("HOME")
		if goruntime.GOOS == "windows" {
			home = getenv("USERPROFILE")
		}
		if real, err := filepath.EvalSymlinks(home); err == nil && home != "" {
			home = real
		}
		for at := dir; at != home && yield(at) && at != filepath.Dir(at); {
			at = filepath.Dir(at)
		}
	}
}

// samePlace reports whether two paths lead to the same file.
func samePlace(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// systemPath returns the path of the system's file: a folder that only administrators can
// write to.
func systemPath(goos string, getenv func(string) string) string {
	if path := getenv(SystemVariable); path != "" {
		return path
	}
	switch goos {
	case "darwin":
		return filepath.Join("/Library", "Application Support", "mcpctl", config.FileName)
	case "windows":
		// Not %ProgramData%, in which every user may make folders.
		if dir := getenv("ProgramFiles"); dir != "" {
			return filepath.Join(dir, "mcpctl", config.FileName)
		}
		return ""
	}
	return filepath.Join("/etc", "mcpctl", config.FileName)
}
