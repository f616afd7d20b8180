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
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(1)
	}
}

// drawing is where the drawing lies below the root of the module.
var drawing = filepath.Join("docs", "architecture.svg")

func run(root string) error {
	files, err := readSources(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, drawing), []byte(draw(files)), 0o644)
}
