//go:build race

package eras_test

// imageSize is smaller under the race detector, which makes reading 20 MB, for
// each pair, take longer than everything else.
const imageSize = 3 << 19
