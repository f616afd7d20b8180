package codec

import (
	"errors"
	"reflect"
	"slices"
)

// Fault says what is wrong with a value, and where. It has the form of
// runtime.FieldError, which it becomes.
type Fault struct {
	Pointer string
	Reason  string
}

// Error returns the place and the reason.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Reason
	}
	return "at " + f.Pointer + ": " + f.Reason
}

// failure is a Fault on its way out: the steps are gathered from the inside, so
// that a deep one is not copied at every level.
type failure struct {
	steps  []any
	inner  string // a pointer that stands behind the steps
	reason string
	// fatal failures are not of one type only: the text is not JSON, or nested
	// too deeply.
	fatal bool
}

func fatal(reason string) *failure { return &failure{reason: reason, fatal: true} }

func failed(reason string) *failure { return &failure{reason: reason} }

func (f *failure) under(step any) *failure {
	f.steps = append(f.steps, step)
	return f
}

func (f *failure) fault() *Fault {
	slices.Reverse(f.steps)
	return &Fault{Pointer: Pointer(f.steps...) + f.inner, Reason: f.reason}
}

// foreignFailure takes the place from an error that tells one: a Fault, or what
// has become of it in another package.
func foreignFailure(err error) *failure {
	want := reflect.TypeFor[*Fault]()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if v := reflect.ValueOf(e); v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().ConvertibleTo(want) {
			f, _ := reflect.TypeAssert[*Fault](v.Convert(want))
			return &failure{inner: f.Pointer, reason: f.Reason}
		}
	}
	return failed(err.Error())
}

const (
	reasonMissing   = "required and missing"
	reasonNotSet    = "required and not set"
	reasonNull      = "null is not allowed"
	reasonUnknown   = "there is no such member"
	reasonTwice     = "there is more than one member of this name"
	reasonRestTwice = "set twice: as a field and among the other members"
	reasonDeep      = "nested too deeply"
)
