package suite

// Exception is a group whose invalid values cannot be told from valid ones by
// a client that fetches nothing. Its valid values have to be taken all the
// same.
type Exception struct {
	Draft  Draft
	Group  string // as [Group.Name]
	Reason string
}

// Exceptions are all of them, in the order of the suite. There is none for
// "format": the required tests want it to be an annotation, and it is.
func Exceptions() []Exception {
	const remote = "the schema refers to a document at another address, and nothing is fetched"
	var all []Exception
	add := func(d Draft, groups ...string) {
		for _, g := range groups {
			all = append(all, Exception{d, g, remote})
		}
	}
	add(Draft2020,
		"dynamicRef: strict-tree schema, guards against misspelled properties",
		"dynamicRef: tests for implementation dynamic anchor and reference link",
		"dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first",
		"dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first",
		"dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor",
		"refRemote: remote ref",
		"refRemote: fragment within remote ref",
		"refRemote: anchor within remote ref",
		"refRemote: ref within remote ref",
		"refRemote: base URI change",
		"refRemote: base URI change - change folder",
		"refRemote: base URI change - change folder in subschema",
		"refRemote: root ref in remote ref",
		"refRemote: remote ref with ref to defs",
		"refRemote: Location-independent identifier in remote ref",
		"refRemote: retrieved nested refs resolve relative to their URI not $id",
		"refRemote: remote HTTP ref with different $id",
		"refRemote: remote HTTP ref with different URN $id",
		"refRemote: remote HTTP ref with nested absolute ref",
		"refRemote: $ref to $ref finds detached $anchor",
	)
	add(Draft7,
		"refRemote: remote ref",
		"refRemote: fragment within remote ref",
		"refRemote: ref within remote ref",
		"refRemote: base URI change",
		"refRemote: base URI change - change folder",
		"refRemote: base URI change - change folder in subschema",
		"refRemote: root ref in remote ref",
		"refRemote: remote ref with ref to definitions",
		"refRemote: Location-independent identifier in remote ref",
		"refRemote: retrieved nested refs resolve relative to their URI not $id",
		"refRemote: $ref to $ref finds location-independent $id",
	)
	return all
}
