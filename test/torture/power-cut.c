/*
 * Simulates a power cut. After each flush of a file in POWER_FOLDER, copies the file to POWER_SHADOW. That folder then contains
 * what would be left after a power cut: each file in the state of its last flush. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void copy_flushed(int fd) {
  const char *folder = getenv("POWER_FOLDER"), *shadow = getenv("POWER_SHADOW");
  char link[64], path[PATH_MAX], part[PATH_MAX + 8], whole[PATH_MAX];
  char buffer[4096];
  struct stat file;
  if (!folder || !shadow || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return;
  snprintf(whole, sizeof whole, "%s/%s", shadow, strrchr(path, '/') + 1);
  snprintf(part, sizeof part, "%s.part", whole);
  int in = open(path, O_RDONLY), out = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || out < 0) abort();
  for (ssize_t size; (size = read(in, buffer, sizeof buffer)) > 0;)
    if (write(out, buffer, size) != size) abort();
  close(in);
  close(out);
  if (rename(part, whole) != 0) abort();
}

/* Deletes the copy too: SQLite would treat an old journal as the sign of a crash. */
int unlink(const char *path) {
  int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
  const char *folder = getenv("POWER_FOLDER"), *shadow = getenv("POWER_SHADOW");
  char copy[PATH_MAX];
  if (folder && shadow && strncmp(path, folder, strlen(folder)) == 0) {
    snprintf(copy, sizeof copy, "%s/%s", shadow, strrchr(path, '/') + 1);
    real(copy);
  }
  return real(path);
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  int result = real(fd);
  if (result == 0) copy_flushed(fd);
  return result;
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  int result = real(fd);
  if (result == 0) copy_flushed(fd);
  return result;
}
