package main

import (
	"bytes"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"
)

// machine is what was measured, where and when.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitempty"`
	OS     string `json:"os"`
	Kernel string `json:"kernel,omitempty"`
	Go     string `json:"go"`
	// Commit is that of the checkout; Changed says that files of the program
	// differ from it.
	Commit  string `json:"commit,omitempty"`
	Changed bool   `json:"changed,omitempty"`
	Date    string `json:"date"`
}

func thisMachine(root string) machine {
	m := machine{
		CPU: cpuModel(), Cores: goruntime.NumCPU(), Memory: memory(), OS: goruntime.GOOS + "/" + goruntime.GOARCH,
		Kernel: kernel(output(root, "uname", "-r")), Go: goruntime.Version(), Date: time.Now().UTC().Format(time.DateOnly),
		Commit: output(root, "git", "rev-parse", "--short=12", "HEAD"),
	}
	m.Changed = output(root, "git", "status", "--porcelain", "--", "*.go", "go.mod", "go.sum") != ""
	return m
}

// kernel is a release's version, without what its builder has called it.
func kernel(release string) string {
	version, _, _ := strings.Cut(release, "-")
	return version
}

// output is what a program prints, "" where there is none.
func output(dir, program string, args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	b, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return goruntime.GOARCH
}

func memory() string {
	b, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB"))
			if err == nil {
				return strconv.Itoa((kb+(1<<19))>>20) + " GiB"
			}
		}
	}
	return ""
}

// busy watches for a while how much of the machine is used, from 0 to 1, the
// time that a host takes away included. Where there is no /proc it is 0.
func busy(d time.Duration) float64 {
	used0, all0 := jiffies()
	time.Sleep(d)
	used1, all1 := jiffies()
	if all1 <= all0 {
		return 0
	}
	return float64(used1-used0) / float64(all1-all0)
}

// jiffies reads the first line of /proc/stat (proc(5)): user, nice, system,
// idle, iowait, irq, softirq, steal.
func jiffies() (used, all int64) {
	b, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(b), "\n")
	for i, f := range strings.Fields(line) {
		if i == 0 || i > 8 {
			continue
		}
		n, _ := strconv.ParseInt(f, 10, 64)
		all += n
		if i != 4 && i != 5 {
			used += n
		}
	}
	return used, all
}
