// Package rules reads the small form of policies, the section access of config.yaml, and
// writes it as Cedar.
//
// Each rule becomes one policy, or one for each of its principals and targets. The order of
// rules means nothing. What a rule names directly becomes a group or a label with that one
// member: "token|ci" is the group "token|ci", and the glob "gh/get_*" the label "gh/get_*".
//
// The package does no I/O.
package rules
