package main

import "testing"

func TestEqualJSON(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1.50,null]}`, `{"b":[15e-1,null],"a":1.0}`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`0.1`, `0.10000000000000001`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":null}`, `{"b":null}`, false},
		{`"1"`, `1`, false},
		{`0`, `false`, false},
		{`null`, `null`, true},
		{`"\u00e9"`, `"é"`, true},
		{`1`, ``, false},
		{`1 2`, `1`, false},
	}
	for _, tt := range tests {
		if got := equalJSON([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%s and %s: got %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
