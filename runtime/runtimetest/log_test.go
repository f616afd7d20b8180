package runtimetest

import (
	"net/http/httptest"
	"testing"
)

// TestCutBeforeItIsRead: a stream that is cut before its reader begins ends there,
// and the next reader gets the rest.
func TestCutBeforeItIsRead(t *testing.T) {
	t.Parallel()
	var all eventLog
	st := all.Open("")
	st.Add(nil)
	st.Cut()
	st.Add([]byte("{}"))
	st.End()
	for from, want := range []string{"id: 1_0\ndata: \n\nretry: 10\n\n", "id: 1_1\nevent: message\ndata: {}\n\n", "", ""} {
		w := httptest.NewRecorder()
		if st.Follow(t.Context(), w, from, true); w.Body.String() != want {
			t.Errorf("from %d: got %q, want %q", from, w.Body, want)
		}
	}
}
