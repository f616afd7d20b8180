package rawjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Normal returns a value in the form that all of its spellings share: no white
// space, the members of objects sorted, strings escaped where they have to be.
// Numbers stay as they are written. Text that is no JSON, or has a member twice,
// comes back as it is. The argument is not changed.
func Normal(text []byte) []byte {
	v := jsontext.Value(bytes.Clone(text))
	if v.Format(jsontext.ReorderRawObjects(true), jsontext.Multiline(false), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false)) != nil {
		return text
	}
	return v
}
