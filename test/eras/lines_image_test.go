package eras_test

import (
	"fmt"
	"hash/maphash"
	"strings"
)

func checkImage(p *pair) {
	a := must(p.c.calling(p.ctx, "image", fmt.Sprintf(`{"bytes":%d}`, imageSize), ""))
	m := must(p.c.start(a).wait(p.ctx))
	_, rest, _ := strings.Cut(string(m.Result), `"data":"`)
	data, _, ok := strings.Cut(rest, `"`)
	if want := (imageSize + 2) / 3 * 4; !ok || len(data) != want {
		failf("%d characters, want %d", len(data), want)
	}
	// The pattern repeats every 256 bytes, so every 1024 characters.
	seed := maphash.MakeSeed()
	sum := maphash.String(seed, data[:1024])
	for i := 1024; i+1024 <= len(data); i += 1024 {
		failIf(maphash.String(seed, data[i:i+1024]) != sum, "the picture is damaged at %d", i)
	}
}
