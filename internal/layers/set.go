package layers

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Layer is one file.
type Layer struct {
	Name, Path string
	State      State
	// File is what the file says, nil for a broken one, for which Problem says why, and for
	// the system's of another user.
	File    *config.File
	Problem error
}

// Set is what the layers say. It does not change.
type Set struct {
	// Layers are those that have a file, the one that counts most last. That of the user
	// is among them without a file.
	Layers []Layer
}

// Single returns the set of one file alone, which is the user's.
func Single(file *config.File) *Set {
	return &Set{[]Layer{{Name: User, Path: file.Path(), State: Used, File: file}}}
}

// Load reads the layers. The error is a [*config.Problem]: a file of the system, of the
// user or of a project that the user has trusted before cannot be read.
func Load(p Places, t Trust) (*Set, error) {
	user, err := config.Load(p.User)
	if err != nil {
		return nil, err
	}
	set := Single(user)
	if system, err := loadSystem(p); err != nil {
		return nil, err
	} else if system != nil {
		set.Layers = slices.Insert(set.Layers, 0, *system)
	}
	if p.Project != "" {
		project, err := loadProject(p.Project, t)
		if err != nil {
			return nil, err
		}
		set.Layers = append(set.Layers, project)
	}
	return set, nil
}

// loadSystem reads the system's file, nil where there is none.
func loadSystem(p Places) (*Layer, error) {
	if p.System == "" {
		return nil, nil
	}
	info, err := os.Stat(p.System)
	if errors.Is(err, fs.ErrNotExist) || err == nil && samePlace(p.System, p.User) {
		return nil, nil
	}
	l := &Layer{Name: System, Path: p.System, State: Used}
	if err == nil && foreign(info) {
		l.State = Foreign
		return l, nil
	}
	if l.File, err = config.Load(p.System); err != nil {
		return nil, err
	}
	return l, nil
}

// Layer returns the layer of a name, nil for none.
func (s *Set) Layer(name string) *Layer {
	for i := range s.Layers {
		if s.Layers[i].Name == name {
			return &s.Layers[i]
		}
	}
	return nil
}

// Of returns the layer that has an entry, "" for none.
func (s *Set) Of(e config.Entry) string {
	for _, l := range s.Layers {
		if l.Path == e.File {
			return l.Name
		}
	}
	return ""
}

// Several reports whether servers of more than one layer are used.
func (s *Set) Several() bool { return len(s.used()) > 1 }

// used returns the layers that are used.
func (s *Set) used() []Layer {
	return slices.DeleteFunc(slices.Clone(s.Layers), func(l Layer) bool { return l.State != Used })
}

// With returns the set in which the project's file is used: the user trusts it.
func (s *Set) With(project State) *Set {
	out := &Set{slices.Clone(s.Layers)}
	if l := out.Layer(Project); l != nil && l.File != nil {
		l.State = project
	}
	return out
}

// Untrusted returns the project's layer if its file is only used once the user has trusted
// it, nil if there is nothing to ask.
func (s *Set) Untrusted() *Layer {
	if l := s.Layer(Project); l != nil && (l.State == New || l.State == Changed) {
		return l
	}
	return nil
}

// File returns what the layers that are used say together. Entries of a project run in
// its folder. Naming a server of a project file that is not used is an
// [*UntrustedError].
func (s *Set) File() *config.File {
	used := s.used()
	withheld := map[string]error{}
	for _, l := range s.Layers {
		if l.Name != Project || l.State == Used || l.File == nil {
			continue
		}
		for _, e := range l.File.Entries() {
			withheld[e.Name] = &UntrustedError{Server: e.Name, Path: l.Path, State: l.State}
		}
	}
	if len(used) == 1 && len(withheld) == 0 {
		return used[0].File
	}
	files := make([]*config.File, len(used))
	for i, l := range used {
		files[i] = l.File
		if l.Name == Project {
			files[i] = l.File.In(ProjectDir(l.Path))
		}
	}
	return config.Merge(withheld, files...)
}

// Names returns the aliases of all layers, also of a project file that is not trusted, so
// that naming one of its servers can be told from a misspelt word.
func (s *Set) Names() []string {
	var names []string
	for _, l := range s.Layers {
		if l.File == nil {
			continue
		}
		for _, e := range l.File.Entries() {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

// Warnings returns why files that are there are not used, except one that the user wants
// ignored.
func (s *Set) Warnings() []config.Problem {
	var out []config.Problem
	for _, l := range s.Layers {
		if l.State != Used && l.State != Refused {
			out = append(out, *l.warning())
		}
	}
	return out
}

func (l Layer) warning() *config.Problem {
	p := &config.Problem{File: l.Path, Remedy: "mcpctl config trust"}
	if l.State == Broken {
		if broken, ok := errors.AsType[*config.Problem](l.Problem); ok {
			*p = *broken
		}
		p.Message = "this project's file is ignored: " + p.Message
		return p
	}
	if l.Name == System {
		p.Message, p.Remedy = "it belongs to another user and is ignored", "make it a file of the administrator"
		return p
	}
	ignored := plain.Count(len(l.File.Entries()), "server")
	switch l.State {
	case Changed:
		p.Message = "it has changed since you trusted it, so it is ignored, with " + ignored
	case Foreign:
		p.Message = "it belongs to another user and is ignored, with " + ignored
	default:
		p.Message = "you have not trusted it, so it is ignored, with " + ignored
	}
	return p
}
