// SPDX-License-Identifier: BSD-3-Clause
// Places in the program at which MPI is called, as text: "/src/heat.c:47", or "heat+0x17dd" where no line is known.

export const placeText = (file: string, line: number): string => (file && line > 0 ? `${file}:${line}` : file);

/** "heat.c:47": without folders. */
export const shortPlace = (place: string): string => place.replace(/^.*\//, '');
