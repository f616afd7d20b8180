// Package peers is the module in which test/reports/generate.md compiles what
// go-jsonschema and quicktype generate; it pins go-jsonschema and what its
// output imports. quicktype is pinned by package-lock.json.
package peers_test

import (
	_ "github.com/atombender/go-jsonschema/pkg/types"
	_ "github.com/go-viper/mapstructure/v2"
)
