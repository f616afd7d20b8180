package inventory

import "sync"

// Digest is that of an item, made when it is first asked for. The zero value is ready.
type Digest struct {
	once sync.Once
	text string
}

// Of returns the digest, which made makes once.
func (d *Digest) Of(made func() string) string {
	d.once.Do(func() { d.text = made() })
	return d.text
}
