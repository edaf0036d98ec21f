/* GTKWave's FST writer does not look at what its writes return; compiled with these in the place of the C library's, it
   counts those that fail. */
#ifndef MRCSIM_RESULTS_FST_ERRORS_H
#define MRCSIM_RESULTS_FST_ERRORS_H

#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t mrcsim_fst_fwrite(const void* data, size_t size, size_t count, FILE* file);
int mrcsim_fst_fputc(int character, FILE* file);
int mrcsim_fst_fflush(FILE* file);
int mrcsim_fst_fclose(FILE* file);
/* Of a file that is shorter than `length`, because its writes failed, memory of that length: what lies beyond the end
   of a mapped file cannot be touched. */
void* mrcsim_fst_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset);

/* Calls of all FST files of the process that failed since the last mrcsim_fst_clear_errors(). */
unsigned mrcsim_fst_errors(void);
void mrcsim_fst_clear_errors(void);

#ifdef __cplusplus
}
#endif

#endif
