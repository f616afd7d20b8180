package build

// resolve returns what a schema's reference leads to.
func (d *document) resolve(s *schema) (*schema, error) {
	p, err := d.Resolve(s.base, s.ref)
	if err != nil {
		return nil, err
	}
	return d.parse(p.Schema, p.Pointer, p.Base, 0), nil
}

// follow returns the target of a schema that is only a reference, or an allOf of
// one.
func (d *document) follow(s *schema) *schema {
	for range maxDepth {
		bare := *s
		bare.ref, bare.allOf = "", nil
		switch {
		case !bare.allowsAll():
			return s
		case s.ref != "" && len(s.allOf) == 0:
			target, err := d.resolve(s)
			if err != nil {
				return s
			}
			s = target
		case s.ref == "" && len(s.allOf) == 1:
			s = s.allOf[0]
		default:
			return s
		}
	}
	return s
}
