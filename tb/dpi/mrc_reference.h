/* Ring 1, the protocol reference, for any simulator or language that calls C: libmrc_dpi.so, which needs nothing but
 * the C++ runtime. A reference decides when it is called and has no clock. See docs/dpi.md.
 *
 *   new        a reference by name with its settings
 *   accept     it takes a transfer of an input port, whose fields were put before
 *   expected   the next output of an output port, whose fields can be got from then on
 *   state      a value of its state
 *
 * Fields are unsigned numbers of up to 64 bits. Those that are not put are 0. mrc_reference_error() says what was wrong
 * with the latest call. */
#ifndef MRC_REFERENCE_H
#define MRC_REFERENCE_H

#ifdef __cplusplus
extern "C" {
#endif

/* `settings`: "name=value name=value …"; an empty text for the defaults. Null: see mrc_reference_error(). */
void* mrc_reference_new(const char* name, const char* settings);
void mrc_reference_free(void* reference);
/* "" where nothing was wrong. Valid until the next call. */
const char* mrc_reference_error(void);
/* Names of all references; with `name`, its ports and settings: one line each, "in PORT FIELD FIELD …", "out PORT …",
 * "setting NAME=DEFAULT", "state NAME". Null for an unknown name. */
const char* mrc_reference_describe(const char* name);

/* Of the transfer that is accepted next. 0, or -1: no port has such a field. */
int mrc_reference_put(void* reference, const char* field, unsigned long long value);
/* Appends a byte to its packet, for references that take packets. */
int mrc_reference_put_byte(void* reference, unsigned byte);
/* 0: accepted; -1: the port is unknown or the transfer is not allowed, and nothing changes. */
int mrc_reference_accept(void* reference, const char* port);

/* 1: the next output of this port can be read; 0: no output is due; -1: the port is unknown. */
int mrc_reference_expected(void* reference, const char* port);
/* Fields of the current output, and the bytes of its packet, where it has one. 0 for what it does not have. */
unsigned long long mrc_reference_get(void* reference, const char* field);
unsigned mrc_reference_bytes(void* reference);
unsigned mrc_reference_get_byte(void* reference, unsigned at);

/* `index`: of a QP, an EV, a time in picoseconds, as the state needs one. 0 and an error for an unknown state. */
unsigned long long mrc_reference_state(void* reference, const char* name, unsigned long long index);

#ifdef __cplusplus
}
#endif
#endif
