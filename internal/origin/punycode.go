package origin

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiHost returns a host as DNS has it: labels with other characters in the
// form xn--… (RFC 5890, A-labels). It is for display, not for look-ups.
func asciiHost(host string) string {
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host
	}
	// UTS #46 has these for dots.
	host = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(host)
	labels := strings.Split(strings.Map(unicode.ToLower, host), ".")
	for i, label := range labels {
		if strings.IndexFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			labels[i] = "xn--" + punycode([]rune(label))
		}
	}
	return strings.Join(labels, ".")
}

// punycode encodes a label (RFC 3492, section 6.3).
func punycode(label []rune) string {
	const (
		base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
		digits                       = "abcdefghijklmnopqrstuvwxyz0123456789"
	)
	out := []byte(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		return -1
	}, string(label)))
	done, basic := len(out), len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(utf8.RuneSelf), 0, 72
	for done < len(label) {
		next := rune(utf8.MaxRune)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out = append(out, digits[t+(q-t)%(base-t)])
				q = (q - t) / (base - t)
			}
			out = append(out, digits[q])
			// Adapt the bias, section 6.1.
			if done == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			done++
			delta += delta / done
			k := 0
			for ; delta > (base-tMin)*tMax/2; k += base {
				delta /= base - tMin
			}
			bias = k + (base-tMin+1)*delta/(delta+skew)
			delta = 0
		}
		delta++
		n++
	}
	return string(out)
}
