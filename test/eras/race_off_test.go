//go:build !race

package eras_test

// imageSize is that of a picture before it is encoded: about 20 MB after.
const imageSize = 15 << 20
