package layers

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	trustName = "trust.json"
	// maxTrust bounds the file, in bytes; more is an error.
	maxTrust = 4 << 20
	// maxRecords is how many decisions are kept; the oldest are forgotten.
	maxRecords = 2000
	trustWait  = 10 * time.Second
)

// Trust is what the user has decided about project files. It is kept in a file of the
// state directory. Its methods may be called concurrently, also by several processes.
type Trust struct {
	// Dir is the state directory; "" keeps nothing, and nothing is trusted.
	Dir string
}

// Decision is what the user has decided about a project file.
type Decision struct {
	// Path is that of the project file, Digest its [config.File.Digest] then.
	Path   string `json:"path"`
	Digest string `json:"digest"`
	// Trusted is false where the user wants the file ignored, as long as it says the same.
	Trusted bool      `json:"trusted"`
	At      time.Time `json:"at"`
}

// Path returns the path of the file of the decisions, "" for none.
func (t Trust) Path() string {
	if t.Dir == "" {
		return ""
	}
	return filepath.Join(t.Dir, trustName)
}

// Decisions returns all decisions, the oldest first. The error is a [*config.Problem].
func (t Trust) Decisions() ([]Decision, error) {
	if t.Dir == "" {
		return nil, nil
	}
	raw, err := atomicfile.Read(t.Path(), maxTrust)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, config.FileProblem(t.Path(), err)
	}
	var file struct {
		Files []Decision `json:"files"`
	}
	if json.Unmarshal(raw, &file) != nil {
		return nil, &config.Problem{File: t.Path(), Message: "it is not the file of mcpctl's decisions about project files", Remedy: "remove it; mcpctl asks again then"}
	}
	return file.Files, nil
}

// of returns the decision about a file, false for none.
func (t Trust) of(path string) (Decision, bool, error) {
	all, err := t.Decisions()
	if i := slices.IndexFunc(all, func(d Decision) bool { return d.Path == path }); i >= 0 {
		return all[i], true, err
	}
	return Decision{}, false, err
}

// Decide keeps a decision, in place of an earlier one about the same file.
func (t Trust) Decide(path, digest string, trusted bool) error {
	return t.update(func(all []Decision) []Decision {
		all = slices.DeleteFunc(all, func(d Decision) bool { return d.Path == path })
		all = append(all, Decision{path, digest, trusted, time.Now().UTC().Truncate(time.Second)})
		return all[max(0, len(all)-maxRecords):]
	})
}

// Forget drops the decision about a file, and reports whether it was trusted.
func (t Trust) Forget(path string) (trusted bool, err error) {
	err = t.update(func(all []Decision) []Decision {
		return slices.DeleteFunc(all, func(d Decision) bool {
			trusted = trusted || d.Path == path && d.Trusted
			return d.Path == path
		})
	})
	return trusted, err
}

// update changes the decisions under a lock.
func (t Trust) update(change func([]Decision) []Decision) error {
	if t.Dir == "" {
		return &config.Problem{Message: "there is no place for decisions about project files", Remedy: "set HOME or MCPCTL_HOME"}
	}
	err := atomicfile.Update(context.Background(), t.Path(), trustWait, func() ([]byte, error) {
		all, err := t.Decisions()
		if err != nil {
			return nil, err
		}
		raw, err := json.MarshalIndent(map[string][]Decision{"files": change(all)}, "", "  ")
		return append(raw, '\n'), err
	})
	if failed, ok := errors.AsType[*atomicfile.UpdateError](err); ok {
		return config.FileProblem(t.Path(), failed)
	}
	return err
}

// State says whether a layer is used.
type State string

// States of a layer. All but Used belong to project files, and Foreign also to the
// system's.
const (
	Used    State = "used"
	New     State = "not trusted"     // nobody was asked about it yet
	Changed State = "changed"         // since it was trusted
	Refused State = "refused"         // the user wants it ignored
	Foreign State = "of another user" // and not trusted
	Broken  State = "broken"          // it cannot be read
)

// loadProject reads the file of a project and what the user has decided about it.
func loadProject(path string, t Trust) (Layer, error) {
	l := Layer{Name: Project, Path: path, State: Used}
	decision, decided, err := t.of(path)
	if err != nil {
		return l, err
	}
	if l.File, err = config.Load(path); err != nil {
		if decided && decision.Trusted {
			return l, err
		}
		l.State, l.Problem = Broken, err
		return l, nil
	}
	switch same := decided && decision.Digest == l.File.Digest(); {
	case same && decision.Trusted, len(l.File.Entries()) == 0: // nothing would run
	case same:
		l.State = Refused
	case ofAnother(path):
		l.State = Foreign
	case decided && decision.Trusted:
		l.State = Changed
	default:
		l.State = New
	}
	return l, nil
}

// ofAnother reports whether another user could have made the file, or the link to it.
func ofAnother(path string) bool {
	link, err := os.Lstat(path)
	if err != nil || foreign(link) {
		return true
	}
	target, err := os.Stat(path)
	return err != nil || foreign(target)
}

// UntrustedError says that a server is in a project file that is not used.
type UntrustedError struct {
	Server, Path string
	State        State
}

// Error names the server and the file.
func (e *UntrustedError) Error() string {
	why := map[State]string{
		New: "which you have not trusted", Changed: "which has changed since you trusted it",
		Refused: "which you have decided to ignore", Foreign: "which belongs to another user and is not trusted",
	}
	return "the server " + e.Server + " is in " + e.Path + ", " + why[e.State]
}

// Hint is the command that trusts the file.
func (*UntrustedError) Hint() string { return "mcpctl config trust shows what it runs, and trusts it" }

// ExitKind is "config".
func (*UntrustedError) ExitKind() string { return "config" }
