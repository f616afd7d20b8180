// Program rooms draws docs/architecture.svg: the rooms of the module in their
// layers, and the imports between them as arrows. Its tests hold the module to
// the layer table (table.go), to sizes and to words, and the drawing and
// docs/architecture.md to the code.
//
// Run it in the root of the module: go run ./test/rooms.
package main

import (
	"fmt"
	"os"
)

// drawing is where the drawing lies below the root of the module.
const drawing = "docs/architecture.svg"

func main() {
	files, err := readSources(".")
	if err == nil {
		err = os.WriteFile(drawing, []byte(draw(files)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(1)
	}
}
