package rawjson

// Without gives the object without the members whose name is to be dropped,
// each with the comma that belongs to it; every other byte stays. The name is
// unescaped and valid only during drop. Where nothing is dropped the text
// itself comes back.
func Without(object []byte, drop func(name []byte) bool) ([]byte, error) {
	s := acquire(object)
	defer s.release()
	if s.dec.PeekKind() != '{' {
		return nil, ErrNotObject
	}
	if _, err := s.open(); err != nil {
		return nil, eof(err)
	}
	var cuts []Edit
	run := Span{} // the dropped members under way; Start 0 for none
	keptEnd := 0  // of the last member that stays, 0 for none
	for s.dec.PeekKind() != '}' {
		raw, err := s.dec.ReadValue()
		if err != nil {
			return nil, eof(err)
		}
		at := int(s.dec.InputOffset()) - len(raw)
		dropped := drop(Unquote(nil, raw))
		value, err := s.value()
		if err != nil {
			return nil, eof(err)
		}
		switch {
		case dropped && run.Start == 0:
			run = Span{at, value.End}
		case dropped:
			run.End = value.End
		default:
			if run.Start > 0 {
				cuts = append(cuts, Edit{Span: Span{run.Start, at}})
				run = Span{}
			}
			keptEnd = value.End
		}
	}
	if _, err := s.close(0); err != nil {
		return nil, eof(err)
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	if run.Start > 0 {
		if keptEnd > 0 {
			run.Start = keptEnd // with the comma before it
		}
		cuts = append(cuts, Edit{Span: run})
	}
	if cuts == nil {
		return object, nil
	}
	return Splice(nil, object, cuts...), nil
}
