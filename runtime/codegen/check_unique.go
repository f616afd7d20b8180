package codegen

import (
	"fmt"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// Unique checks that no two items of a list are equal as JSON values: 1 equals
// 1.0, and the order of members does not matter.
func Unique[S ~[]E, E any](list S) error {
	switch l := any([]E(list)).(type) {
	case []string:
		return unique(l)
	case []int64:
		return unique(l)
	case []float64:
		return unique(l)
	case []bool:
		return unique(l)
	}
	if len(list) < 2 {
		return nil
	}
	texts := make([]string, len(list))
	for i := range list {
		raw, err := codec.Encode(&list[i])
		if err != nil {
			return At(fieldError(err), i)
		}
		b, err := Canonical(raw)
		if err != nil {
			return At(err, i)
		}
		texts[i] = string(b)
	}
	return unique(texts)
}

// UniqueJSON is [Unique] of a value that encodes as an array.
func UniqueJSON(v any) error {
	raw, err := codec.Encode(&v)
	if err != nil {
		return fieldError(err)
	}
	items, err := decodeAny(raw)
	if err != nil {
		return err
	}
	list, _ := items.([]any)
	texts := make([]string, len(list))
	for i, item := range list {
		b, err := canonicalValue(item)
		if err != nil {
			return At(err, i)
		}
		texts[i] = string(b)
	}
	return unique(texts)
}

func unique[T comparable](list []T) error {
	const few = 16
	if len(list) <= few { // faster than a map, and allocates nothing
		for i := range list {
			for j := range i {
				if list[i] == list[j] {
					return equalItems(i, j)
				}
			}
		}
		return nil
	}
	seen := make(map[T]int, len(list))
	for i, v := range list {
		if j, ok := seen[v]; ok {
			return equalItems(i, j)
		}
		seen[v] = i
	}
	return nil
}

func equalItems(i, j int) error {
	return At(wrong(fmt.Sprintf("equals item %d; items must differ", j)), i)
}
