package rawjson

// List returns the elements of the array that is a member of an object, as
// spans of text. Object is the object's place in it. A member that is absent
// has none.
func List(text []byte, object Span, name string) ([]Span, error) {
	at, err := Field(object.Of(text), name)
	if err != nil || !at.Present() {
		return nil, err
	}
	return ElementsAt(text, Span{at.Start + object.Start, at.End + object.Start})
}

// ElementsAt is [Elements] for an array at a place in text, of which the spans
// are.
func ElementsAt(text []byte, at Span) ([]Span, error) {
	spans, err := Elements(at.Of(text))
	for i := range spans {
		spans[i].Start += at.Start
		spans[i].End += at.Start
	}
	return spans, err
}

// Whole is the span of all of a text.
func Whole(text []byte) Span { return Span{0, len(text)} }
