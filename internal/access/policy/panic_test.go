package policy

import "testing"

// TestPanic: what panics denies, and hides.
func TestPanic(t *testing.T) {
	s, err := Compile(Config{Sources: []Source{{Text: []byte(`@id("a") permit (principal, action, resource); @id("b") forbid (principal, action, resource) when {context.task};`)}}})
	if err != nil {
		t.Fatal(err)
	}
	v := s.Snapshot(nil, []Item{{Server: "s", Name: "a"}}).View(nil)
	_, c := v.Item(0)
	if out := c.Decide(&Request{}); out.Verdict != Allow {
		t.Fatalf("%+v", out)
	}
	c.view = nil
	if out := c.Decide(&Request{}); out.Verdict != Deny || out.Reason != "the policies cannot be evaluated" {
		t.Errorf("%+v", out)
	}
	if d, _ := v.decide(Call, &entry{}); d.visible {
		t.Error("it is visible")
	}
	if rest := safely(env{}, nil); rest.failed == "" || rest.always || rest.never {
		t.Errorf("%+v", rest)
	}
}
