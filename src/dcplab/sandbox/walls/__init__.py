"""What the kernel refuses a child: files and signals by Landlock, system calls by seccomp, other processes by namespaces."""
