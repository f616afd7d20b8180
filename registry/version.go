package registry

import (
	"cmp"
	"strings"
)

// IsPrerelease reports whether a version is semantic and carries a prerelease
// part, such as 3.0.0-rc.1.
func IsPrerelease(version string) bool {
	v, ok := parseVersion(version)
	return ok && v.pre != ""
}

// CompareVersions orders versions as the registry does: by semantic
// precedence (semver.org, item 11); a version that is not semantic comes
// before every one that is, and two of that kind are equal.
func CompareVersions(a, b string) int {
	va, oka := parseVersion(a)
	vb, okb := parseVersion(b)
	switch {
	case !oka && !okb:
		return 0
	case !oka:
		return -1
	case !okb:
		return 1
	}
	for i := range va.num {
		if c := compareNumbers(va.num[i], vb.num[i]); c != 0 {
			return c
		}
	}
	return comparePre(va.pre, vb.pre)
}

type semver struct {
	num [3]string // digits without leading zeros
	pre string
}

// parseVersion reads MAJOR.MINOR.PATCH[-PRE][+BUILD], with or without a
// leading v.
func parseVersion(s string) (semver, bool) {
	var v semver
	s = strings.TrimPrefix(s, "v")
	s, build, hasBuild := strings.Cut(s, "+")
	if hasBuild && !validIdentifiers(build, false) {
		return v, false
	}
	core, pre, hasPre := strings.Cut(s, "-")
	if hasPre && !validIdentifiers(pre, true) {
		return v, false
	}
	v.pre = pre
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return v, false
	}
	for i, p := range parts {
		if !isNumber(p) || (len(p) > 1 && p[0] == '0') {
			return v, false
		}
		v.num[i] = p
	}
	return v, true
}

func validIdentifiers(s string, pre bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || (pre && len(id) > 1 && id[0] == '0' && isNumber(id)) {
			return false
		}
		for _, r := range id {
			if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-') {
				return false
			}
		}
	}
	return true
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// compareNumbers compares digit texts without leading zeros, of any length.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func comparePre(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "": // a release comes after its prereleases
		return 1
	case b == "":
		return -1
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, y := as[i], bs[i]
		nx, ny := isNumber(x), isNumber(y)
		c := 0
		switch {
		case nx && ny:
			c = compareNumbers(x, y)
		case nx:
			c = -1
		case ny:
			c = 1
		default:
			c = cmp.Compare(x, y)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
