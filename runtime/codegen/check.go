package codegen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
)

// The functions of this file combine checks. Each returns nil without allocating
// where nothing is wrong; a failure is a [*runtime.FieldError] whose pointer begins
// at the value passed in.

// First returns the first failure.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// If checks what v points to, if it is not nil.
func If[T any](v *T, check func(T) error) error {
	if v == nil {
		return nil
	}
	return check(*v)
}

// IfOpt checks a value that is present and not null.
func IfOpt[T any](v runtime.Opt[T], check func(T) error) error {
	if t, ok := v.Get(); ok {
		return check(t)
	}
	return nil
}

// IfList checks a list that is present.
func IfList[S ~[]E, E any](v S, check func(S) error) error {
	if v == nil {
		return nil
	}
	return check(v)
}

// IfMap checks a map that is present.
func IfMap[M ~map[string]E, E any](v M, check func(M) error) error {
	if v == nil {
		return nil
	}
	return check(v)
}

// Must checks a required value that is a pointer because its type contains itself.
// The check may be nil.
func Must[T any](v *T, check func(T) error) error {
	switch {
	case v == nil:
		return wrong("is required")
	case check == nil:
		return nil
	}
	return check(*v)
}

// Each checks the items of a list.
func Each[S ~[]E, E any](list S, check func(E) error) error {
	return EachRest(list, check, 0)
}

// EachRest checks the items of a list that follows n others.
func EachRest[S ~[]E, E any](list S, check func(E) error, n int) error {
	for i, v := range list {
		if err := check(v); err != nil {
			return At(err, n+i)
		}
	}
	return nil
}

// EachValue checks the values of a map and returns the failure of the first key.
func EachValue[M ~map[string]E, E any](m M, check func(E) error) error {
	var first error
	var key string
	for k, v := range m {
		if first != nil && k > key {
			continue
		}
		if err := check(v); err != nil {
			first, key = err, k
		}
	}
	if first == nil {
		return nil
	}
	return At(first, key)
}

// NoExtra checks that a closed object has no members except its fields.
func NoExtra[E any](extra map[string]E) error {
	if len(extra) == 0 {
		return nil
	}
	return EachValue(extra, func(E) error { return wrong("is not a member that the schema allows") })
}

// NoRest checks that a closed tuple has no more than n items.
func NoRest[E any](rest []E, n int) error {
	if len(rest) == 0 {
		return nil
	}
	return At(wrong(fmt.Sprintf("is an item too many: at most %d are allowed", n)), n)
}

// NoGap checks that no absent item is before a present one.
func NoGap(present ...bool) error {
	for i := 1; i < len(present); i++ {
		if present[i] && !present[i-1] {
			return wrong("has an absent item in front of another item")
		}
	}
	return nil
}

// Count returns how many are true.
func Count(present ...bool) int {
	n := 0
	for _, t := range present {
		if t {
			n++
		}
	}
	return n
}

// Schema checks raw JSON; see package schema beside this one.
type Schema interface {
	// Check returns a [*runtime.FieldError] for a value that does not fit.
	Check(raw []byte) error
}

// CheckSchema checks the encoded value of v.
func CheckSchema(s Schema, v any) error {
	raw, err := codec.Encode(v)
	if err != nil {
		return fieldError(err)
	}
	return s.Check(raw)
}

// CheckArm checks the value of a union. U is the arm of values that fit no other.
func CheckArm[U ~[]byte](v any) error {
	switch v := v.(type) {
	case nil:
		return wrong("is required")
	case U:
		return wrong("fits none of the types that the schema allows")
	case interface{ Validate() error }:
		return v.Validate()
	}
	return nil
}

// Enum checks that v is one of the values of its type.
func Enum[T interface {
	Valid() bool
	Values() []T
}](v T) error {
	if v.Valid() {
		return nil
	}
	return oneOf(v, v.Values())
}

// Among checks that v is one of some values.
func Among[T comparable](v T, allowed ...T) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return oneOf(v, allowed)
}

// AmongJSON checks that v is one of some values, given as JSON texts.
func AmongJSON(v any, allowed ...string) error {
	got, err := canonicalOf(v)
	if err != nil {
		return err
	}
	for _, a := range allowed {
		if b, err := Canonical([]byte(a)); err == nil && string(b) == got {
			return nil
		}
	}
	return wrong("is not one of the values that the schema allows: " + list(allowed))
}

// canonicalOf returns the canonical text of a value.
func canonicalOf(v any) (string, error) {
	raw, err := codec.Encode(&v)
	if err != nil {
		return "", fieldError(err)
	}
	b, err := Canonical(raw)
	return string(b), err
}

func wrong(reason string) error { return &runtime.FieldError{Reason: reason} }

// oneOf returns the error of a value that is not allowed.
func oneOf[T any](v T, allowed []T) error {
	texts := make([]string, len(allowed))
	for i, a := range allowed {
		texts[i] = text(a)
	}
	return wrong(text(v) + " is not one of the values that the schema allows: " + list(texts))
}

// list joins the first of some texts.
func list(texts []string) string {
	const most = 20
	if len(texts) > most {
		return strings.Join(texts[:most], ", ") + ", …"
	}
	return strings.Join(texts, ", ")
}

// text returns a value as JSON, shortened.
func text(v any) string {
	const longest = 60
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return fmt.Sprint(f)
	}
	raw, err := codec.Encode(&v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(raw) > longest {
		return strings.ToValidUTF8(string(raw[:longest]), "") + "…"
	}
	return string(raw)
}
