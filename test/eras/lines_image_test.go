package eras_test

import (
	"fmt"
	"hash/maphash"
	"strings"
)

func checkImage(p *pair) error {
	a, err := p.c.calling(p.ctx, "image", fmt.Sprintf(`{"bytes":%d}`, imageSize), "")
	if err != nil {
		return err
	}
	m, err := p.c.start(a).wait(p.ctx)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(m.Result), `"data":"`)
	data, _, ok := strings.Cut(rest, `"`)
	if want := (imageSize + 2) / 3 * 4; !ok || len(data) != want {
		return fmt.Errorf("%d characters, want %d", len(data), want)
	}
	// The pattern repeats every 256 bytes, so every 1024 characters.
	seed := maphash.MakeSeed()
	sum := maphash.String(seed, data[:1024])
	for i := 1024; i+1024 <= len(data); i += 1024 {
		if maphash.String(seed, data[i:i+1024]) != sum {
			return fmt.Errorf("the picture is damaged at %d", i)
		}
	}
	return nil
}
