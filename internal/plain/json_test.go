package plain

import "testing"

func TestJSON(t *testing.T) {
	for want, v := range map[string]any{`{"a":"<b> & 'c'"}`: map[string]string{"a": "<b> & 'c'"}, `"\n"`: "\n", `null`: nil} {
		if got, err := JSON(v); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	if got, err := JSON(func() {}); err == nil {
		t.Errorf("a function is %s", got)
	}
}
