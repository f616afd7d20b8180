package proc_test

func act([]string) int { return 2 }
