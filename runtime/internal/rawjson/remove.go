package rawjson

// Without gives the object without the members whose name is to be dropped,
// each with the comma that belongs to it; every other byte stays. Where nothing
// is dropped the text itself comes back.
func Without(object []byte, drop func(name string) bool) ([]byte, error) {
	entries, err := Entries(object)
	if err != nil {
		return nil, err
	}
	edits := Removals(entries, func(e Entry) bool { return drop(e.Name) })
	if edits == nil {
		return object, nil
	}
	return Splice(nil, object, edits...), nil
}
