package gogen

import "fmt"

// reservedFields are names that a struct needs for itself, now or when it
// learns to validate.
var reservedFields = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"Extra": true, "Raw": true, "MarshalJSON": true, "UnmarshalJSON": true, "Validate": true,
}

// resolveNames chooses the names of all declarations at once. Clients and the
// types of parameters and results come first; a nested type or a constant
// that meets a name taken gets a digest of its place, which no other
// declaration influences.
func (p *pkg) resolveNames() error {
	taken := map[string]string{"Client": "the client", "New": "the client's constructor"}
	claim := func(name, pos string) error {
		if other, ok := taken[name]; ok {
			return &Error{Reason: fmt.Sprintf("the name %s is needed by %s and by %s", name, other, pos)}
		}
		taken[name] = pos
		return nil
	}
	for _, t := range p.types {
		if t.top {
			t.goName = t.want
			if err := claim(t.goName, t.pos); err != nil {
				return err
			}
		}
	}
	wanted := map[string]int{}
	for _, t := range p.types {
		if !t.top {
			wanted[t.want]++
		}
	}
	for _, t := range p.types {
		if t.top {
			continue
		}
		t.goName = t.want
		if _, ok := taken[t.want]; ok || wanted[t.want] > 1 {
			t.goName += "X" + digest(t.pos)
		}
		if err := claim(t.goName, t.pos); err != nil {
			return err
		}
	}
	for _, t := range p.types {
		p.nameFields(t)
		texts := make([]string, len(t.values))
		for i, v := range t.values {
			texts[i] = v.text
		}
		names := assign(texts, nil, "")
		for _, v := range t.values {
			v.goName = t.goName + constantName(v.text, names[v.text])
			if _, ok := taken[v.goName]; ok {
				v.goName += "X" + digest(t.pos+" "+v.text)
			}
			if err := claim(v.goName, t.pos); err != nil {
				return err
			}
		}
	}
	return nil
}

// constantName drops the X that a digit needs only at the beginning of a name,
// and says what an empty text is.
func constantName(text, name string) string {
	if text == "" {
		return "Empty"
	}
	if len(name) > 1 && name[0] == 'X' && name[1] >= '0' && name[1] <= '9' {
		return name[1:]
	}
	return name
}

func (p *pkg) nameFields(t *named) {
	texts := make([]string, len(t.fields))
	for i, f := range t.fields {
		texts[i] = f.json
	}
	names := assign(texts, reservedFields, "Member")
	for _, f := range t.fields {
		f.goName = names[f.json]
	}
}
