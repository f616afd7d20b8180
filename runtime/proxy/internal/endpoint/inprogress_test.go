package endpoint

import (
	"testing"
)

// A client may use the id of a request again that it has cancelled, before that
// one has come to its end here.
func TestAnIDThatIsUsedAgainCanBeCancelled(t *testing.T) {
	t.Parallel()
	var r InProgress
	_, done := r.Start(t.Context(), []byte(`"x"`))
	if !r.cancel([]byte(`"x"`)) {
		t.Fatal("the first request is not known")
	}
	if r.cancel([]byte(`"x"`)) {
		t.Error("a cancel meant for a fast call with the same id ends the first request again")
	}
	second, doneSecond := r.Start(t.Context(), []byte(`"x"`))
	defer doneSecond()
	done()
	if !r.cancel([]byte(`"x"`)) || second.Err() == nil {
		t.Error("the second request cannot be cancelled")
	}
}
