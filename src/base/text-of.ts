const UTF8 = new TextDecoder()

/** UTF-8 as text. A byte order mark, which some editors and servers put first, is no part of it (RFC 8259, 8.1). */
export const textOf = (bytes: Uint8Array): string => UTF8.decode(bytes)
