package rawjson_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestObjectEdits(t *testing.T) {
	const text = ` [ {"a" : 1, "b":{"x":[1,2]} ,"c":3.0, "b":4} ]`
	at := rawjson.Span{Start: 3, End: len(text) - 2}
	for _, c := range []struct {
		name string
		edit func(o *rawjson.Object)
		want string
	}{
		{"nothing", func(*rawjson.Object) {}, text},
		{"first", func(o *rawjson.Object) { o.Remove("a") }, ` [ {"b":{"x":[1,2]} ,"c":3.0, "b":4} ]`},
		{"both of a name", func(o *rawjson.Object) { o.Remove("b") }, ` [ {"a" : 1 ,"c":3.0} ]`},
		{"last two", func(o *rawjson.Object) { o.Remove("b"); o.Remove("c") }, ` [ {"a" : 1} ]`},
		{"first two", func(o *rawjson.Object) { o.Remove("a"); o.Remove("b") }, ` [ {"c":3.0} ]`},
		{"all", func(o *rawjson.Object) { o.Remove("a"); o.Remove("b"); o.Remove("c") }, ` [ {} ]`},
		{
			"all, one new",
			func(o *rawjson.Object) { o.Remove("a"); o.Remove("b"); o.Remove("c"); o.Add("z", []byte(`0`)) },
			` [ {"z":0} ]`,
		},
		{
			"two new, one changed, one renamed",
			func(o *rawjson.Object) {
				o.Add("y", []byte(`"1"`))
				o.Add("z", []byte(`0`))
				o.Replace(o.Get("a"), []byte(`2`))
				o.Rename(o.Get("c"), "d\n")
				o.Remove("b")
			},
			` [ {"y":"1","z":0,"a" : 2 ,"d\n":3.0} ]`,
		},
	} {
		o, err := rawjson.ObjectAt([]byte(text), at)
		require.NoError(t, err)
		c.edit(o)
		if got := string(rawjson.Apply([]byte(text), o.Edits())); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if _, err := rawjson.ObjectAt([]byte(`{"a":[]}`), rawjson.Span{Start: 5, End: 7}); err == nil {
		t.Error("an array was read as an object")
	}
}
