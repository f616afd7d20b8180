// Package build makes the model of a generated package from what a server
// says of its tools, prompts and resources.
//
// Each schema is read once, with the spellings of all drafts made one
// (parse.go), and its references are found (refs.go). Where its type is made,
// references and allOf are merged into it (flatten.go, merge.go), null is taken
// out (nullable.go), and the kinds of JSON values that are left (kinds.go)
// decide the form: a scalar, a list or tuple, a map or struct, a union.
//
// A type is never narrower than its schema. Keywords that neither a type nor a
// rule holds exactly put the whole schema into the top declaration, which then
// is validated as a whole; they are:
//
//   - not, if/then/else, contains, propertyNames, dependentRequired,
//     dependentSchemas, dependencies, unevaluatedItems, unevaluatedProperties
//     beside anything but allOf, $dynamicRef, $recursiveRef: no type says it;
//   - anyOf and oneOf of types that a value alone does not choose between;
//   - patternProperties, save one that every name matches;
//   - patterns that Go's syntax has no equal for;
//   - rules without a type they apply to, enums beside other rules, and schemas
//     that allow nothing, or null alone;
//   - allOf where the merge of its arms is wider than they are.
//
// What would be wrong is never guessed: a place that cannot be typed is raw
// JSON and says why.
package build
