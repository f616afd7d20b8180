package names

// Names are a package's Go names in a lock file. Its JSON form is public: users
// may edit a name there.
type Names struct {
	Tools     map[string]string `json:"tools,omitempty"`             // method, by tool name
	Prompts   map[string]string `json:"prompts,omitempty"`           // method, by prompt name
	Resources map[string]string `json:"resources,omitempty"`         // method, by URI
	Templates map[string]string `json:"resourceTemplates,omitempty"` // method, by URI template
	Types     map[string]*Type  `json:"types,omitempty"`             // by model.Decl.Key
	// Retired are names of removed things, oldest first: nothing else gets them,
	// and a thing that comes back has its own again. At most [MaxRetired]; the
	// oldest are dropped.
	Retired []Retired `json:"retired,omitempty"`
}

// Type is the names of one declaration.
type Type struct {
	Name     string            `json:"name"`
	Fields   map[string]string `json:"fields,omitempty"`   // by JSON name
	Values   map[string]string `json:"values,omitempty"`   // constants, by Value.Text
	Defaults map[string]string `json:"defaults,omitempty"` // constants, by JSON name of the field
}

// Retired is the name of one removed thing.
type Retired struct {
	Kind   string `json:"kind"`             // tool, prompt, resource, template, type, field, value, default
	Key    string `json:"key"`              // as in the maps of [Names]
	Member string `json:"member,omitempty"` // as in the maps of [Type]
	Name   string `json:"name"`
}
